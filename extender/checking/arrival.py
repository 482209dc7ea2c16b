"""Queue documents from quotas of other systems, for ``paddock check --from``. Pure.

Amounts are copied as they are written. Where several amounts make one, the sum is written in base units.
Whatever has no counterpart becomes a note, so that nothing is left out without a word.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from core.errors import PaddockError
from core.quantity import canonical, kubernetes_amount
from extender.checking.manifest import HELM_KEY
from extender.configuration.sources import CONFIGS_NAME

SYSTEMS = ("yunikorn-helm", "kueue", "elasticquota")

Object = Mapping[str, Any]

_BY_NAMESPACE = [
    {"name": "provided", "create": False},
    {"name": "tag", "value": "namespace", "create": False},
]
HELM = "yunikorn-helm"
_OF_CHART = {
    "affinity": "pod.preferControlPlane",
    "embedAdmissionController": "adopt.enabled and identity.enabled",
    "hostNetwork": "pod.hostNetwork",
    "image": "images.paddock",
    "imagePullSecrets": "global.imagePullSecrets",
    "nodeSelector": "pod.nodeSelector",
    "podAnnotations": "pod.annotations",
    "priorityClassName": "pod.priorityClassName",
    "resources": "paddock.resources and scheduler.resources",
    "tolerations": "pod.tolerations",
}
"""Values of Paddock's chart, by those of YuniKorn's."""

_GROUPS = {"kueue": "kueue.x-k8s.io/", "elasticquota": "scheduling.x-k8s.io/"}


@dataclass(frozen=True, slots=True)
class Arrival:
    """A converted document. ``notes``: a sentence for each thing that has no counterpart."""

    document: str
    notes: tuple[str, ...]


@dataclass(slots=True)
class _Queue:
    name: str
    guaranteed: dict[str, str] = field(default_factory=dict)
    max: dict[str, str] = field(default_factory=dict)
    below: list["_Queue"] = field(default_factory=list)

    def written(self) -> dict[str, Any]:
        amounts = {"guaranteed": self.guaranteed, "max": self.max}
        resources = {name: dict(sorted(each.items())) for name, each in amounts.items() if each}
        below = [each.written() for each in sorted(self.below, key=lambda each: each.name)]
        return {
            "name": self.name,
            **({"parent": True} if below else {}),
            **({"resources": resources} if resources else {}),
            **({"queues": below} if below else {}),
        }


def arrive(system: str, texts: Iterable[bytes]) -> Arrival:
    """Convert manifests of one of `SYSTEMS`. Raises `PaddockError` for a text that is no YAML."""
    notes: list[str] = []
    things = [each for text in texts for each in _objects(text)]
    if system == HELM:
        return Arrival(_from_helm(things, notes.append), tuple(notes))
    found = [each for each in things if _is_of(system, each)]
    if not found:
        raise PaddockError(f"the files have no object of {_GROUPS[system]}")
    convert = {"kueue": _from_kueue, "elasticquota": _from_elastic_quotas}[system]
    queues = convert(found, notes.append)
    root = _Queue("root", below=list(queues)).written()
    partition: dict[str, Any] = {"name": "default", "queues": [{**root, "submitacl": "*"}]}
    if system == "elasticquota":
        partition["placementrules"] = _BY_NAMESPACE
    text = yaml.safe_dump({"partitions": [partition]}, sort_keys=False)
    return Arrival(text, tuple(notes))


def _objects(text: bytes) -> Iterator[Object]:
    try:
        for each in yaml.safe_load_all(text):
            if isinstance(each, dict):
                listed = each.get("items")
                yield from (
                    (item for item in listed if isinstance(item, dict))
                    if isinstance(listed, list)
                    else [each]
                )
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise PaddockError(f"a file is no YAML: {str(error).splitlines()[0]}") from None


def _is_of(system: str, thing: Object) -> bool:
    return str(thing.get("apiVersion", "")).startswith(_GROUPS[system])


def _name(thing: Object) -> str:
    return str(_part(thing, "metadata").get("name", ""))


def _namespace(thing: Object) -> str:
    return str(_part(thing, "metadata").get("namespace", "default"))


def _part(thing: Object, key: str) -> Object:
    found = thing.get(key)
    return found if isinstance(found, dict) else {}


def _list(thing: Object, key: str) -> Sequence[Object]:
    found = thing.get(key)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


# -- YuniKorn's Helm chart -----------------------------------------------------------------------------------


def _from_helm(things: Sequence[Object], note: Callable[[str], None]) -> str:
    """The ConfigMap of the entries under ``yunikornDefaults``. Other values become notes."""
    entries: dict[str, str] = {}
    for values in things:
        entries |= {str(key): str(each) for key, each in _part(values, HELM_KEY).items()}
        for key in sorted(str(each) for each in values if each != HELM_KEY):
            place = _OF_CHART.get(key)
            note(f"{key}: set {place} of Paddock's chart." if place else f"{key}: has no counterpart.")
    if not entries:
        raise PaddockError(f"the files have no {HELM_KEY}")
    metadata = {"name": CONFIGS_NAME, "namespace": "paddock-system"}
    thing = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": entries}
    return yaml.safe_dump(thing, sort_keys=False)


# -- ElasticQuota --------------------------------------------------------------------------------------------


def _from_elastic_quotas(things: Sequence[Object], note: Callable[[str], None]) -> Iterator[_Queue]:
    """A queue for each namespace: ``min`` is guaranteed, and ``max`` is the max."""
    seen: set[str] = set()
    for thing in sorted(things, key=lambda each: (_namespace(each), _name(each))):
        namespace = _namespace(thing)
        if thing.get("kind") != "ElasticQuota" or namespace in seen:
            note(
                f"{thing.get('kind')} {namespace}/{_name(thing)} is left out: "
                "one ElasticQuota counts for each namespace."
            )
            continue
        seen.add(namespace)
        spec = _part(thing, "spec")
        yield _Queue(namespace, _amounts(_part(spec, "min")), _amounts(_part(spec, "max")))


def _amounts(written: Object) -> dict[str, str]:
    return {canonical(str(name)): str(each) for name, each in written.items()}


# -- Kueue ---------------------------------------------------------------------------------------------------


def _from_kueue(things: Sequence[Object], note: Callable[[str], None]) -> Iterator[_Queue]:
    """A parent for each cohort, and a leaf for each ClusterQueue."""
    cohorts: dict[str, _Queue] = {}
    paths: dict[str, str] = {}
    for thing in sorted(_of_kind(things, "ClusterQueue"), key=_name):
        spec, leaf = _part(thing, "spec"), _cluster_queue(thing, note)
        cohort = str(spec.get("cohortName") or spec.get("cohort") or "")
        paths[leaf.name] = f"root.{cohort}.{leaf.name}" if cohort else f"root.{leaf.name}"
        if cohort:
            cohorts.setdefault(cohort, _Queue(cohort)).below.append(leaf)
        else:
            # Outside a cohort nothing can be borrowed.
            leaf.max = dict(leaf.guaranteed)
            yield leaf
    for parent in cohorts.values():
        parent.max = _sum(each.guaranteed for each in parent.below)
        yield parent
    for thing in sorted(_of_kind(things, "LocalQueue"), key=lambda each: (_namespace(each), _name(each))):
        path = paths.get(str(_part(thing, "spec").get("clusterQueue", "")), "a ClusterQueue that is missing")
        note(
            f"Workloads with kueue.x-k8s.io/queue-name={_name(thing)} in namespace {_namespace(thing)} "
            f"need the label yunikorn.apache.org/queue={path}."
        )
    for thing in sorted(_of_kind(things, "Cohort"), key=_name):
        note(f"Cohort {_name(thing)}: its own quotas and its parent are left out.")


def _of_kind(things: Sequence[Object], kind: str) -> list[Object]:
    return [each for each in things if each.get("kind") == kind]


def _cluster_queue(thing: Object, note: Callable[[str], None]) -> _Queue:
    name, spec = _name(thing), _part(thing, "spec")
    nominal: list[dict[str, str]] = []
    limits: list[dict[str, str]] = []
    flavors = [each for group in _list(spec, "resourceGroups") for each in _list(group, "flavors")]
    for resource in (each for flavor in flavors for each in _list(flavor, "resources")):
        key, quota = canonical(str(resource.get("name", ""))), str(resource.get("nominalQuota", "0"))
        nominal.append({key: quota})
        if "borrowingLimit" in resource:
            limits.append({key: quota})
            limits.append({key: str(resource["borrowingLimit"])})
        if "lendingLimit" in resource:
            note(
                f"ClusterQueue {name}: lendingLimit of {key} is left out. "
                "Others of its cohort may use what is free."
            )
    if len({str(each.get("name")) for each in flavors}) > 1:
        note(f"ClusterQueue {name}: its flavors are added up, since a queue does not tell nodes apart.")
    for key in ("preemption", "namespaceSelector", "queueingStrategy", "fairSharing", "admissionChecks"):
        if spec.get(key):
            note(f"ClusterQueue {name}: {key} is left out.")
    return _Queue(name, _sum(nominal), _sum(limits))


def _sum(amounts: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Sums by resource. A single amount stays as it is written."""
    found: dict[str, list[str]] = {}
    for each in amounts:
        for name, text in each.items():
            found.setdefault(name, []).append(text)
    return {name: texts[0] if len(texts) == 1 else _added(name, texts) for name, texts in found.items()}


def _added(name: str, texts: Sequence[str]) -> str:
    total = sum(kubernetes_amount("cpu" if name == "vcore" else name, text) for text in texts)
    return f"{total}m" if name == "vcore" else str(total)
