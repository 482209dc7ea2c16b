"""The command `paddock`: arguments in, exit code out.

Modules that a single subcommand needs are imported when it runs, since a probe runs every few seconds.
"""

import argparse
import asyncio
import os
import signal
import sys
import urllib.error
import urllib.request
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

from core.errors import PaddockError
from extender.plugin.table import COMMANDS
from extender.removal.arguments import add_uninstall

OK, FAILED, USAGE = 0, 1, 2

_OWN = {"check", "simulate"}
"""Commands that have another meaning in `kubectl paddock`, where they ask the server."""

_BESIDE = f"The commands of `kubectl paddock` are here, too: {', '.join(sorted(set(COMMANDS) - _OWN))}."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Returns the exit code: 0 for success, 1 for failure, 2 for wrong arguments."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given and given[0] in set(COMMANDS) - _OWN:
        from extender.plugin.main import main as of_plugin

        return of_plugin(given)
    options = _parser(given[:1]).parse_args(given)
    try:
        run: int = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output has closed it, as `head` does. Python would report that again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    return run


def _parser(command: Sequence[str] = ("serve",)) -> argparse.ArgumentParser:
    """Build the parser. ``command``: the first argument, if any, since only `serve` has the settings."""
    parser = argparse.ArgumentParser(
        prog="paddock", description="Queues for an unmodified kube-scheduler.", epilog=_BESIDE
    )
    parser.add_argument("--version", action=_PrintVersion, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    serve = commands.add_parser("serve", help="answer kube-scheduler's calls")
    _add_serve(serve)
    if list(command) == ["serve"]:
        from extender.configuration.flags import add_settings

        add_settings(serve)
    _add_probe(commands.add_parser("probe", help="ask a running server whether it is alive or ready"))
    _add_simulate(commands.add_parser("simulate", help="play a scenario without a cluster"))
    _add_test(commands.add_parser("test", help="play scenarios and compare the results with expectations"))
    _add_check(commands.add_parser("check", help="report errors and surprises in queue documents"))
    add_uninstall(commands.add_parser("uninstall", help="take Paddock out of a cluster, step by step"))
    _add_demo(commands.add_parser("demo", help="serve a played cluster for a minute: two tenants, one day"))
    return parser


class _PrintVersion(argparse.Action):
    """Print the version and exit. The version is only looked up when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from extender.version import version

        print(f"paddock {version()}")
        parser.exit()


def _add_serve(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_serve)
    _add_listener(parser, "verbs", 10290, "kube-scheduler's calls")
    _add_listener(parser, "admin", 10291, "probes, metrics and stories")
    parser.add_argument("--tls-cert", metavar="FILE", help="certificate, to serve the verbs over mutual TLS")
    parser.add_argument("--tls-key", metavar="FILE", help="key of that certificate")
    parser.add_argument(
        "--tls-client-ca",
        metavar="FILE",
        help="authorities that sign the callers' certificates",
    )
    parser.add_argument(
        "--tls-client-secret",
        metavar="NAME",
        help="Secret for kube-scheduler's certificate, if Paddock makes and renews those of both sides",
    )
    parser.add_argument(
        "--serving-address",
        metavar="ADDRESS",
        default="0.0.0.0",  # noqa: S104 - both ask for a login
        help="address of the REST port and of the aggregated API (default: %(default)s)",
    )
    parser.add_argument(
        "--serving-cert",
        metavar="FILE",
        help="certificate of both (default: a certificate that Paddock makes and renews)",
    )
    parser.add_argument("--serving-key", metavar="FILE", help="key of that certificate")
    parser.add_argument(
        "--serving-ca",
        metavar="FILE",
        help="authority of that certificate, by which instances know each other",
    )
    parser.add_argument(
        "--kubeconfig",
        metavar="FILE",
        help="access to the cluster (default: the pod's service account, else $KUBECONFIG)",
    )
    parser.add_argument(
        "--namespace",
        metavar="NAME",
        default=os.environ.get("NAMESPACE", "default"),
        help="namespace of the ConfigMaps (default: $NAMESPACE, here %(default)s)",
    )
    parser.add_argument(
        "--queues", metavar="FILE", type=Path, help="a queues.yaml to watch instead of the ConfigMaps"
    )
    parser.add_argument(
        "--log-level",
        choices=["info", "debug"],
        default="info",
        help="log decisions that repeat the last one for their pod only with debug (default: %(default)s)",
    )


def _add_listener(parser: argparse.ArgumentParser, name: str, port: int, served: str) -> None:
    parser.add_argument(
        f"--{name}-address",
        metavar="ADDRESS",
        default="127.0.0.1",
        help=f"address that listens for {served} (default: %(default)s)",
    )
    _add_port(parser, name, port, f"port of that listener (default: {port})")


def _add_port(parser: argparse.ArgumentParser, name: str, port: int, meaning: str) -> None:
    parser.add_argument(f"--{name}-port", metavar="PORT", type=int, default=port, help=meaning)


def _add_probe(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_probe)
    parser.add_argument("path", choices=["livez", "readyz"], help="the question: alive, or ready")
    _add_port(parser, "admin", 10291, "the server's admin port (default: %(default)s)")


def _add_simulate(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_simulate)
    parser.add_argument("file", type=Path, help="a scenario file")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument("--html", type=Path, metavar="OUT", help="write a page that shows the results")


def _add_test(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_test)
    parser.add_argument("paths", type=Path, nargs="+", metavar="PATH", help="a scenario file or a folder")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write the results as JUnit XML")


def _add_demo(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_demo)
    parser.add_argument(
        "--seconds",
        type=float,
        default=60.0,
        help="length of the day (default: %(default)s)",
    )
    parser.add_argument(
        "--html",
        type=Path,
        default=Path("paddock-demo.html"),
        metavar="OUT",
        help="page that shows the day (default: %(default)s)",
    )
    _add_port(parser, "verbs", 10290, "port of the verbs, 0 for a free one (default: %(default)s)")
    _add_port(parser, "admin", 10291, "admin port, 0 for a free one (default: %(default)s)")


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_check)
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="a queue document, a manifest with ConfigMaps or a KubeSchedulerConfiguration, each checked by "
        "itself. - is the standard input",
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument(
        "--from",
        dest="system",
        choices=["yunikorn-helm", "kueue", "elasticquota"],
        help="convert values of YuniKorn's chart, or quotas of Kueue or scheduler-plugins, and check that",
    )


def _check(arguments: argparse.Namespace) -> int:
    """Run `paddock check`. Exit code 0 without errors, 1 with errors, 2 for a file that cannot be read."""
    from extender.checking.verdict import check_text, json_of, lines_of

    if arguments.system:
        from extender.checking.converting import convert_files

        return convert_files(arguments.system, arguments.files)
    verdicts, code = [], OK
    for file in arguments.files:
        try:
            text = _bytes_of(file)
        except OSError as error:
            print(f"paddock check: {_printable(file)}: {error.strerror}", file=sys.stderr)
            code = USAGE
        else:
            name = "standard input" if file == "-" else _printable(file)
            verdicts.append(check_text(text, name=name))
    if arguments.json and verdicts:
        print(json_of(verdicts))
    elif verdicts:
        print("\n".join(line for verdict in verdicts for line in lines_of(verdict)))
    return code or (OK if all(verdict.right for verdict in verdicts) else FAILED)


def _bytes_of(file: str) -> bytes:
    """Contents of a file, or slightly more than the reader of documents accepts."""
    from extender.queueconfig.document import MAX_BYTES

    if file == "-":
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    with Path(file).open("rb") as stream:
        return stream.read(MAX_BYTES + 1)


def _printable(name: str) -> str:
    """A file's name as text, with bytes that are not text escaped."""
    return name.encode("utf-8", "backslashreplace").decode()


def _demo(arguments: argparse.Namespace) -> int:
    from extender.demo import Demo, run_demo

    demo = Demo(arguments.seconds, arguments.html, arguments.verbs_port, arguments.admin_port)
    try:
        run_demo(demo, lambda line: print(line, flush=True))
    except OSError as error:
        print(f"paddock demo: {error}", file=sys.stderr)
        return FAILED
    return OK


def _simulate(arguments: argparse.Namespace) -> int:
    from extender.simulator.commands import simulate

    return simulate(arguments)


def _test(arguments: argparse.Namespace) -> int:
    from extender.simulator.commands import test

    return test(arguments)


def _serve(arguments: argparse.Namespace) -> int:
    from extender.host.garbage_collector import without_collections

    with without_collections():
        from extender.app import Options, serve
        from extender.configuration.certificate_flags import (
            client_secret_from,
            serving_files_from,
            tls_files_from,
        )
        from extender.front_door import DoorPlaces
        from extender.http.access.mutual_tls import MutualTls
        from extender.http.access.rotating_tls import ServingFiles
        from extender.http.server import Address
        from extender.telemetry.logs import configure_logs

    try:
        overrides, tls = _overrides(arguments), tls_files_from(arguments)
        files, client_secret = serving_files_from(arguments), client_secret_from(arguments)
    except (PaddockError, ValueError) as error:
        print(f"paddock: {error}", file=sys.stderr)
        return USAGE
    options = Options(
        verbs=Address(arguments.verbs_address, arguments.verbs_port),
        admin=Address(arguments.admin_address, arguments.admin_port),
        tls=MutualTls(*tls) if tls else None,
        client_secret=client_secret,
        kubeconfig=arguments.kubeconfig,
        namespace=arguments.namespace,
        queues=arguments.queues,
        overrides=overrides,
        door=DoorPlaces(
            arguments.serving_address, ServingFiles(*files) if files else None, arguments.namespace
        ),
        log_level=arguments.log_level,
    )
    log = configure_logs(debug=arguments.log_level == "debug")
    failures = _run(_until_signalled(serve(options, log)))
    if failures:
        log.error("Paddock cannot run and exits", errors=failures)
    return FAILED if failures else OK


def _run(work: Coroutine[Any, Any, None]) -> list[str]:
    """Run a coroutine. Returns the errors of configuration and environment, a sentence each."""
    from extender.app import StartError

    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(work)
    except* (PaddockError, StartError, OSError) as group:
        failures = [str(error) for error in _leaves(group)]
    else:
        return []
    return failures


def _leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    found: list[BaseException] = []
    for error in group.exceptions:
        found += _leaves(error) if isinstance(error, BaseExceptionGroup) else [error]
    return found


async def _until_signalled(work: Coroutine[Any, Any, None]) -> None:
    """Run until SIGTERM or SIGINT, then cancel the work and wait for its end."""
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        return


def _loop_factory() -> Any:
    """The loop of uvloop if it is installed, which costs less per call and makes TLS cheap, else None."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _overrides(arguments: argparse.Namespace) -> dict[str, Any]:
    """Settings from flags and environment. Raises `SettingsError` if one is invalid."""
    from extender.configuration.flags import environment_from
    from extender.configuration.settings import Settings, settings_from

    flags = {name: value for name in Settings.model_fields if (value := getattr(arguments, name)) is not None}
    overrides = {**environment_from(os.environ), **flags}
    settings_from({}, overrides)
    return overrides


def _probe(arguments: argparse.Namespace) -> int:
    """Run `paddock probe`, an exec probe for the kubelet. The admin port can thus stay on loopback."""
    url = f"http://127.0.0.1:{arguments.admin_port}/{arguments.path}"
    try:
        with urllib.request.urlopen(url, timeout=3) as answer:
            return OK if answer.status == 200 else FAILED
    except (urllib.error.URLError, OSError) as error:
        print(f"paddock: {arguments.path}: {error}", file=sys.stderr)
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
