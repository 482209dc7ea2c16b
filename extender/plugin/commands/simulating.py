"""Simulation: whether a workload would run now, and what it would wait for."""

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from extender.plugin.asked import Asked
from extender.plugin.commands.explaining import is_hopeless, lines_about
from extender.plugin.completing import names_of
from extender.plugin.outcome import NEVER, OK, WAITS, NotServed, Problem
from extender.plugin.paths import once
from extender.plugin.printing import Result, Rows
from extender.plugin.reaching import Server, kubectl, note

Object = Mapping[str, Any]

QUEUE = "yunikorn.apache.org/queue"
"""Label that names the queue of a pod before all others (POD-5)."""


def simulate(
    server: Server,
    asked: Asked,
    filename: Annotated[
        str,
        typer.Option("-f", "--filename", help="Manifest of a pod or workload, or - for the standard input."),
    ],
    queue: Annotated[
        str,
        typer.Option(
            "-q", "--queue", help="Queue; default: that of the manifest.", autocompletion=names_of("queue")
        ),
    ] = "",
    count: Annotated[int, typer.Option("--count", help="Number of pods; default: that of the manifest.")] = 0,
) -> Result:
    """Say whether a workload would run now, or what it waits for. Creates nothing. Status as of explain."""
    workload = _workload(asked, filename)
    pod, number = pods_of(workload)
    namespace = asked.namespace or workload.get("metadata", {}).get("namespace") or server.namespace
    if queue:
        pod["metadata"].setdefault("labels", {})[QUEUE] = queue
    pod["metadata"]["namespace"] = namespace
    admitted = _admitted(asked, pod, namespace)
    body = json.dumps({"pod": admitted, "count": count or number}).encode()
    found = server.post(f"/namespaces/{once(namespace)}/explanations", body)
    name = f"{workload.get('kind', 'Pod').lower()}/{workload.get('metadata', {}).get('name', '')}"
    return Result("Simulation", [found], [name], [*_lines(found, asked)], single=True, code=_code(found))


def _workload(asked: Asked, filename: str) -> Object:
    """The only object of a manifest. kubectl reads it, so every format that it knows will do."""
    if asked.server:
        return _only(_text(filename), filename)
    given = _text(filename) if filename == "-" else None
    where = ["-f", filename, "--dry-run=client", "--validate=false", "-o", "json"]
    try:
        return _only(kubectl(asked, "create", *where, given=given), filename)
    except NotServed as error:
        raise Problem(str(error)) from None


def _text(filename: str) -> bytes:
    from extender.plugin.commands.documents import read

    return read(filename)


def _only(text: bytes, filename: str) -> Object:
    try:
        found = json.loads(text)
    except ValueError:
        raise Problem(
            f"{filename} is not one object as JSON; YAML needs kubectl, so leave out --server"
        ) from None
    if not isinstance(found, dict) or found.get("kind") == "List":
        raise Problem(f"{filename} has several objects: simulate one workload at a time")
    return found


def pods_of(workload: Object) -> tuple[dict[str, Any], int]:
    """A pod of a workload, and the number of its pods that run together. Raises `Problem`."""
    spec = workload.get("spec") or {}
    if workload.get("kind") == "Pod":
        return _pod(workload, workload), 1
    if "jobTemplate" in spec:
        return pods_of({**spec["jobTemplate"], "kind": "Job", "metadata": workload.get("metadata") or {}})
    if not isinstance(spec.get("template"), dict):
        raise Problem(f"a {workload.get('kind', 'thing')} has no pod template that is known here")
    number = spec.get("replicas", 1)
    if workload.get("kind") == "Job":
        number = min(spec.get("parallelism", 1), spec.get("completions") or spec.get("parallelism", 1))
    return _pod(spec["template"], workload), max(1, int(number))


def _pod(template: Object, workload: Object) -> dict[str, Any]:
    own = template.get("metadata") or {}
    name = (workload.get("metadata") or {}).get("name") or "simulated"
    metadata = {key: own[key] for key in ("labels", "annotations") if own.get(key)}
    spec = dict(template.get("spec") or {})
    spec.setdefault("restartPolicy", "Never")
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, **metadata}, "spec": spec}


def _admitted(asked: Asked, pod: dict[str, Any], namespace: str) -> Object:
    """The pod as the API server would store it: with its priority, defaults and owner. Nothing is created."""
    if asked.server:
        return pod
    where = ["--dry-run=server", "-n", namespace, "-o", "json", "-f", "-"]
    # A pod of that name may exist.
    metadata = {key: each for key, each in pod["metadata"].items() if key != "name"}
    generated = {**pod, "metadata": {**metadata, "generateName": f"{pod['metadata']['name']}-"}}
    try:
        found: Object = json.loads(kubectl(asked, "create", *where, given=json.dumps(generated).encode()))
    except (Problem, NotServed) as error:
        note(f"the API server does not take such a pod, so it is simulated as it is written: {error}")
        return pod
    # The API server makes up a name for each try.
    return {**found, "metadata": {**found["metadata"], "name": pod["metadata"]["name"]}}


def _lines(found: Object, asked: Asked) -> Iterator[str | Rows]:
    name = found["metadata"]
    yield f"Pod {name['namespace']}/{name['name']}"
    yield found["sentence"]
    if found.get("queue"):
        yield f"Queue: {found['queue']}, application {found.get('application', '')}"
    placed = "not known" if found.get("placed") is None else found["placed"]
    yield f"Pods: {found['pods']}, with a turn now: {placed}"
    if not found["oneMoment"]:
        yield "Something changed meanwhile, so the figures may be from different moments."
    yield from lines_about(found.get("pod") or {}, asked)


def _code(found: Object) -> int:
    """Exit code: whether all pods would run now, and whether waiting helps."""
    if found.get("placed") == found["pods"]:
        return OK
    return NEVER if is_hopeless(found) else WAITS
