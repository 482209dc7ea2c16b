"""The command `paddock`: subcommands, flags and exit codes, and the targets of the Makefile."""

import argparse
import contextlib
import http.server
import re
import socket
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from unittest import mock

from extender.cli import main
from tests.interfaces import product
from tests.interfaces.environment import no_environment, quiet

# -- commands and flags --------------------------------------------------------------------------------------


def commands() -> list[str]:
    """``COMMAND ARGUMENT…`` of every argument, with its help except for the sentences."""
    found = []
    for name in subcommands(parser_of([])):
        found.append(name)
        parser = subcommands(parser_of([name]))[name]
        found += [f"{name} {_described(each)}" for each in parser._actions if each.dest != "help"]
    return sorted(found)


def flags_of(command: str) -> dict[str, str]:
    """The flag, or flags, for each value that a subcommand reads."""
    parser = subcommands(parser_of([command]))[command]
    return {each.dest: " ".join(each.option_strings) for each in parser._actions}


def parser_of(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """The command's parser for these arguments."""
    seen: list[argparse.ArgumentParser] = []

    def parse(self: argparse.ArgumentParser, *_given: object) -> argparse.Namespace:
        seen.append(self)
        raise SystemExit

    with (
        no_environment(),
        mock.patch.object(argparse.ArgumentParser, "parse_args", parse),
        contextlib.suppress(SystemExit),
    ):
        main(arguments)
    return seen[0]


def subcommands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    (found,) = (each for each in parser._actions if isinstance(each, argparse._SubParsersAction))
    return dict(found.choices)


def _described(action: argparse.Action) -> str:
    names = [*action.option_strings] or [str(action.metavar or action.dest)]
    shown = {
        "nargs": action.nargs,
        "type": action.type.__name__ if action.type in (int, float) else None,
        "choices": ",".join(map(str, action.choices)) if action.choices else None,
        "default": action.default,
        "required": action.required or None,
    }
    return " ".join([*names, *(f"{name}={value}" for name, value in shown.items() if value is not None)])


# -- exit codes ----------------------------------------------------------------------------------------------

_QUEUES = "partitions: [{name: default, queues: [{name: root, submitacl: '*', queues: [{name: a}]}]}]\n"
_SCENARIO = """\
apiVersion: paddock.dev/v1
kind: Scenario
name: one pod
config: {partitions: [{name: default, queues: [{name: root, submitacl: '*', queues: [{name: a}]}]}]}
cluster: {nodes: [{name: n, cpu: 4, memory: 4Gi}]}
steps:
- {at: 0s, submit: [{name: p, app: x, queue: root.a, cpu: 1}]}
- {at: 5s, expect: {running: {a: RUNNING}}}
"""
_FILES = {
    "passing.yaml": _SCENARIO.replace("{a: RUNNING}", "{p: 1}"),
    "failing.yaml": _SCENARIO.replace("{a: RUNNING}", "{p: 0}"),
    "broken.yaml": _SCENARIO.replace("steps:", "stepps:"),
    "queues.yaml": _QUEUES,
    "warned.yaml": _QUEUES.replace("{name: a}", "{name: a, properties: {unheard.of: 'x'}}"),
    "wrong.yaml": _QUEUES.replace("name: a", "nme: a"),
}
_CASES = (
    "",
    "--help",
    "--version",
    "--unheard-of",
    "unheard-of",
    *(f"{command} --help" for command in ("serve", "probe", "simulate", "test", "check", "demo")),
    *(
        "test",
        "test passing.yaml",
        "test failing.yaml",
        "test broken.yaml",
        "test missing.yaml",
        "test empty",
    ),
    *("test passing.yaml failing.yaml", "test failing.yaml broken.yaml", "test --unheard-of"),
    *("simulate passing.yaml", "simulate failing.yaml", "simulate broken.yaml", "simulate missing.yaml"),
    *("check", "check queues.yaml", "check warned.yaml", "check wrong.yaml", "check missing.yaml"),
    *("check queues.yaml wrong.yaml", "check wrong.yaml missing.yaml", "check --json wrong.yaml"),
    *("probe", "probe health", "probe livez --admin-port PROBED", "probe readyz --admin-port PROBED"),
    "probe livez --admin-port CLOSED",
    *("serve --turn-lease unheard", "serve --tls-cert only", "serve --log-level loud", "serve --queues"),
    "serve --kubeconfig missing.yaml",
    *("demo --verbs-port PROBED", "demo --seconds many"),
)


def exit_codes() -> list[str]:
    """``paddock ARGUMENTS: CODE`` of each case.

    PROBED: a port with a server that is alive and not ready; CLOSED: a port without one.
    """
    with _environments() as (folder, ports), contextlib.chdir(folder), no_environment():
        return [f"paddock {case}: {_code(_placed(case, ports))}".replace(" :", ":") for case in _CASES]


def _placed(case: str, ports: dict[str, int]) -> list[str]:
    return [str(ports.get(word, word)) for word in case.split()]


def _code(arguments: list[str]) -> object:
    with quiet():
        try:
            return main(arguments)
        except SystemExit as error:
            return error.code


@contextlib.contextmanager
def _environments() -> Iterator[tuple[Path, dict[str, int]]]:
    """A folder with the files, and the ports."""
    with tempfile.TemporaryDirectory() as name, _probed() as probed, socket.socket() as closed:
        folder = Path(name)
        (folder / "empty").mkdir()
        for file, text in _FILES.items():
            (folder / file).write_text(text, encoding="utf-8")
        # Bound without listening, so the port stays closed and no other process can take it.
        closed.bind(("127.0.0.1", 0))
        yield folder, {"PROBED": probed, "CLOSED": closed.getsockname()[1]}


class _Probes(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/livez" else 503)
        self.end_headers()

    def log_message(self, *_arguments: object) -> None:
        return


@contextlib.contextmanager
def _probed() -> Iterator[int]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Probes) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


# -- make ----------------------------------------------------------------------------------------------------


def make_targets() -> list[str]:
    """Phony targets, and the variables that a caller may set, with their defaults."""
    text = product.source_of(product.ROOT / "Makefile")
    named = {name for line in re.findall(r"^\.PHONY:(.*)", text, re.MULTILINE) for name in line.split()}
    ruled = set(re.findall(r"^([a-z][a-z0-9-]*):(?!=)", text, re.MULTILINE))
    variables = re.findall(r"^([A-Z_]+ \?=.*)", text, re.MULTILINE)
    return sorted([*(f"make {name}" for name in named & ruled), *variables])
