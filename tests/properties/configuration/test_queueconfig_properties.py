"""Laws of reading queue documents: there is always a verdict, and the tree equals the document."""

import string

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.ids import parent_path
from core.queues.spec import PartitionSpec
from extender.configuration.sources import ConfigMapData, flatten
from extender.queueconfig.load import DEFAULT_DOCUMENT, check_document, load_document
from extender.queueconfig.problems import MAX_REPORTED, ConfigError

KEYS = st.sampled_from(
    [
        "partitions",
        "queues",
        "name",
        "parent",
        "resources",
        "max",
        "guaranteed",
        "maxapplications",
        "properties",
        "limits",
        "users",
        "groups",
        "maxresources",
        "childtemplate",
        "placementrules",
        "filter",
        "value",
        "create",
        "nodesortpolicy",
        "resourceweights",
        "type",
        "preemption",
        "enabled",
        "adminacl",
        "submitacl",
        "checksum",
        "usergroupresolver",
        "vcore",
        "memory",
    ]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.sampled_from(["root", "default", "10G", "500m", "-1", "a b", "*", "", "<<", "true", "9E"]),
    st.text(max_size=8),
)
TREES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(KEYS | st.text(max_size=4), inner, max_size=6)
    ),
    max_leaves=30,
)
NAMES = st.text(string.ascii_letters + string.digits + "_:#/@-", min_size=1, max_size=6)
AMOUNTS = st.dictionaries(st.sampled_from(["vcore", "memory", "gpu"]), st.integers(0, 50), max_size=3)
RESOURCES = st.fixed_dictionaries({}, optional={"max": AMOUNTS, "guaranteed": AMOUNTS})
QUEUES = st.recursive(
    st.fixed_dictionaries(
        {"name": NAMES}, optional={"resources": RESOURCES, "maxapplications": st.integers(0, 5)}
    ),
    lambda inner: st.fixed_dictionaries(
        {"name": NAMES, "queues": st.lists(inner, max_size=3, unique_by=lambda queue: queue["name"].lower())},
        optional={"resources": RESOURCES, "parent": st.booleans()},
    ),
    max_leaves=12,
)


def verdict(text: str | bytes) -> PartitionSpec | None:
    """The verdict of loading. Both ways of loading agree, and every problem is printable."""
    problems = check_document(text)
    if not problems:
        return load_document(text)
    with pytest.raises(ConfigError) as raised:
        load_document(text)
    assert raised.value.problems == problems
    assert len(problems) <= MAX_REPORTED + 1
    for problem in problems:
        assert problem.rule.partition("-")[0] in ("CFG", "APPLY")
        wrong, _, right = problem.message.partition("; ")
        assert wrong
        assert right
        assert len(problem.message) < 600
    assert str(raised.value).isprintable()
    return None


def assert_is_a_tree(spec: PartitionSpec) -> None:
    seen = set()
    for queue in spec.queues:
        assert queue.parent == parent_path(queue.path)
        assert queue.parent is None or queue.parent in seen
        assert queue.path == queue.path.lower()
        seen.add(queue.path)
    assert len(seen) == len(spec.queues)
    assert not {queue.parent for queue in spec.queues} & {
        queue.path for queue in spec.queues if queue.is_leaf
    }


@given(st.text(max_size=200) | st.binary(max_size=200))
@example("\xa0" * 200)
@example("\U0001f9ff\n" * 100)
def test_any_text_gets_a_verdict(text: str | bytes) -> None:
    verdict(text)


@given(st.text(alphabet="partions:queme[]{}-&*<!|>'\"# \n\t~?,0", max_size=120))
def test_text_full_of_yaml_syntax_gets_a_verdict(text: str) -> None:
    verdict(text)


@given(TREES)
def test_any_yaml_tree_gets_a_verdict(tree: object) -> None:
    verdict(yaml.safe_dump(tree, allow_unicode=True))


@given(st.lists(QUEUES | TREES, max_size=4))
def test_any_queues_get_a_verdict_and_accepted_ones_are_a_tree(queues: list[object]) -> None:
    spec = verdict(yaml.safe_dump({"partitions": [{"name": "default", "queues": queues}]}, sort_keys=False))
    if spec is not None:
        assert_is_a_tree(spec)


@given(st.lists(QUEUES, max_size=4, unique_by=lambda queue: queue["name"].lower()))
def test_accepted_queues_keep_their_number_and_order(queues: list[dict[str, object]]) -> None:
    text = yaml.safe_dump({"partitions": [{"queues": [{"name": "root", "queues": queues}]}]}, sort_keys=False)
    spec = verdict(text)
    if spec is not None:
        children = [queue.path for queue in spec.queues if queue.parent == "root"]
        assert children == [f"root.{str(queue['name']).lower()}" for queue in queues]


@given(st.lists(st.tuples(st.integers(0, 400), st.sampled_from([*"[]{}:-&*\n \t\"'~", ""])), max_size=6))
def test_a_damaged_document_gets_a_verdict(edits: list[tuple[int, str]]) -> None:
    text = DEFAULT_DOCUMENT
    for place, put in edits:
        place %= len(text) + 1
        text = text[:place] + put + text[place + 1 :]
    verdict(text)


MAPS = st.none() | st.builds(
    ConfigMapData,
    st.dictionaries(st.text(max_size=6) | st.just("queues.yaml"), st.text(max_size=20), max_size=3),
    st.dictionaries(st.text(max_size=6) | st.just("queues.yaml.gz"), st.text(max_size=20), max_size=3),
)


@settings(max_examples=50)
@given(MAPS, MAPS)
def test_any_two_config_maps_make_one_configuration(
    defaults: ConfigMapData | None, configs: ConfigMapData | None
) -> None:
    """A document that neither map holds is missing. A caller may ask for the built-in one (F-4)."""
    flat = flatten(defaults, configs)
    assert flat.queues_text or not flat.has_document
    assert flat.with_built_in_document().has_document
    assert not any(key.endswith(".yaml") for key in flat.settings)
    verdict(flat.queues_text)
