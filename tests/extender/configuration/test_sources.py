"""The two ConfigMaps: merge, binaryData, the document's key and its checksum."""

import base64
import gzip
import hashlib

import pytest

from extender.configuration.sources import (
    CONFIGS_NAME,
    DEFAULTS_NAME,
    ConfigMapData,
    checksum,
    config_map_data_from,
    flatten,
    has_content,
)
from extender.kube.watch.feeds import CONFIG_MAPS
from extender.queueconfig.document import MAX_BYTES
from extender.queueconfig.load import DEFAULT_DOCUMENT, check_document
from extender.queueconfig.problems import ConfigError


def packed(text: str | bytes) -> str:
    data = text if isinstance(text, bytes) else text.encode()
    return base64.b64encode(gzip.compress(data, mtime=0)).decode()


def only(data: dict[str, str] | None = None, binary: dict[str, str] | None = None) -> ConfigMapData:
    return ConfigMapData(data or {}, binary or {})


@pytest.mark.rule("SRC-1")
def test_the_maps_that_are_followed_are_the_two_of_yunikorn_in_this_order() -> None:
    assert CONFIG_MAPS == (DEFAULTS_NAME, CONFIGS_NAME) == ("yunikorn-defaults", "yunikorn-configs")


@pytest.mark.rule("SRC-1")
def test_the_second_map_wins_key_by_key_and_replaces_the_whole_document() -> None:
    defaults = only({"a": "1", "b": "1", "queues.yaml": "partitions: []"})
    configs = only({"b": "2", "queues.yaml": "checksum: x"})
    flat = flatten(defaults, configs)
    assert (flat.settings, flat.queues_text) == ({"a": "1", "b": "2"}, "checksum: x")


@pytest.mark.rule("SRC-1")
def test_a_document_in_the_first_map_stands_when_the_second_has_none() -> None:
    flat = flatten(only({"queues.yaml": "one"}), only({"other": "x"}))
    assert flat.queues_text == "one"


@pytest.mark.rule("SRC-2")
def test_gzip_in_binary_data_overrides_data_of_the_same_map() -> None:
    flat = flatten(None, only({"queues.yaml": "plain"}, {"queues.yaml.GZ": packed("packed")}))
    assert (flat.queues_text, flat.unreadable) == ("packed", ())


@pytest.mark.rule("SRC-2")
@pytest.mark.parametrize("key", ["queues.yaml.zip", "queues.yaml.zst"])
def test_another_suffix_sets_the_stripped_key_to_an_empty_text(key: str) -> None:
    flat = flatten(
        only({"queues.yaml": "plain"}), only({}, {key: packed("packed"), "log.bin": "AAAA", "x": ""})
    )
    assert flat.queues_text == ""
    assert flat.settings == {"log": "", "x": ""}
    assert flat.emptied == (key, "log.bin", "x")


@pytest.mark.rule("SRC-2")
def test_the_data_of_the_second_map_wins_over_what_is_packed_in_the_first() -> None:
    flat = flatten(only({}, {"queues.yaml.gz": packed("packed")}), only({"queues.yaml": "plain"}))
    assert flat.queues_text == "plain"


@pytest.mark.rule("SRC-2")
@pytest.mark.parametrize(
    "value",
    [
        "not base64!",
        "é",
        "",
        base64.b64encode(b"no gzip").decode(),
        packed("whole")[:-8],
        packed("a")[:-8] + "AAAAAAAA",
    ],
)
def test_a_broken_gzip_sets_the_empty_key_only(value: str) -> None:
    flat = flatten(only({"queues.yaml": "plain"}), only({}, {"queues.yaml.gz": value}))
    assert (flat.queues_text, flat.settings) == ("plain", {"": ""})
    assert flat.unreadable == ("queues.yaml.gz",)


@pytest.mark.rule("SRC-2")
def test_a_gzip_of_several_members_is_read_whole() -> None:
    value = base64.b64encode(gzip.compress(b"one ", mtime=0) + gzip.compress(b"two", mtime=0)).decode()
    assert flatten(None, only({}, {"queues.yaml.gz": value})).queues_text == "one two"


@pytest.mark.rule("SRC-2")
def test_a_gzip_bomb_is_refused_also_when_spread_over_keys() -> None:
    half = packed(b"#" * (MAX_BYTES // 2 + 1))
    with pytest.raises(ConfigError) as raised:
        flatten(only({}, {"a.yaml.gz": half}), only({}, {"queues.yaml.gz": half}))
    assert [(problem.path, problem.rule) for problem in raised.value.problems] == [
        ("binaryData[queues.yaml.gz]", "SRC-2")
    ]
    assert flatten(None, only({}, {"queues.yaml.gz": half})).unreadable == ()


@pytest.mark.rule("SRC-2")
def test_packed_bytes_that_are_not_utf_8_reach_the_reader_which_refuses_them() -> None:
    flat = flatten(None, only({}, {"queues.yaml.gz": packed(b"\xff\xfe")}))
    assert "not UTF-8" in check_document(flat.queues_text)[0].message


@pytest.mark.rule("SRC-3")
def test_the_policy_group_names_the_key_of_the_document() -> None:
    documents = {"queues.yaml": "one", "batch.yaml": "two"}
    flat = flatten(only({"service.policyGroup": "batch"}), only(documents))
    assert flat.queues_text == "two"
    assert flat.settings == {"service.policyGroup": "batch"}
    assert flatten(None, only(documents)).queues_text == "one"


@pytest.mark.rule("SRC-3", "SRC-6")
def test_the_policy_group_in_force_stays() -> None:
    maps = only({"service.policyGroup": "batch"}), only({"queues.yaml": "one", "batch.yaml": "two"})
    flat = flatten(*maps, policy_group="queues")
    assert (flat.queues_text, flat.policy_group, flat.document_key) == ("one", "queues", "queues.yaml")


@pytest.mark.rule("SRC-3")
def test_a_key_that_ends_in_yaml_is_never_a_setting_and_every_other_key_is_one() -> None:
    keys = ["queues.yaml", "other.yaml", ".yaml", "service.x.yaml"]
    settings = {"queues.yml": "a", "yaml": "b", "queues.YAML": "c", "anything": "d"}
    assert flatten(None, only({**dict.fromkeys(keys, "x"), **settings})).settings == settings


@pytest.mark.rule("SRC-3", "SRC-8")
@pytest.mark.parametrize(
    "maps",
    [
        (None, None),
        (only(), None),
        (None, only({"queues.yaml": ""})),
        (only({"queues.yaml": "x"}), only({"queues.yaml": ""})),
    ],
    ids=["no maps", "no key", "empty", "emptied by the second"],
)
def test_a_missing_or_empty_document_is_none_and_the_built_in_one_can_stand_in(
    maps: tuple[ConfigMapData | None, ConfigMapData | None],
) -> None:
    flat = flatten(*maps)
    assert not flat.has_document
    built_in = flat.with_built_in_document()
    assert built_in.queues_text == DEFAULT_DOCUMENT
    assert built_in.checksum == checksum(DEFAULT_DOCUMENT)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", False),
        (" \t\r\n\n", False),
        ("# partitions:\n  # all of it\n", False),
        ("\ufeff---\n...\n---  \n", False),
        ("partitions: []", True),
        ("# a comment\n---\n{}", True),
        ("----", True),
        ("null", True),
    ],
)
def test_blank_lines_and_comments_are_no_document(text: str, says: bool) -> None:
    assert has_content(text) is says


@pytest.mark.rule("SRC-9")
def test_the_checksum_is_upper_case_sha_256() -> None:
    assert checksum("partitions: []\n") == hashlib.sha256(b"partitions: []\n").hexdigest().upper()


@pytest.mark.rule("SRC-9")
def test_a_checksum_in_the_document_does_not_count() -> None:
    plain = "partitions: []\n"
    assert checksum(plain + "checksum: " + "A" * 64) == checksum(plain)
    assert checksum(plain + "checksum: " + "A" * 63) != checksum(plain)
    assert checksum("partitions: [{}]\n") != checksum(plain)


@pytest.mark.rule("SRC-9")
def test_any_text_has_a_checksum() -> None:
    assert len({checksum("\ud800"), checksum("\udcff"), checksum("")}) == 3


def test_the_data_of_a_config_map_object() -> None:
    raw = {"kind": "ConfigMap", "data": {"a": "1", "b": None}, "binaryData": None}
    assert config_map_data_from(raw) == only({"a": "1"})
    assert config_map_data_from({}) == only()
    assert config_map_data_from({"data": [], "binaryData": {"x.gz": "AA=="}}) == only({}, {"x.gz": "AA=="})
