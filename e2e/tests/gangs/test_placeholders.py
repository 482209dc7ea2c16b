"""Placeholders that Paddock's account creates on the real API server, with the shipped role and policies."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any

import pytest

from core.ids import AppId, PodUid
from core.ledger import events as on
from core.ledger.effects import CreatePlaceholder
from core.ledger.outcomes import CreationOutcome
from core.workload.gangs.gang import Gang, Originator
from e2e.cluster.client import ApiFailure, Cluster, Object, node_of, path_of
from e2e.stands.stand import INSTALLED, Stand, eventually, manifest, rendered
from extender.kube.connection.client import connect
from extender.kube.effects.effector import Effector
from extender.wire.annotations.gang import gang_from
from extender.wire.placeholder import PlaceholderSettings, template_parts_from
from extender.wire.translate import POD, pod_from

DOMAIN = "yunikorn.apache.org/"
PLACEHOLDER = "internal.yunikorn.apache.org/placeholder"
GATE = "paddock.dev/queue"
MARKERS = ("paddock.dev/bind", "paddock.dev/filter", "paddock.dev/preempt")
USER = "paddock-certificate"
POLICIES = (
    "policies/mark-managed-pods.yaml",
    "gates/gate-managed-pods.yaml",
    "identity/add-user-info.yaml",
    "identity/protect-user-info.yaml",
)


class Hand:
    """Paddock's effector with the account of the shipped role, in a namespace with an originator."""

    def __init__(
        self, cluster: Cluster, effector: Effector, learned: list[on.Event], originator: Object
    ) -> None:
        self._cluster = cluster
        self._effector = effector
        self._learned = learned
        self.originator = originator
        self.outcomes: Counter[CreationOutcome] = Counter()

    async def create(self, *wanted: CreatePlaceholder) -> on.PlaceholderCreated:
        """Create a placeholder, and return how that ended."""
        for each in wanted:
            self._effector.perform(each)

        async def ended() -> bool:
            return len(self._learned) >= len(wanted)

        await eventually(ended, "the creations have ended", timeout=30)
        ends = [each for each in self._learned if isinstance(each, on.PlaceholderCreated)]
        self._learned.clear()
        self.outcomes = Counter(each.outcome for each in ends)
        return ends[-1]

    def wish(
        self, name: str = "tg-0", *, defined: Gang | None = None, **originator: Any
    ) -> CreatePlaceholder:
        metadata, found = self.originator["metadata"], defined or gang()
        owner = Originator(PodUid(metadata["uid"]), metadata["name"], "yunikorn")
        return CreatePlaceholder(
            app=AppId("app-1", "default"),
            namespace=metadata["namespace"],
            name=name,
            queue="root.a",
            group=found.groups[0],
            gang=found,
            originator=replace(owner, **originator),
        )

    async def made(self, name: str = "tg-0") -> Object:
        return await self._cluster.request(
            "GET", path_of("Pod", self.originator["metadata"]["namespace"], name)
        )


@asynccontextmanager
async def hand_of(cluster: Cluster) -> AsyncIterator[Hand]:
    for thing in rendered("kubeadm"):
        if thing["kind"] in INSTALLED:
            await cluster.apply(thing)
    await eventually(lambda: _may_create(cluster), "the role is in force")
    learned: list[on.Event] = []
    async with await connect(kubeconfig=str(cluster.control_plane.kubeconfig(USER))) as client:
        effector = Effector(
            client,
            learn=learned.append,
            may_act=lambda: True,
            count=lambda *_: None,
            # The whole template, so that the API server judges it (F-16).
            placeholders=lambda: PlaceholderSettings(copied=template_parts_from("any")),
        )
        running = asyncio.create_task(effector.run())
        yield Hand(cluster, effector, learned, await cluster.create_pod("first", queue="root.a", app="app-1"))
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


def gang(**more: Any) -> Gang:
    group = {"name": "g", "minMember": 2, "minResource": {"cpu": "500m"}, **more}
    found = gang_from({DOMAIN + "task-groups": json.dumps([group])})
    assert isinstance(found, Gang), found
    return found


# -- what is created -----------------------------------------------------------------------------------------


async def test_the_restricted_level_takes_it(cluster: Cluster) -> None:
    """GANG-3: a placeholder passes, while an ordinary pod of these tests would not."""
    async with hand_of(cluster) as hand:
        await _label(cluster, {"pod-security.kubernetes.io/enforce": "restricted"})
        await eventually(lambda: _refused(cluster), "the level is in force")
        await cluster.create_priority_class("high", 7)
        constraint = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
        term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z"]}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        defined = gang(
            minResource={"cpu": "500m", "memory": "64Mi", "example.com/gpu": 2, "hugepages-2Mi": "4Mi"},
            nodeSelector={"disk": "ssd"},
            tolerations=[{"key": "k", "operator": "Exists"}],
            affinity={"nodeAffinity": required},
            topologySpreadConstraints=[constraint],
        )
        wanted = hand.wish(
            defined=defined, priority_class="high", pull_secrets=("s",), markers=MARKERS, gated=True
        )
        assert (await hand.create(wanted)).outcome is CreationOutcome.DONE
        pod = await hand.made()
        facts = facts_of(pod)
        assert facts.size == defined.groups[0].size
        assert (facts.owner, facts.priority, facts.gates) == (wanted.originator.uid, 7, (GATE,))
        assert (facts.markers, facts.pull_secrets, facts.gang) == (MARKERS, ("s",), defined)
        spec = pod["spec"]
        assert (spec["nodeSelector"], spec["affinity"]["nodeAffinity"]) == ({"disk": "ssd"}, required)
        assert spec["tolerations"][0] == {"key": "k", "operator": "Exists"}
        assert spec["topologySpreadConstraints"] == [constraint]
        assert (spec["terminationGracePeriodSeconds"], spec["restartPolicy"]) == (0, "Never")


async def test_a_limit_range_changes_its_size(cluster: Cluster) -> None:
    """The size that counts is the one the API server stored."""
    async with hand_of(cluster) as hand:
        limit = {"type": "Container", "default": {"memory": "64Mi"}, "defaultRequest": {"memory": "32Mi"}}
        await _put_limits(cluster, {**limit, "max": {"cpu": "2"}})
        await eventually(lambda: _limited(cluster), "the limits are in force")
        assert (await hand.create(hand.wish())).outcome is CreationOutcome.DONE
        size = facts_of(await hand.made()).size
        assert (size.get("vcore"), size.get("memory")) == (500, 32 * 2**20)
        end = await hand.create(hand.wish("tg-1", defined=gang(minResource={"cpu": "3"})))
        assert end.outcome is CreationOutcome.REFUSED
        assert "maximum cpu usage per Container is 2" in end.why


async def test_the_policies_treat_it_as_any_managed_pod(cluster: Cluster) -> None:
    """A placeholder gets gate and markers, whether or not it has them, and belongs to Paddock's account."""
    async with hand_of(cluster) as hand:
        for thing in _policies():
            await cluster.apply(thing)
        await _label(cluster, {"paddock.dev/gate": "true"})
        await eventually(lambda: _treated(cluster), "the policies are in force")
        wishes = [hand.wish(), hand.wish("tg-1", markers=MARKERS, gated=True)]
        await hand.create(*wishes)
        assert hand.outcomes == {CreationOutcome.DONE: 2}
        for wish in wishes:
            pod = await hand.made(wish.name)
            facts = facts_of(pod)
            assert (facts.gates, facts.markers, facts.identity.user) == ((GATE,), MARKERS, "paddock")
            resources = pod["spec"]["containers"][0]["resources"]
            assert resources["requests"] == resources["limits"]
            assert resources["requests"] == {"cpu": "500m", **dict.fromkeys(MARKERS, "1")}
        for thing in _policies():
            await cluster.request("DELETE", path_of(thing["kind"], name=thing["metadata"]["name"]))
        await eventually(lambda: _untouched(cluster), "the policies are no longer in force")


async def test_a_template_does_not_pass_for_paddock(cluster: Cluster) -> None:
    async with hand_of(cluster) as hand:
        forged = {PLACEHOLDER: "false", DOMAIN + "task-group-name": "x", DOMAIN + "user.info": "{}", "a": "b"}
        defined = gang(annotations=forged, labels={DOMAIN + "app-id": "other", DOMAIN + "queue": "root.b"})
        assert (await hand.create(hand.wish(defined=defined))).outcome is CreationOutcome.DONE
        pod = await hand.made()
        assert pod["metadata"]["labels"] == {DOMAIN + "app-id": "app-1", DOMAIN + "queue": "root.a"}
        assert pod["metadata"]["annotations"] == {
            PLACEHOLDER: "true",
            DOMAIN + "task-group-name": "g",
            DOMAIN + "task-groups": defined.written,
            "a": "b",
        }


# -- what is not ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("defined", "why"),
    [
        ({"labels": {"a": "not valid"}}, "metadata.labels"),
        ({"annotations": {"a b": "x"}}, "metadata.annotations"),
        ({"minResource": {"vcore": "1"}}, "must be a standard resource"),
        ({"minResource": {"example.com/gpu": "1500m"}}, "must be an integer"),
        ({"tolerations": [{"key": "k", "operator": "Perhaps"}]}, "tolerations"),
        ({"nodeSelector": {"a": "not valid"}}, "nodeSelector"),
    ],
)
async def test_a_template_that_is_no_pods_is_refused_clearly(
    cluster: Cluster, defined: dict[str, Any], why: str
) -> None:
    async with hand_of(cluster) as hand:
        end = await hand.create(hand.wish(defined=gang(**defined)))
        assert end.outcome is CreationOutcome.REFUSED
        assert why in end.why
        assert len(end.why) <= 256


async def test_what_it_needs_is_not_there(cluster: Cluster) -> None:
    async with hand_of(cluster) as hand:
        end = await hand.create(hand.wish(priority_class="gone"))
        assert (end.outcome, "no PriorityClass with name gone" in end.why) == (CreationOutcome.REFUSED, True)
        end = await hand.create(replace(hand.wish(), namespace="nowhere"))
        assert (end.outcome, "nowhere" in end.why) == (CreationOutcome.REFUSED, True)


async def test_the_same_place_twice_is_one_pod(cluster: Cluster) -> None:
    async with hand_of(cluster) as hand:
        assert (await hand.create(hand.wish())).outcome is CreationOutcome.DONE
        uid = (await hand.made())["metadata"]["uid"]
        assert (await hand.create(hand.wish())).outcome is CreationOutcome.DONE
        assert (await hand.made())["metadata"]["uid"] == uid
        end = await hand.create(hand.wish(uid=PodUid("uid-of-a-former-originator")))
        assert (end.outcome, "no placeholder of this gang" in end.why) == (CreationOutcome.REFUSED, True)
        end = await hand.create(hand.wish("first"))
        assert (end.outcome, "no placeholder of this gang" in end.why) == (CreationOutcome.REFUSED, True)


async def test_a_resource_quota_refuses_what_is_beyond_it(cluster: Cluster) -> None:
    """Many requests at once compete for its status, which is no refusal."""
    async with hand_of(cluster) as hand:
        await _put_quota(cluster, pods=24)
        await hand.create(*(hand.wish(f"tg-{at}") for at in range(24)))
        assert hand.outcomes == {CreationOutcome.DONE: 24}
        end = await hand.create(hand.wish("tg-24"))
        assert end.outcome is CreationOutcome.REFUSED
        assert "exceeded quota" in end.why


async def test_the_role_needs_its_part_in_finalizers(cluster: Cluster) -> None:
    """The right matters where `OwnerReferencesPermissionEnforcement` is on, as it is here."""
    async with hand_of(cluster) as hand:
        role = path_of("ClusterRole", name="paddock-gangs")
        rules = (await cluster.request("GET", role))["rules"]
        without = [rule for rule in rules if rule["resources"] != ["pods/finalizers"]]
        await cluster.patch(role, {"rules": without})
        try:

            async def refused() -> str:
                end = await hand.create(hand.wish())
                if end.outcome is CreationOutcome.DONE:
                    await cluster.delete_pod("tg-0")
                return end.why

            assert "blockOwnerDeletion" in await eventually(refused, "the role is in force")
        finally:
            await cluster.patch(role, {"rules": rules})


# -- what becomes of it --------------------------------------------------------------------------------------


async def test_it_is_placed_and_goes_with_its_owner(cluster: Cluster) -> None:
    """GANG-8, GANG-14: an ordinary pod to the scheduler, counted in its queue, and collected at the end."""
    async with Stand(cluster, {"a": {"max": {"vcore": "4"}}}) as stand, hand_of(cluster) as hand:
        await cluster.add_nodes(1)
        assert (await hand.create(hand.wish())).outcome is CreationOutcome.DONE

        def placed() -> bool:
            pod = stand.pods.named("tg-0")
            return pod is not None and bool(node_of(pod)) and pod["status"].get("phase") == "Running"

        await stand.pods.until(placed, "the placeholder runs")
        await stand.pods.until(lambda: len(stand.pods.bound()) == 2, "its owner runs")
        await stand.audited()
        await cluster.delete_pod("first")
        await stand.pods.until(lambda: not stand.pods.pods, "both are gone")
        await stand.audited()


# -- steps ---------------------------------------------------------------------------------------------------


def facts_of(pod: Object) -> Any:
    return pod_from(POD.decode(json.dumps(pod).encode()))


async def _may_create(cluster: Cluster) -> bool:
    """Wait until the whole role is in force.

    Placeholders are created for that: one without an owner, then one that blocks a deletion.
    """
    pod = _probe(cluster)
    pod["metadata"]["ownerReferences"][0]["blockOwnerDeletion"] = True
    return await _tried(cluster, pod) is not None


def _probe(cluster: Cluster, **notes: str) -> Object:
    """A placeholder as the policy of Paddock's account lets it make one; unfit for ``restricted``."""
    spec = {"automountServiceAccountToken": False, "securityContext": {"runAsNonRoot": True}}
    annotations = {PLACEHOLDER: "true", **notes}
    pod = cluster.pod("probe", queue="root.a", annotations=annotations, spec=spec)
    pod["spec"]["containers"][0]["securityContext"] = {"allowPrivilegeEscalation": False}
    pod["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "x"}]
    return pod


async def _tried(cluster: Cluster, pod: Object) -> Object | None:
    """The pod that the API server would make of a post by Paddock's account; None if it refuses."""
    path = path_of("Pod", cluster.namespace)
    try:
        return await cluster.request("POST", path, pod, params={"dryRun": "All"}, user=USER)
    except ApiFailure as failure:
        if failure.status != 403:
            raise
        return None


async def _refused(cluster: Cluster) -> bool:
    return await _tried(cluster, _probe(cluster)) is None


async def _limited(cluster: Cluster) -> bool:
    return "memory" in _requests(await _tried(cluster, _probe(cluster)))


def _policies() -> list[Object]:
    return [thing for path in POLICIES for thing in manifest(path)]


async def _treated(cluster: Cluster) -> bool:
    """True if a pod in a queue gets all that the policies give, and a forged name is refused."""
    made = await _tried(cluster, _probe(cluster))
    forged = _probe(cluster, **{DOMAIN + "user.info": "{}"})
    return made is not None and all(_gifts(made)) and await _tried(cluster, forged) is None


async def _untouched(cluster: Cluster) -> bool:
    """True if the policies change nothing, even a forged name."""
    made = await _tried(cluster, _probe(cluster))
    forged = _probe(cluster, **{DOMAIN + "user.info": "{}"})
    return made is not None and not any(_gifts(made)) and await _tried(cluster, forged) is not None


def _gifts(pod: Object) -> tuple[bool, ...]:
    """Report whether a pod has markers, a gate, a user."""
    named = DOMAIN + "user.info" in pod["metadata"].get("annotations", {})
    return MARKERS[0] in _requests(pod), bool(pod["spec"].get("schedulingGates")), named


def _requests(pod: Object | None) -> Object:
    return pod["spec"]["containers"][0]["resources"]["requests"] if pod is not None else {}


async def _label(cluster: Cluster, labels: dict[str, str]) -> None:
    await cluster.patch(path_of("Namespace", name=cluster.namespace), {"metadata": {"labels": labels}})


async def _put_limits(cluster: Cluster, limit: Object) -> None:
    body = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l"}, "spec": {"limits": [limit]}}
    await cluster.request("POST", f"/api/v1/namespaces/{cluster.namespace}/limitranges", body)


async def _put_quota(cluster: Cluster, *, pods: int) -> None:
    """Play the quota controller, too: existing pods count from now on.

    At first the quota allows no pod, which shows that admission knows it.
    """
    path = f"/api/v1/namespaces/{cluster.namespace}/resourcequotas"
    none, hard = {"pods": "0"}, {"pods": str(pods)}
    body = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": none}}
    await cluster.request("POST", path, body)
    await cluster.patch(path + "/q/status", {"status": {"hard": none, "used": {"pods": "0"}}})
    await eventually(lambda: _refused(cluster), "the quota is known")
    await cluster.patch(path + "/q", {"spec": {"hard": hard}})
    await cluster.patch(path + "/q/status", {"status": {"hard": hard}})

    async def allows() -> bool:
        return not await _refused(cluster)

    await eventually(allows, "the quota is in force")
