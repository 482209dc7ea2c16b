"""A server with fixed answers for `kubectl paddock`, and a run of the command. No tests live here."""

import json
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from extender.plugin.main import main

HOSTILE = "\x1b]0;x\x07[red]"
"""Id of an application that would set a terminal's title and a colour."""

BIDI = "\u202eevil"
NOW = 1_800_000_000
_NANO = 10**9


def queue(path: str, **members: Any) -> dict[str, Any]:
    return {
        "queuename": path,
        "status": "Active",
        "partition": "default",
        "maxResource": {"vcore": 4000, "memory": 8 << 30},
        "allocatedResource": {"vcore": 2500, "memory": 4 << 30},
        "isLeaf": True,
        "isManaged": True,
        "sortingPolicy": "fifo",
        "prioritySorting": True,
        "preemptionEnabled": True,
        "isPreemptionFence": False,
        "preemptionDelay": "30s",
        "runningApps": 1,
        **members,
    }


def application(name: str, **members: Any) -> dict[str, Any]:
    tags = {"kubernetes.io/meta/namespace": "default", "kubernetes.io/meta/podName": "waiting"}
    refused = {"message": "QuotaExceeded: root.a", "lastOccurrence": NOW * _NANO, "count": 2}
    return {
        "applicationID": name,
        "namespace": "default",
        "partition": "default",
        "queueName": "root.a",
        "submissionTime": (NOW - 7200) * _NANO,
        "applicationState": "Running",
        "user": BIDI,
        "usedResource": {"vcore": 1000},
        "requests": [
            {
                "allocationKey": "uid",
                "allocationTags": tags,
                "requestTime": (NOW - 90) * _NANO,
                "resource": {"vcore": 500},
                "allocationLog": [refused],
            }
        ],
        "stateLog": [{"time": (NOW - 7200) * _NANO, "applicationState": "Accepted"}],
        **members,
    }


EXPLANATION = {
    "kind": "Explanation",
    "apiVersion": "paddock.dev/v1alpha1",
    "metadata": {"namespace": "default", "name": "waiting"},
    "of": "pod",
    "at": "2027-01-15T08:00:00Z",
    "namesOthers": False,
    "oneMoment": True,
    "sentence": "QuotaExceeded: root.a max vcore=4",
    "queue": "root.a",
    "pod": {
        "pod": {"namespace": "default", "name": "waiting"},
        "standing": "pending",
        "sentence": "QuotaExceeded: root.a max vcore=4",
        "obstacles": [
            {
                "code": "QuotaExceeded",
                "subject": "root.a",
                "text": "root.a may use 4 cpu",
                "limit": {
                    "kind": "queue",
                    "queue": "root.a",
                    "resource": "vcore",
                    "max": 4000,
                    "needed": 2000,
                    "free": 1500,
                    "short": 500,
                },
                "holders": [
                    {"queue": "root.a", "count": 2, "amount": 1500},
                    {"queue": "root.a", "namespace": "default", "name": HOSTILE, "amount": 1000},
                ],
            }
        ],
        "before": [
            {"why": "priority", "queue": "root.a", "namespace": "default", "application": HOSTILE, "pods": 3}
        ],
        "preemption": {
            "stop": "QueueNotBelowGuarantee",
            "law": "LAW-4",
            "queue": "root.a",
            "resource": "vcore",
        },
        "remedies": {
            "remedy": "found",
            "changes": [
                {"text": "raise the max of root.a by 500m cpu"},
                {"text": "end 1 pod", "ended": [{"queue": "root.a"}]},
            ],
            "trials": 3,
        },
    },
}

SIMULATION = {
    "kind": "Simulation",
    "apiVersion": "paddock.dev/v1alpha1",
    "metadata": {"namespace": "default", "name": f"{BIDI}-0"},
    "at": "2027-01-15T08:00:00Z",
    "namesOthers": False,
    "oneMoment": False,
    "sentence": "1 of 3 pods would get a turn now, and the next waits: root.a may use 4 cpu",
    "queue": "root.a",
    "application": HOSTILE,
    "pods": 3,
    "placed": 1,
    "pod": EXPLANATION["pod"],
}

_P = "/ws/v1/partition/default"
_NODE = {
    "nodeID": "n1",
    "attributes": {},
    "capacity": {"vcore": 8000},
    "allocated": {"vcore": 2500, "memory": 4 << 30},
    "occupied": {"vcore": 500},
    "available": {"vcore": 5000, "memory": -(1 << 30)},
    "schedulable": True,
    "isReserved": False,
}
_USAGE = {
    "queuePath": "root",
    "resourceUsage": {"vcore": 2500},
    "runningApplications": ["a"],
    "maxApplications": 2,
}
_RECORD = {
    "type": 2,
    "objectID": HOSTILE,
    "message": "App \u202e added",
    "timestampNano": NOW * _NANO,
    "eventChangeType": 2,
    "eventChangeDetail": 200,
    "resource": {},
}
_CHECKS = [
    {"Name": "Consistency", "Succeeded": True, "Description": "Sums of the ledger are exact"},
    {"Name": "Errors", "Succeeded": False, "DiagnosisMessage": "2 failed"},
]

ANSWERS: dict[str, Any] = {
    f"{_P}/queues": queue(
        "root", isLeaf=False, children=[queue("root.a", parent="root"), queue("root.b", parent="root")]
    ),
    f"{_P}/queue/root": queue("root", isLeaf=False),
    f"{_P}/queue/root.a": queue("root.a", parent="root", headroom={"vcore": 1500}),
    f"{_P}/queue/root.a/applications": [application("spark-1"), application(HOSTILE)],
    f"{_P}/applications/active": [application("spark-1"), application(HOSTILE)],
    f"{_P}/application/spark-1": application("spark-1"),
    f"{_P}/nodes": [_NODE],
    f"{_P}/usage/users": [{"userName": BIDI, "queues": _USAGE}],
    f"{_P}/usage/groups": [],
    "/ws/v1/config": {"Partitions": [], "Checksum": "AB", "Extra": {}},
    "/ws/v1/clusters": [{"startTime": NOW * _NANO, "rmBuildInformation": [{"buildVersion": "0.1.0"}]}],
    "/ws/v1/partitions": [
        {"totalNodes": 1, "totalContainers": 3, "applications": {"Running": 2, "total": 2}}
    ],
    "/ws/v1/scheduler/healthcheck": {"Healthy": False, "HealthChecks": _CHECKS},
    "/ws/v1/events/batch": {"InstanceUUID": "u", "LowestID": 0, "HighestID": 0, "EventRecords": [_RECORD]},
    "/ws/v1/validate-conf": {"allowed": False, "reason": "queue \x1b[31mroot.a: no such thing"},
    "/debug/preemptions": {
        "preemptions": [
            {
                "at": "2027-01-15T08:00:00.000+00:00",
                "pod": "default/waiting",
                "refused": "NoNode",
                "law": "LAW-2",
            }
        ]
    },
    "/apis/paddock.dev/v1alpha1/namespaces/default/explanations/waiting": EXPLANATION,
    "/apis/paddock.dev/v1alpha1/namespaces/default/explanations": SIMULATION,
}


_KUBECTL = """#!{python}
import json, pathlib, sys
pathlib.Path({sent!r}).write_text(json.dumps([sys.argv[1:], json.load(sys.stdin)]))
found = json.loads({answer!r})
if isinstance(found, str):
    sys.exit(found)
print(json.dumps(found))
"""


def played_kubectl(folder: Path, answer: Any) -> Path:
    """A kubectl that prints an answer, or fails with a text. It writes what it was given to ``sent``."""
    program = folder / "kubectl"
    text = _KUBECTL.format(python=sys.executable, sent=str(folder / "sent"), answer=json.dumps(answer))
    program.write_text(text)
    program.chmod(0o755)
    return program


@dataclass
class Fixed:
    """A server on loopback. ``asked``: paths with their queries. ``posted``: bodies."""

    url: str
    asked: list[str]
    posted: list[bytes]


@contextmanager
def answering(answers: Mapping[str, Any] | None = None) -> Iterator[Fixed]:
    """Serve fixed answers by path; 404 for every other path."""
    found = ANSWERS if answers is None else answers
    asked: list[str] = []
    posted: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            path = self.path.partition("?")[0]
            status = 200 if path in found else 404
            body = json.dumps(found.get(path, {"message": "Queue not \x1b[2Jfound"})).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            posted.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield Fixed(f"http://127.0.0.1:{server.server_address[1]}", asked, posted)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command."""
    code = main(arguments)
    shown = capsys.readouterr()
    return code, shown.out, shown.err
