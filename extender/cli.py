"""The command `paddock`: arguments in, exit code out.

A probe runs every few seconds beside the server: whatever only the server needs is imported where it starts.
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

OK, FAILED, USAGE = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes: 0 ended as asked, 1 failed, 2 the arguments are wrong."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    options = _parser(given[:1]).parse_args(given)
    try:
        run: int = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read along has had enough, as `head` does. What Python still holds must not be told again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    return run


def _parser(command: Sequence[str] = ("serve",)) -> argparse.ArgumentParser:
    """``command``: the first argument, if there is one; only `serve` takes the settings as flags."""
    parser = argparse.ArgumentParser(prog="paddock", description="Queues for an unmodified kube-scheduler.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    serve = commands.add_parser("serve", help="answer kube-scheduler's calls")
    _add_serve(serve)
    if list(command) == ["serve"]:
        _add_settings(serve)
    _add_probe(commands.add_parser("probe", help="ask a running server whether it is alive or ready"))
    _add_simulate(commands.add_parser("simulate", help="play a scenario without a cluster"))
    _add_test(commands.add_parser("test", help="play scenarios and compare with what they expect"))
    _add_check(commands.add_parser("check", help="say all that is wrong or surprising in queues"))
    _add_demo(commands.add_parser("demo", help="serve a played cluster for a minute: two tenants, one day"))
    return parser


def _add_serve(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_serve)
    parser.add_argument("--verbs-address", default="127.0.0.1", help="where kube-scheduler's calls arrive")
    parser.add_argument("--verbs-port", type=int, default=10290)
    parser.add_argument("--admin-address", default="127.0.0.1", help="probes, metrics and stories")
    parser.add_argument("--admin-port", type=int, default=10291)
    parser.add_argument("--tls-cert", help="serve the verbs over mutual TLS: certificate file")
    parser.add_argument("--tls-key", help="its key file")
    parser.add_argument("--tls-client-ca", help="authority that signs the callers' certificates")
    parser.add_argument("--kubeconfig", help="default: the pod's service account, else $KUBECONFIG")
    parser.add_argument(
        "--namespace", default=os.environ.get("NAMESPACE", "default"), help="where the ConfigMaps are"
    )
    parser.add_argument("--queues", type=Path, help="a queues.yaml to follow instead of the ConfigMaps")
    parser.add_argument("--log-level", choices=["info", "debug"], default="info")


def _add_settings(parser: argparse.ArgumentParser) -> None:
    from extender.configuration.settings import Settings

    for name, field in Settings.model_fields.items():
        parser.add_argument(f"--{name.replace('_', '-')}", dest=name, metavar="TEXT", help=f"{field.alias}")


def _add_probe(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_probe)
    parser.add_argument("path", choices=["livez", "readyz"])
    parser.add_argument("--admin-port", type=int, default=10291)


def _add_simulate(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_simulate)
    parser.add_argument("file", type=Path, help="a scenario file")
    parser.add_argument("--json", action="store_true", help="print what happened as data")
    parser.add_argument("--html", type=Path, metavar="OUT", help="write a page that shows it")


def _add_test(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_test)
    parser.add_argument("paths", type=Path, nargs="+", metavar="PATH", help="a scenario file or a folder")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write the outcomes as JUnit XML")


def _add_demo(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_demo)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long the day takes")
    parser.add_argument("--html", type=Path, default=Path("paddock-demo.html"), metavar="OUT")
    parser.add_argument("--verbs-port", type=int, default=10290, help="0: any that is free")
    parser.add_argument("--admin-port", type=int, default=10291, help="0: any that is free")


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_check)
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="a queue document, a manifest with ConfigMaps or a KubeSchedulerConfiguration, each by itself; "
        "- is the standard input",
    )
    parser.add_argument("--json", action="store_true", help="print what is found as data")


def _check(arguments: argparse.Namespace) -> int:
    """0 right, warnings or not; 1 problems; 2 a file that cannot be read."""
    from extender.checking.verdict import check_text, json_of, lines_of

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
    """A file's bytes, or a few more than may be read of one: the reader refuses those."""
    from extender.queueconfig.document import MAX_BYTES

    if file == "-":
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    with Path(file).open("rb") as stream:
        return stream.read(MAX_BYTES + 1)


def _printable(name: str) -> str:
    """A file's name may have bytes that are no text."""
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
    from extender.app import Options, serve
    from extender.http.server import Address, MutualTls
    from extender.telemetry.logs import configure_logs

    try:
        overrides, tls = _overrides(arguments), _tls_files(arguments)
    except (PaddockError, ValueError) as error:
        print(f"paddock: {error}", file=sys.stderr)
        return USAGE
    options = Options(
        verbs=Address(arguments.verbs_address, arguments.verbs_port),
        admin=Address(arguments.admin_address, arguments.admin_port),
        tls=MutualTls(*tls) if tls else None,
        kubeconfig=arguments.kubeconfig,
        namespace=arguments.namespace,
        queues=arguments.queues,
        overrides=overrides,
    )
    log = configure_logs(debug=arguments.log_level == "debug")
    failures = _run(_until_signalled(serve(options, log)))
    if failures:
        log.error("cannot run", errors=failures)
    return FAILED if failures else OK


def _run(work: Coroutine[Any, Any, None]) -> list[str]:
    """Run to the end; what went wrong with the world or the configuration, one sentence each."""
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
    """Run until SIGTERM or SIGINT, then end in good order."""
    task = asyncio.ensure_future(work)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        return


def _loop_factory() -> Any:
    """uvloop when it is installed: less work per call, and the only cheap TLS."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _overrides(arguments: argparse.Namespace) -> dict[str, Any]:
    """The settings that flags and environment give. Raises `SettingsError` for one that cannot be read."""
    from extender.configuration.settings import Settings, environment_from, settings_from

    flags = {name: value for name in Settings.model_fields if (value := getattr(arguments, name)) is not None}
    overrides = {**environment_from(os.environ), **flags}
    settings_from({}, overrides)
    return overrides


def _tls_files(arguments: argparse.Namespace) -> tuple[str, str, str] | None:
    """Certificate, key and client authority. Raises ValueError for some of the three without the others."""
    files = (arguments.tls_cert, arguments.tls_key, arguments.tls_client_ca)
    if not any(files):
        return None
    if not all(files):
        raise ValueError("--tls-cert, --tls-key and --tls-client-ca go together")
    return files


def _probe(arguments: argparse.Namespace) -> int:
    """For an exec probe, so that the admin port can stay on loopback."""
    url = f"http://127.0.0.1:{arguments.admin_port}/{arguments.path}"
    try:
        with urllib.request.urlopen(url, timeout=3) as answer:
            return OK if answer.status == 200 else FAILED
    except (urllib.error.URLError, OSError) as error:
        print(f"paddock: {arguments.path}: {error}", file=sys.stderr)
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
