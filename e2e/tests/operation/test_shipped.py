"""Each shipped configuration starts a real kube-scheduler and holds a quota, with the shipped role alone."""

import asyncio
import re
import shlex
from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml

from e2e.cluster.client import Cluster, Object, message_of
from e2e.programs.binaries import binary
from e2e.stands.stand import (
    CONFIG_MAP,
    MANIFESTS,
    NAMESPACE,
    Stand,
    certificates,
    eventually,
    manifest,
    rendered,
)

CONFIGURATIONS = sorted(
    str(path.relative_to(MANIFESTS)) for path in MANIFESTS.glob("*/scheduler-config*.yaml")
)
POLICY = "policies/mark-managed-pods.yaml"
QUEUES = {"a": {"max": {"vcore": "2"}}}
pytestmark = pytest.mark.usefixtures("started_as_a_user_does")
MARKERS = ("paddock.dev/filter", "paddock.dev/preempt", "paddock.dev/bind")


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
async def test_a_shipped_configuration_holds_a_quota(
    cluster: Cluster, configuration: str, tmp_path: Path
) -> None:
    """Each has its own Lease, profiles and users.

    Scoped ones have the policy that marks managed pods, too.
    """
    async with stand_of(cluster, configuration, tmp_path) as stand:
        await cluster.add_nodes(2)
        await _until_policy_applies(cluster, configuration)
        for name in ("p1", "p2", "p3"):
            await cluster.create_pod(name, queue="root.a")
        await stand.pods.until(lambda: len(stand.pods.bound()) == 2, "two are bound", timeout=45)
        await stand.pods.until(
            lambda: len(stand.pods.refused("QuotaExceeded: root.a max vcore=2")) == 1, "one waits"
        )
        for verb in _verbs(configuration):
            assert await stand.paddock.metric("paddock_verb_seconds_count", verb=verb) > 0
        await eventually(lambda: _is_left_alone(stand), "nobody but Paddock would have it tried again")
        await stand.configure({"a": {"max": {"vcore": "3"}}})
        await stand.pods.until(lambda: len(stand.pods.bound()) == 3, "the third runs")
        await stand.audited()
        await _nothing_was_forbidden(stand)


async def test_applying_the_overlays_again_replaces_no_queue(cluster: Cluster, tmp_path: Path) -> None:
    """F-5: the documented upgrade creates queues once and never replaces any."""
    sample = await asyncio.to_thread((MANIFESTS / "queues" / "queues.yaml").read_text)
    live = tmp_path / "my-queues.yaml"
    await asyncio.to_thread(live.write_text, sample.replace('max: {vcore: "2"', 'max: {vcore: "1"'))
    overlays = ("kubeadm", "service", "sidecar", "sidecar-scoped", "sidecar-prioritize")
    (create,) = re.findall(r"^kubectl .* create configmap .*$", (MANIFESTS / "README.md").read_text(), re.M)
    path = f"/api/v1/namespaces/{NAMESPACE}/configmaps/{CONFIG_MAP}"
    await _kubectl(cluster, tmp_path, "apply -k", str(MANIFESTS / overlays[0]))
    try:
        assert await _kubectl(cluster, tmp_path, create) == 0
        before = await cluster.request("GET", path)
        assert before["data"]["queues.yaml"] == live.read_text()
        for overlay in overlays:
            assert await _kubectl(cluster, tmp_path, "apply -k", str(MANIFESTS / overlay)) == 0
        assert await _kubectl(cluster, tmp_path, create) != 0
        assert await cluster.request("GET", path) == before
    finally:
        await cluster.request("DELETE", path)
        await _take_out(cluster, tmp_path, overlays)


async def _take_out(cluster: Cluster, folder: Path, overlays: Iterable[str]) -> None:
    """Delete what was applied, except namespaces: without a controller-manager none ever disappears."""
    found = [thing for overlay in overlays for thing in rendered(overlay) if thing["kind"] != "Namespace"]
    (folder / "applied.yaml").write_text(yaml.safe_dump_all(found))
    assert await _kubectl(cluster, folder, "delete --ignore-not-found --wait=false -f applied.yaml") == 0

    async def is_plain() -> bool:
        return not await cluster.is_mutated()

    await eventually(is_plain, "the policies are in force no more")


async def _kubectl(cluster: Cluster, folder: Path, command: str, *more: str) -> int:
    """The exit code of a command line, as a user types it in that folder."""
    arguments = [*shlex.split(command.removeprefix("kubectl ")), *more]
    kubeconfig = cluster.control_plane.kubeconfig("admin")
    process = await asyncio.create_subprocess_exec(
        binary("kubectl"), *arguments, cwd=folder, env={"KUBECONFIG": str(kubeconfig), "HOME": str(folder)}
    )
    return await process.wait()


@pytest.mark.parametrize("configuration", [each for each in CONFIGURATIONS if "plain" in each])
async def test_effects_wait_for_the_lease(cluster: Cluster, configuration: str, tmp_path: Path) -> None:
    """Only the extender beside the leading replica acts on its own account."""
    async with stand_of(cluster, configuration, tmp_path) as stand:
        await cluster.add_nodes(1)
        await cluster.create_pod("p", queue="root.a")
        await stand.pods.until(lambda: len(stand.pods.bound()) == 1, "the scheduler leads", timeout=45)
        await eventually(lambda: stand.paddock.metric("paddock_leading"), "it follows the Lease")


async def test_verbs_take_no_caller_without_a_certificate(cluster: Cluster, tmp_path: Path) -> None:
    """With verbs outside the pod, a scheduler without a client certificate places nothing (mTLS)."""
    async with stand_of(cluster, "service/scheduler-config-scoped.yaml", tmp_path) as stand:
        await cluster.add_nodes(1)
        await stand.scheduler.stop()
        config = manifest("kubeadm/scheduler-config-plain.yaml")[0]
        config["leaderElection"] = {"leaderElect": False}
        config["clientConnection"].pop("kubeconfig")
        for extender in config["extenders"]:
            extender["urlPrefix"] = stand.paddock.url.replace("http:", "https:")
            extender["enableHTTPS"] = True
            extender["tlsConfig"] = {"insecure": True}
        scheduler = await cluster.control_plane.scheduler(config)
        await cluster.create_pod("p", queue="root.a")
        await stand.pods.until(lambda: "/v1/filter" in message_of(stand.pods.named("p")), "the call fails")
        assert stand.pods.bound() == []
        assert await stand.paddock.metric("paddock_verb_seconds_count", verb="filter") == 0
        await scheduler.stop()


# -- steps ---------------------------------------------------------------------------------------------------


def stand_of(
    cluster: Cluster, configuration: str, folder: Path, *, scheduler_flags: tuple[str, ...] = ()
) -> Stand:
    """A stand as the configuration's overlay is shipped: users, Lease, certificates and policies."""
    overlay = configuration.partition("/")[0]
    election = manifest(configuration)[0]["leaderElection"]
    lease = f"{election['resourceNamespace']}/{election['resourceName']}"
    user, scheduler_user = {
        "kubeadm": ("paddock-certificate", "scheduler"),
        "sidecar": ("paddock", "paddock"),
        "service": ("paddock", "scheduler"),
    }[overlay]
    return Stand(
        cluster,
        QUEUES,
        config=configuration,
        lease="" if overlay == "service" else lease,
        user=user,
        scheduler_user=scheduler_user,
        elect=True,
        tls=certificates(folder / "tls", _server_name()) if overlay == "service" else None,
        policies=(POLICY,) if _is_scoped(configuration) else (),
        scheduler_flags=scheduler_flags,
    )


def _server_name() -> str:
    config = manifest("service/scheduler-config-scoped.yaml")[0]
    name: str = config["extenders"][0]["tlsConfig"]["serverName"]
    return name


def _verbs(configuration: str) -> set[str]:
    """Verbs that each pod needs. In the form `direct` kube-scheduler binds by itself."""
    extenders = manifest(configuration)[0]["extenders"]
    found = {verb for verb in ("filter", "bind") if any(each.get(f"{verb}Verb") for each in extenders)}
    assert "filter" in found
    return found


def _is_scoped(configuration: str) -> bool:
    return any("managedResources" in each for each in manifest(configuration)[0]["extenders"])


async def _until_policy_applies(cluster: Cluster, configuration: str) -> None:
    """Wait for a new policy, with dry-run pods until one is marked."""
    if not _is_scoped(configuration):
        return

    async def is_marked() -> bool:
        pod = cluster.pod("probe", queue="root.a")
        path = f"/api/v1/namespaces/{cluster.namespace}/pods"
        made = await cluster.request("POST", path, pod, params={"dryRun": "All"})
        return all(marker in _requests(made) for marker in MARKERS)

    await eventually(is_marked, "the policy marks pods", timeout=60)


def _requests(pod: Object) -> Object:
    found: Object = pod["spec"]["containers"][0]["resources"].get("requests", {})
    return found


async def _is_left_alone(stand: Stand) -> bool:
    """Wait for longer than kube-scheduler waits before it retries a pod after other events."""
    before = await stand.paddock.metric("paddock_verb_seconds_count", verb="filter")
    await asyncio.sleep(1.5)
    return await stand.paddock.metric("paddock_verb_seconds_count", verb="filter") == before


async def _nothing_was_forbidden(stand: Stand) -> None:
    """Assert that the shipped role is enough: no call lacked a permission."""
    assert [line for line in stand.paddock.logs() if "forbidden" in str(line).lower()] == []
    assert await stand.paddock.metric("paddock_effects_total", outcome="failed") == 0
    assert await stand.paddock.metric("paddock_effects_total", effect="WakePod", outcome="done") > 0
