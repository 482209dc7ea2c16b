"""The command `paddock`: arguments in, exit code out."""

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
from extender.app import Options, StartError, serve
from extender.http.server import Address, MutualTls
from extender.settings import Settings, environment_from, settings_from
from extender.telemetry.logs import Logger, configure_logs

OK, FAILED, USAGE = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit codes: 0 ended as asked, 1 failed, 2 the arguments are wrong."""
    options = _parser().parse_args(arguments)
    run: int = options.run(options)
    return run


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="paddock", description="Queues for an unmodified kube-scheduler.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_serve(commands.add_parser("serve", help="answer kube-scheduler's calls"))
    _add_probe(commands.add_parser("probe", help="ask a running server whether it is alive or ready"))
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
    for name, field in Settings.model_fields.items():
        parser.add_argument(f"--{name.replace('_', '-')}", dest=name, metavar="TEXT", help=f"{field.alias}")


def _add_probe(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(run=_probe)
    parser.add_argument("path", choices=["livez", "readyz"])
    parser.add_argument("--admin-port", type=int, default=10291)


def _serve(arguments: argparse.Namespace) -> int:
    log = configure_logs(debug=arguments.log_level == "debug")
    try:
        options = _options(arguments)
    except (PaddockError, ValueError) as error:
        print(f"paddock: {error}", file=sys.stderr)
        return USAGE
    return _run(_until_told(serve(options, log)), log)


def _run(work: Coroutine[Any, Any, None], log: Logger) -> int:
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(work)
    except* (PaddockError, StartError, OSError) as group:
        failures = [str(error) for error in _leaves(group)]
    else:
        return OK
    log.error("cannot run", errors=failures)
    return FAILED


def _leaves(group: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    found: list[BaseException] = []
    for error in group.exceptions:
        found += _leaves(error) if isinstance(error, BaseExceptionGroup) else [error]
    return found


async def _until_told(work: Coroutine[Any, Any, None]) -> None:
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


def _options(arguments: argparse.Namespace) -> Options:
    flags = {name: value for name in Settings.model_fields if (value := getattr(arguments, name)) is not None}
    overrides = {**environment_from(os.environ), **flags}
    settings_from({}, overrides)
    return Options(
        verbs=Address(arguments.verbs_address, arguments.verbs_port),
        admin=Address(arguments.admin_address, arguments.admin_port),
        tls=_tls(arguments),
        kubeconfig=arguments.kubeconfig,
        namespace=arguments.namespace,
        queues=arguments.queues,
        overrides=overrides,
    )


def _tls(arguments: argparse.Namespace) -> MutualTls | None:
    files = (arguments.tls_cert, arguments.tls_key, arguments.tls_client_ca)
    if not any(files):
        return None
    if not all(files):
        raise ValueError("--tls-cert, --tls-key and --tls-client-ca go together")
    return MutualTls(*files)


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
