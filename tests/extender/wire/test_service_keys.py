"""YuniKorn's service keys: their types, their defaults, and invalid values (SRC-4 to SRC-6)."""

import pytest

from extender.wire.service_keys import SERVICE_KEYS, bad_values, held_values, service_key

SHIM = {
    "service.clusterId": "mycluster",
    "service.policyGroup": "queues",
    "service.schedulingInterval": 1.0,
    "service.volumeBindTimeout": 600.0,
    "service.eventChannelCapacity": 1048576,
    "service.dispatchTimeout": 300.0,
    "service.disableGangScheduling": False,
    "service.enableConfigHotRefresh": True,
    "service.placeholderImage": "registry.k8s.io/pause:3.7",
    "service.placeholderRunAsUser": 0,
    "service.placeholderRunAsGroup": 0,
    "service.placeholderFsGroup": 0,
    "service.nodeInstanceTypeNodeLabelKey": "node.kubernetes.io/instance-type",
    "kubernetes.qps": 1000,
    "kubernetes.burst": 1000,
    "admissionController.filtering.generateUniqueAppId": False,
}
OTHERS = {
    "health.checkInterval": 30.0,
    "event.trackingEnabled": True,
    "event.requestCapacity": 1000,
    "event.ringBufferCapacity": 100000,
    "event.maxStreams": 100,
    "event.maxStreamsPerHost": 15,
    "event.RESTResponseSize": 10000,
    "admissionController.filtering.processNamespaces": "",
    "admissionController.filtering.bypassNamespaces": "^kube-system$",
    "admissionController.filtering.labelNamespaces": "",
    "admissionController.filtering.noLabelNamespaces": "",
    "admissionController.filtering.defaultQueue": "",
    "admissionController.accessControl.bypassAuth": False,
    "admissionController.accessControl.trustControllers": True,
    "admissionController.accessControl.systemUsers": "^system:serviceaccount:kube-system:",
    "admissionController.accessControl.externalUsers": "",
    "admissionController.accessControl.externalGroups": "",
}


@pytest.mark.rule("SRC-4")
@pytest.mark.parametrize(("name", "default"), [*SHIM.items(), *OTHERS.items()])
def test_the_default_of_a_key(name: str, default: object) -> None:
    key = SERVICE_KEYS[name]
    read = key.read(key.default)
    assert (read, type(read)) == (default, type(default))
    assert key.refuses == (name in SHIM)


@pytest.mark.rule("SRC-6")
def test_what_needs_a_restart() -> None:
    held = {name for name, key in SERVICE_KEYS.items() if key.needs_restart}
    assert held == set(SHIM) - {"service.enableConfigHotRefresh"}
    assert held_values({"kubernetes.qps": "+5"}, but=["service.clusterId"]) == {
        **{name: SHIM[name] for name in held - {"service.clusterId"}},
        "kubernetes.qps": 5,
    }


@pytest.mark.rule("SRC-4")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("kubernetes.qps", "2147483647"),
        ("kubernetes.qps", "-2147483648"),
        ("service.placeholderRunAsUser", "9223372036854775807"),
        ("service.schedulingInterval", "-1.5h"),
        ("service.schedulingInterval", "0"),
        ("service.disableGangScheduling", "T"),
        ("service.clusterId", ""),
    ],
)
def test_a_value_of_its_type(key: str, value: str) -> None:
    assert bad_values({key: value}) == {}


@pytest.mark.rule("SRC-5")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("kubernetes.qps", "2147483648"),
        ("kubernetes.qps", "1_000"),
        ("kubernetes.qps", " 1"),
        ("kubernetes.qps", "0x10"),
        ("kubernetes.qps", "١"),
        ("kubernetes.qps", "9" * 5000),
        ("service.placeholderRunAsUser", "9223372036854775808"),
        ("service.schedulingInterval", "1"),
        ("service.schedulingInterval", ""),
        ("service.disableGangScheduling", "yes"),
    ],
)
def test_a_value_of_another_type_is_named(key: str, value: str) -> None:
    assert list(bad_values({key: value, "kubernetes.burst": "1"})) == [key]


@pytest.mark.rule("SRC-4")
def test_the_levels_of_all_loggers_are_one_key() -> None:
    assert service_key("log.level") is service_key("log.core.scheduler.level") is SERVICE_KEYS["log.level"]
    assert service_key("log.core") is service_key("service.level") is None
