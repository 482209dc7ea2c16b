"""CPU of the API server for each created pod: without policies, with each shipped policy alone, and with all.

All policies are compiled and in force at once in one control plane, and a label of the namespace says which
of them apply there. So rounds follow each other closely, and ratios hardly depend on the machine. The measure
is a policy without conditions that adds one constant gate, the least that a changing policy can cost.
Trials show what a reinvocation policy costs. The API server asks a policy with `IfNeeded` twice for each pod.
Another one gives the markers and the gate as constants, once. No policy that gives both can cost less.

A collection of the API server's heap costs as much as hundreds of pods. So one is made before each batch, and
what a pod allocates is measured too: in the long run collections cost in proportion to it.
"""

import copy
import os
import statistics
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import chain

import yaml

from e2e.bench.rates import usage
from e2e.bench.rates.creating import Batch, Client
from e2e.bench.rates.figures import order_of, table
from e2e.bench.rates.sides import install
from e2e.bench.worlds.report import show
from e2e.cluster.client import ApiFailure, Cluster, Object, path_of
from e2e.programs.control_plane import ControlPlane
from e2e.stands.stand import eventually, manifest

ROUNDS = int(os.environ.get("PADDOCK_BENCH_ROUNDS", "5"))
PODS = int(os.environ.get("PADDOCK_BENCH_PODS", "500"))

SHIPPED: Mapping[str, str] = {
    "gate": "gates/gate-managed-pods.yaml",
    "markers": "policies/mark-managed-pods.yaml",
    "markers and gate": "gated-policies/mark-and-gate-pods.yaml",
    "owners named": "identity/add-user-info.yaml",
    "owners protected": "identity/protect-user-info.yaml",
    "adoption": "adopt/adopt-pods.yaml",
    "records": "records/protect-records.yaml",
    "gates protected": "quota/protect-gates.yaml",
    "node names": "quota/protect-nodes.yaml",
    "labels": "quota/protect-owners.yaml",
    "resizes": "quota/protect-requests.yaml",
    "Paddock's account": "base/bound-account.yaml",
}
"""The file of each shipped policy."""

NONE, CONSTANT = "none", "a constant gate"
BOTH, AGAIN, ONCE, UNLESS = (
    "constant markers and gate",
    "a constant gate, IfNeeded",
    "markers and gate, Never",
    "markers and gate, unless it has both",
)
CHANGING = ("gate", "markers", "markers and gate")
UNMANAGED = ", pods of no queue"
_PREFIX = "bench.paddock.dev/"
_BINDING = "AdmissionPolicyBinding"


_CONSTANT = """
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: constant.bench.paddock.dev}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"]}]
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: |-
        [JSONPatch{op: "add", path: "/spec/schedulingGates", value: [{"name": "example.com/constant"}]}]
"""
_MARKED = """
[JSONPatch{op: "add", path: "/spec/schedulingGates", value: [{"name": "paddock.dev/queue"}]},
  JSONPatch{op: "add", path: "/spec/containers/0/resources/limits", value: {
    "paddock.dev/filter": "1", "paddock.dev/preempt": "1", "paddock.dev/bind": "1"}},
  JSONPatch{op: "add", path: "/spec/containers/0/resources/requests/paddock.dev~1filter", value: "1"},
  JSONPatch{op: "add", path: "/spec/containers/0/resources/requests/paddock.dev~1preempt", value: "1"},
  JSONPatch{op: "add", path: "/spec/containers/0/resources/requests/paddock.dev~1bind", value: "1"}]
"""
_UNLESS = """
!(object.spec.?schedulingGates.orValue([]).exists(gate, gate.name == "paddock.dev/queue")
  && ["requests", "limits"].all(part,
    ["paddock.dev/filter", "paddock.dev/preempt", "paddock.dev/bind"].all(marker,
      object.spec.?containers[0].?resources[?part][?marker].orValue("") == "1")))
"""
_PROBE = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: probe.bench.paddock.dev}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"]}]
  validations: [{expression: "false", message: all policies are in force}]
"""


@dataclass(frozen=True, slots=True)
class Case:
    """Policies that apply to the pods of one namespace. ``labelled``: False for pods of no queue."""

    name: str
    policies: Sequence[str]
    labelled: bool = True
    cpu: list[float] = field(default_factory=list)
    allocated: list[float] = field(default_factory=list)

    def labels(self) -> dict[str, str]:
        return {"paddock.dev/gate": "true"} | {label_of(name): "true" for name in self.policies}


def cases() -> list[Case]:
    """Nothing, the measure, each shipped policy alone, and those that are installed together."""
    protecting = tuple(name for name in SHIPPED if name not in (*CHANGING, "adoption"))
    together = {
        "gate, and markers": ("gate", "markers"),
        "all but adoption": ("markers and gate", *protecting),
        "all": ("markers and gate", "adoption", *protecting),
    }
    single = {name: (name,) for name in (CONSTANT, *trials(), *SHIPPED)}
    named = {NONE: ()} | single | together
    unmanaged = (NONE, "markers", "gate", "markers and gate", "all but adoption")
    return [Case(name, each) for name, each in named.items()] + [
        Case(name + UNMANAGED, named[name], labelled=False) for name in unmanaged
    ]


def label_of(policy: str) -> str:
    """The label of a namespace to whose pods a policy applies."""
    return _PREFIX + policy.replace(" ", "-").replace("'", "").replace(",", "")


def constant() -> list[Object]:
    """A policy without conditions that adds a constant gate."""
    return [*yaml.safe_load_all(_CONSTANT), _binding("Mutating", "constant")]


def trials() -> dict[str, list[Object]]:
    """The measure with more to add or asked again, and what is shipped asked less."""
    both = SHIPPED["markers and gate"]
    marking = [{"patchType": "JSONPatch", "jsonPatch": {"expression": _MARKED}}]
    condition = {"name": "has-not-both", "expression": _UNLESS}
    return {
        BOTH: _trial(constant(), "constant-both", mutations=marking),
        AGAIN: _trial(constant(), "constant-again", reinvocationPolicy="IfNeeded"),
        ONCE: _trial(manifest(both), "once", reinvocationPolicy="Never"),
        UNLESS: _trial(manifest(both), "unless", matchConditions=[condition]),
    }


def _trial(things: Sequence[Object], name: str, **changed: object) -> list[Object]:
    """A policy and its binding under another name, with another specification."""
    found = copy.deepcopy([*things])
    for thing in found:
        thing["metadata"] = {"name": f"{name}.bench.paddock.dev"}
        if thing["kind"].endswith(_BINDING):
            thing["spec"]["policyName"] = thing["metadata"]["name"]
        else:
            thing["spec"] |= changed
    return found


def probe() -> list[Object]:
    """A policy that refuses all pods of namespaces with its label, to see when it is in force."""
    return limited([*yaml.safe_load_all(_PROBE), _binding("Validating", "probe")], label_of("probe"))


def _binding(kind: str, policy: str) -> Object:
    spec: Object = {"policyName": f"{policy}.bench.paddock.dev"}
    if kind == "Validating":
        spec["validationActions"] = ["Deny"]
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind + _BINDING,
        "metadata": {"name": spec["policyName"]},
        "spec": spec,
    }


def limited(things: Sequence[Object], label: str) -> list[Object]:
    """Policies whose bindings apply only to namespaces with a label."""
    found = copy.deepcopy([*things])
    for thing in found:
        if thing["kind"].endswith(_BINDING):
            selector = thing["spec"].setdefault("matchResources", {}).setdefault("namespaceSelector", {})
            selector.setdefault("matchExpressions", []).append({"key": label, "operator": "Exists"})
    return found


async def run() -> None:
    """Print a table and one JSON line."""
    chosen = {case.name: case for case in cases()}
    async with AsyncExitStack() as stack:
        control_plane = await stack.enter_async_context(ControlPlane(flags=("--profiling=true",)))
        cluster = await stack.enter_async_context(Cluster(control_plane))
        await install(cluster, {})
        namespaces = {name: await _namespace(cluster, case.labels()) for name, case in chosen.items()}
        await _put_in_force(cluster)
        client = await stack.enter_async_context(Client(control_plane))
        for at in range(1 + ROUNDS):
            before = usage.read({client.pid: "client"})
            for name in order_of([*chosen], at):
                cpu, allocated = await _cost_of_each(cluster, client, chosen[name], namespaces[name], at)
                # The first round warms up.
                if at:
                    chosen[name].cpu.append(cpu)
                    chosen[name].allocated.append(allocated)
            others = usage.used(before, usage.read({client.pid: "client"})).others
            print(f"policies, round {at}: {others:.2f} cores of others", file=sys.stderr, flush=True)
    _show([*chosen.values()])


async def _namespace(cluster: Cluster, labels: Mapping[str, str]) -> str:
    name = await cluster.create_namespace()
    await cluster.patch(path_of("Namespace", name=name), {"metadata": {"labels": dict(labels)}})
    return name


async def _put_in_force(cluster: Cluster) -> None:
    """Create all policies, and wait until the last one is in force.

    The API server compiles the policies that it has seen once a second.
    """
    shipped = (limited(manifest(path), label_of(name)) for name, path in SHIPPED.items())
    tried = (limited(things, label_of(name)) for name, things in trials().items())
    for thing in (
        *limited(constant(), label_of(CONSTANT)),
        *chain.from_iterable(tried),
        *chain.from_iterable(shipped),
        *probe(),
    ):
        await cluster.apply(thing)
    namespace = await _namespace(cluster, {label_of("probe"): "true"})
    for changed in (namespace, await _namespace(cluster, {label_of(CONSTANT): "true"})):
        await eventually(partial(_is_in_force, cluster, changed), "the policies are in force", timeout=60)


async def _is_in_force(cluster: Cluster, namespace: str) -> bool:
    """True if a policy refuses or changes a pod of this namespace."""
    pod = Batch(namespace, "p", 1, leaves=1).pod(0)
    try:
        made = await cluster.request("POST", path_of("Pod", namespace), pod, params={"dryRun": "All"})
    except ApiFailure as failure:
        return "all policies are in force" in str(failure)
    return bool(made["spec"].get("schedulingGates"))


async def _cost_of_each(
    cluster: Cluster, client: Client, case: Case, namespace: str, at: int
) -> tuple[float, float]:
    """Create pods and delete them again. Return the API server's CPU and memory for one creation.

    Milliseconds, and KiB that it allocated.
    """
    batch = Batch(namespace, f"r{at}", PODS, leaves=20, labelled=case.labelled)
    await _raw(cluster, "/debug/pprof/heap?gc=1")
    allocated, before = await _allocated(cluster), usage.read({})
    await client.create(batch)
    used = usage.used(before, usage.read({}))
    allocated = await _allocated(cluster) - allocated
    await client.delete(namespace, [batch.pod(number)["metadata"]["name"] for number in range(PODS)])
    return used.milliseconds_each(PODS)["kube-apiserver"], round(allocated / PODS / 1024)


async def _allocated(cluster: Cluster) -> float:
    """Bytes that the API server has allocated since its start."""
    lines = (await _raw(cluster, "/metrics")).decode().splitlines()
    (value,) = (line.split()[1] for line in lines if line.startswith("go_memstats_alloc_bytes_total "))
    return float(value)


async def _raw(cluster: Cluster, path: str) -> bytes:
    async with cluster.session.get(path) as answer:
        answer.raise_for_status()
        return await answer.read()


def _show(measured: Sequence[Case]) -> None:
    """Ratios are those of the medians: in each round all cases follow each other."""
    found = {case.name: round(statistics.median(case.cpu), 3) for case in measured}
    allocated = {case.name: round(statistics.median(case.allocated)) for case in measured}
    head = ("policies", "API server, CPU ms per created pod", "to a constant gate", "KiB allocated")
    rows = [(name, cpu, round(cpu / found[CONSTANT], 2), allocated[name]) for name, cpu in found.items()]
    print(table(head, rows), end="\n\n")
    show(
        "policies",
        pods=PODS,
        rounds=ROUNDS,
        cpu_ms=found,
        allocated_kib=allocated,
        all_rounds={each.name: each.cpu for each in measured},
    )
