"""Settings: valid values, their sources, and changes by a reload."""

import pytest

from core.ledger.settings import PreemptionSettings
from extender.configuration.flags import environment_from
from extender.configuration.settings import (
    Settings,
    SettingsError,
    reloaded,
    settings_from,
)
from extender.configuration.values import seconds_of
from extender.wire.placeholder import PlaceholderSettings, TemplateParts
from extender.wire.service_keys import UNIQUE_APP_IDS


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30.0),
        ("1m30s", 90.0),
        ("1h", 3600.0),
        ("500ms", 0.5),
        ("1.5h", 5400.0),
        ("2us", 2e-6),
        ("2µs", 2e-6),
        ("7ns", 7e-9),
        ("1h1m1s1ms", 3661.001),
        ("0s", 0.0),
    ],
)
def test_go_durations(text: str, seconds: float) -> None:
    assert seconds_of(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "30",
        "s",
        "-1s",
        "+1s",
        "1 s",
        "1d",
        "1s ",
        "1e3s",
        ".s",
        "١s",
        "1s2",
        "9" * 101 + "s",
        "inf",
        "nan",
    ],
)
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="must be a duration"):
        seconds_of(text)


def test_a_duration_has_an_end() -> None:
    with pytest.raises(ValueError, match="is longer than"):
        seconds_of("9" * 40 + "s")


def test_defaults() -> None:
    settings = settings_from({}, {})
    assert settings == Settings()
    assert settings.scheduler_names == {"yunikorn", "paddock"}
    assert (settings.reservation_ttl, settings.turn_lease, settings.bind_deadline) == (30.0, 2.0, 100.0)
    assert (settings.lease, settings.unique_app_ids, settings.hot_refresh) == ("", False, True)


def test_every_key_of_the_config_map() -> None:
    settings = settings_from(
        {
            "paddock.schedulerNames": " a, b ,",
            "paddock.reservation.ttl": "1m",
            "paddock.turn.lease": "500ms",
            "paddock.bind.deadline": "50s",
            "paddock.lease": "kube-system/kube-scheduler",
            "paddock.nodeSelection": "policy",
            "paddock.preemption.victims": "yunikorn",
            "paddock.preemption.mayExceedGuarantee": "true",
            "paddock.preemption.sharedAncestorPriority": "true",
            "paddock.preemption.protectGuarantees": "foreign",
            "paddock.preemption.directDelete": "true",
            "paddock.preemption.complexAsks": "tick",
            "paddock.preemption.daemonSets": "guarantees",
            "paddock.config.builtinDefault": "true",
            "admissionController.filtering.generateUniqueAppId": "true",
            "service.enableConfigHotRefresh": "F",
            "paddock.gang.maxPods": "7",
            "paddock.gang.template": "labels=any",
            "paddock.applications.acrossNamespaces": "sameUser",
            "service.placeholderImage": "pause:1",
            "service.placeholderRunAsUser": "1",
            "service.placeholderRunAsGroup": "2",
            "service.placeholderFsGroup": "3",
        },
        {},
    )
    assert settings == Settings(
        scheduler_names="a,b",  # type: ignore[arg-type]
        reservation_ttl=60.0,
        turn_lease=0.5,
        bind_deadline=50.0,
        lease="kube-system/kube-scheduler",
        node_selection="policy",
        preemption_victims="yunikorn",
        preemption_may_exceed_guarantee=True,
        preemption_shared_ancestor_priority=True,
        preemption_protect_guarantees="foreign",
        preemption_direct_delete=True,
        preemption_complex_asks="tick",
        preemption_daemon_sets="guarantees",
        builtin_default=True,
        unique_app_ids=True,
        hot_refresh=False,
        gang_max_pods=7,
        gang_template=TemplateParts(labels=True),
        applications_across_namespaces="sameUser",
        placeholder_image="pause:1",
        placeholder_run_as_user=1,
        placeholder_run_as_group=2,
        placeholder_fs_group=3,
    )
    assert settings.placeholders == PlaceholderSettings("pause:1", 1, 2, 3, TemplateParts(labels=True))
    assert Settings().placeholders == PlaceholderSettings("registry.k8s.io/pause:3.7")
    assert Settings().gang_max_pods == 10_000
    assert settings.ledger.scheduler_names == {"a", "b"}
    assert settings.ledger.reservation_ttl == 60.0
    assert settings.ledger.unique_app_ids
    assert settings.ledger.shares_applications
    assert settings.ledger.scores_nodes
    assert not Settings().ledger.scores_nodes
    assert settings.ledger.preemption == PreemptionSettings(True, True, True, True, True, True, True)
    assert Settings().ledger.preemption == PreemptionSettings()


@pytest.mark.rule("SRC-5")
def test_unknown_keys_are_ignored() -> None:
    assert settings_from({"service.frobnicate": "nonsense", "paddock.turnLease": "x"}, {}) == Settings()


@pytest.mark.rule("SRC-4")
@pytest.mark.parametrize("key", ["health.checkInterval", "event.trackingEnabled", "event.maxStreams"])
def test_a_bad_value_of_the_core_falls_back(key: str) -> None:
    assert settings_from({key: "nonsense", "paddock.turn.lease": "7s"}, {}).turn_lease == 7.0


@pytest.mark.rule("SRC-5")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("paddock.reservation.ttl", "soon"),
        ("paddock.reservation.ttl", "0s"),
        ("paddock.turn.lease", "30"),
        ("paddock.bind.deadline", ""),
        ("paddock.schedulerNames", " , "),
        ("paddock.lease", "no-namespace"),
        ("paddock.lease", "a/b/c"),
        ("paddock.lease", "A/b"),
        ("paddock.nodeSelection", "Policy"),
        ("paddock.nodeSelection", ""),
        ("paddock.preemption.victims", "few"),
        ("paddock.preemption.mayExceedGuarantee", "perhaps"),
        ("paddock.preemption.protectGuarantees", "all"),
        ("paddock.preemption.complexAsks", ""),
        ("paddock.preemption.daemonSets", "never"),
        ("paddock.config.builtinDefault", "yes"),
        ("service.enableConfigHotRefresh", "yes"),
        ("admissionController.filtering.generateUniqueAppId", "tRUE"),
        ("paddock.applications.acrossNamespaces", "always"),
        ("paddock.applications.acrossNamespaces", ""),
        ("paddock.gang.template", ""),
        ("paddock.gang.template", "labels"),
        ("paddock.gang.template", "labels=none"),
        ("paddock.gang.template", "labels=any,labels=any"),
        ("paddock.gang.maxPods", "0"),
        ("paddock.gang.maxPods", "-1"),
        ("paddock.gang.maxPods", "many"),
        ("paddock.gang.maxPods", ""),
        ("service.placeholderRunAsUser", "nobody"),
        ("service.placeholderFsGroup", "1e3"),
    ],
)
def test_a_bad_value_names_its_key_and_refuses_them_all(key: str, value: str) -> None:
    with pytest.raises(SettingsError) as caught:
        settings_from({key: value, "paddock.reservation.ttl" if "ttl" not in key else "x": "1m"}, {})
    assert str(caught.value).startswith(f"{key}: must ")


def test_every_bad_value_is_named() -> None:
    with pytest.raises(SettingsError) as caught:
        settings_from({"paddock.turn.lease": "x", "paddock.lease": "x"}, {})
    assert str(caught.value).count("must be") == 2


def test_a_flag_or_variable_wins_over_the_config_map() -> None:
    variables = environment_from({"PADDOCK_TURN_LEASE": "3s", "PADDOCK_LEASE": "a/b", "TURN_LEASE": "9s"})
    assert variables == {"turn_lease": "3s", "lease": "a/b"}
    overrides = {**variables, "turn_lease": "4s"}
    settings = settings_from({"paddock.turn.lease": "5s", "paddock.reservation.ttl": "6s"}, overrides)
    assert (settings.turn_lease, settings.reservation_ttl, settings.lease) == (4.0, 6.0, "a/b")


def test_a_bad_override_names_the_key() -> None:
    with pytest.raises(SettingsError, match=r"^paddock\.turn\.lease: must be a duration"):
        settings_from({}, {"turn_lease": "x"})


@pytest.mark.rule("SRC-6")
def test_some_settings_hold_until_a_restart() -> None:
    active = settings_from({}, {})
    fresh = settings_from(
        {
            "paddock.reservation.ttl": "5s",
            "paddock.bind.deadline": "5s",
            "paddock.lease": "a/b",
            "admissionController.filtering.generateUniqueAppId": "true",
        },
        {},
    )
    settings, held = reloaded(active, fresh)
    assert held == (UNIQUE_APP_IDS, "paddock.bind.deadline", "paddock.lease")
    assert (settings.bind_deadline, settings.lease, settings.unique_app_ids) == (100.0, "", False)
    assert settings.reservation_ttl == 5.0
    assert reloaded(settings, settings) == (settings, ())


@pytest.mark.rule("SRC-6", "GANG-3")
def test_what_placeholders_are_made_of_holds_until_a_restart() -> None:
    keys = ("service.placeholderImage", "service.placeholderRunAsUser", "service.placeholderRunAsGroup")
    fresh = settings_from(
        {**dict.fromkeys(keys, "5"), "service.placeholderFsGroup": "6", "paddock.gang.maxPods": "4"}, {}
    )
    settings, held = reloaded(Settings(), fresh)
    assert held == ("service.placeholderFsGroup", *keys[:1], keys[2], keys[1])
    assert settings.placeholders == Settings().placeholders
    assert settings.gang_max_pods == 4


def test_hosts_of_the_admin_port_are_names_without_ports() -> None:
    found = settings_from({"paddock.rest.hosts": "UI.example:9889, [::2]"}, {})
    assert found.rest_hosts == {"ui.example", "::2"}
    assert settings_from({}, {"rest_hosts": "10.0.0.7"}).rest_hosts == {"10.0.0.7"}
    with pytest.raises(SettingsError, match=r"paddock\.rest\.hosts: must be host names"):
        settings_from({"paddock.rest.hosts": "https://ui.example"}, {})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("paddock.rest.port", "65536"),
        ("paddock.rest.port", "-1"),
        ("paddock.aggregated.port", "http"),
        ("paddock.rest.access", "everyone"),
        ("paddock.rest.corsOrigins", "ui.example"),
        ("paddock.rest.corsOrigins", "https://ui.example/path"),
        ("paddock.rest.corsOrigins", "*"),
        ("paddock.rest.apiServerTokens", "perhaps"),
    ],
)
def test_a_port_with_a_login_is_not_opened_by_a_mistake(key: str, value: str) -> None:
    with pytest.raises(SettingsError) as caught:
        settings_from({key: value}, {})
    assert set(caught.value.wrong) == {key}


def test_origins_are_read_in_one_spelling() -> None:
    settings = settings_from({"paddock.rest.corsOrigins": " https://UI.example:8443, http://[::1] "}, {})
    assert settings.rest_cors_origins == {"https://ui.example:8443", "http://[::1]"}


def test_by_default_no_further_port_is_open_and_each_asks_for_a_login() -> None:
    settings = Settings()
    assert (settings.rest_port, settings.aggregated_port) == (0, 0)
    assert (settings.rest_access, settings.rest_api_server_tokens) == ("token", False)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("8Mi", 8 * 2**20),
        ("96Mi", 96 * 2**20),
        ("1Gi", 2**30),
        ("100M", 10**8),
        ("16777216", 2**24),
    ],
)
def test_memory_for_the_past_of_queues(text: str, size: int) -> None:
    assert settings_from({"paddock.history.maxMemory": text}, {}).history_max_memory == size
    assert Settings().history_max_memory == 96 * 2**20


@pytest.mark.parametrize("text", ["", "-1", "1", "8191Ki", "1025Mi", "1Ei", "much", "8Mi ", "9" * 300])
def test_memory_beyond_its_bounds_refuses_the_edit(text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        settings_from({"paddock.history.maxMemory": text}, {})
    assert set(caught.value.wrong) == {"paddock.history.maxMemory"}
