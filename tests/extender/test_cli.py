"""The command `paddock`: exit codes, messages about wrong arguments, probes, and signals."""

import asyncio
import io
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from extender import cli
from extender.app import Options
from extender.version import version
from tests.extender.app_bench import Server, document, kubeconfig, server, undone, unused_port
from tests.extender.fake_api import FakeApi

__all__ = ["kubeconfig", "server", "undone"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "COMMAND"),
        (["frob"], "invalid choice"),
        (["probe"], "path"),
        (["probe", "healthz"], "invalid choice"),
        (["probe", "livez", "--admin-port", "many"], "invalid int"),
        (["check"], "FILE"),
        (["serve", "--frob"], "unrecognized arguments"),
        (["serve", "--verbs-port", "many"], "invalid int"),
        (["serve", "--turn-lease", "soon"], "paddock.turn.lease: must be a duration"),
        (["serve", "--lease", "nobody"], "paddock.lease: must be empty or namespace/name"),
        (["serve", "--tls-cert", "x"], "go together"),
        (
            ["serve", "--tls-cert=a", "--tls-key=b", "--tls-client-ca=c", "--tls-client-secret=d"],
            "either --tls-client-secret, or --tls-cert, --tls-key and --tls-client-ca",
        ),
        *(
            (["serve", f"--tls-client-secret={name}"], f"{name!r} is no name that this Secret may have")
            for name in ("", "A b", "../x", "paddock-serving", "paddock-authority")
        ),
    ],
)
def test_usage_errors_exit_2(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code: object = cli.main(arguments)
    except SystemExit as stop:
        code = stop.code
    assert code == 2
    assert says in capsys.readouterr().err


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"paddock {version()}\n"
    assert version()[0].isdigit()


def test_a_bad_variable_is_a_usage_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PADDOCK_RESERVATION_TTL", "0s")
    assert cli.main(["serve"]) == 2
    assert "paddock.reservation.ttl: must be above zero" in capsys.readouterr().err


def serve_arguments(kubeconfig: str, *more: str) -> list[str]:
    ports = "--verbs-port", str(unused_port()), "--admin-port", str(unused_port())
    return ["serve", "--kubeconfig", kubeconfig, "--namespace", "paddock-system", *ports, *more]


@pytest.mark.rule("SRC-1")
@pytest.mark.parametrize(("variable", "namespace"), [("queues", "queues"), (None, "default")])
def test_the_maps_are_in_the_namespace_of_the_variable(
    variable: str | None, namespace: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NAMESPACE", raising=False)
    if variable is not None:
        monkeypatch.setenv("NAMESPACE", variable)
    started = []

    async def serve(options: Options, _log: object) -> None:
        started.append(options.namespace)

    monkeypatch.setattr("extender.app.serve", serve)
    assert cli.main(["serve"]) == 0
    assert started == [namespace]


@pytest.mark.rule("SRC-10")
@pytest.mark.parametrize("queues", ["partitions: [", None], ids=["not YAML", "no file"])
def test_a_first_configuration_that_is_bad_exits_1(
    queues: str | None,
    tmp_path: Path,
    kubeconfig: Callable[[FakeApi], str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "queues.yaml"
    if queues is not None:
        path.write_text(queues)
    # No process listens there: a file's configuration is read without the API server.
    assert cli.main(serve_arguments(kubeconfig(FakeApi()), "--queues", str(path))) == 1
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["event"] == "Paddock cannot run and exits"
    assert len(last["errors"]) == 1


def test_a_kubeconfig_that_is_missing_exits_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(serve_arguments(str(tmp_path / "nowhere"))) == 1
    assert "cannot run" in capsys.readouterr().out


def test_a_probe_without_an_answer_exits_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["probe", "livez", "--admin-port", str(unused_port())]) == 1
    assert "livez" in capsys.readouterr().err


async def test_a_probe_of_a_server(server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    port = ["--admin-port", str(server.admin)]
    server.configure(document())
    server.api.fail_next(500, path="/api/v1/pods", watch=False, times=1)
    server.start()
    await server.until_shown("/readyz", "[-]")
    assert await asyncio.to_thread(cli.main, ["probe", "livez", *port]) == 0
    assert server.app is not None
    async with asyncio.timeout(5):
        await server.app.synced.wait()
    assert await asyncio.to_thread(cli.main, ["probe", "readyz", *port]) == 0


async def test_a_probe_that_finds_it_not_ready_exits_1(server: Server) -> None:
    server.configure(document())
    server.api.fail_next(500, path="/api/v1/pods", watch=False, times=10**6)
    server.start()
    await server.until_shown("/readyz", "[-]")
    arguments = ["probe", "readyz", "--admin-port", str(server.admin)]
    assert await asyncio.to_thread(cli.main, arguments) == 1


async def test_a_probe_does_not_load_the_server() -> None:
    code = (
        "import sys; from extender import cli; cli.main(['probe', 'livez', '--admin-port', '1']);"
        "print(sorted({'aiohttp', 'pydantic', 'msgspec', 'extender.app'} & set(sys.modules)))"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    out, _ = await process.communicate()
    assert out == b"[]\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_process_from_start_to_signal(
    server: Server, kubeconfig: Callable[[FakeApi], str], number: int
) -> None:
    server.configure(document())
    arguments = serve_arguments(kubeconfig(server.api))
    server.admin = int(arguments[arguments.index("--admin-port") + 1])
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "extender.cli", *arguments, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(60):
            while b'"Paddock is ready"' not in (line := await process.stdout.readline()):
                assert line, "it ended before it was ready"
        assert (await server.get("/readyz"))[0] == 200
        process.send_signal(number)
        async with asyncio.timeout(5):
            rest = await process.stdout.read()
            assert await process.wait() == 0
        assert b"cannot run" not in rest
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


# -- check ---------------------------------------------------------------------------------------------------

RIGHT = "partitions: [{queues: [{name: root, submitacl: '*'}]}]\n"
SURPRISING = RIGHT.replace("'*'", "''")
WRONG = "partitions: [{}]\n"


def written(folder: Path, **files: str) -> list[str]:
    for name, text in files.items():
        (folder / name).write_text(text)
    return [str(folder / name) for name in files]


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        (RIGHT, 0, ": no problems"),
        (SURPRISING, 0, ": no problems, 1 warning"),
        (WRONG, 1, ": partitions[0].queues (line 1): queue config is not set"),
        ("kind: ConfigMap\ndata: {paddock.turn.lease: x}\n", 1, "must be a duration"),
    ],
)
def test_check_says_what_it_found(
    text: str, code: int, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (file,) = written(tmp_path, queues=text)
    assert cli.main(["check", file]) == code
    shown = capsys.readouterr()
    assert shown.out.startswith(f"{file}: ")
    assert says in shown.out
    assert shown.err == ""


def test_check_of_the_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(WRONG.encode())))
    assert cli.main(["check", "--json", "-"]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert shown["name"] == "standard input"
    assert [each["rule"] for each in shown["problems"]] == ["CFG-5"]


def test_check_of_what_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in (str(tmp_path / "nowhere"), str(tmp_path), "\udcff"):
        assert cli.main(["check", name]) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        assert shown.err.startswith("paddock check: ")


def test_check_of_several_files_is_each_by_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right, wrong = written(tmp_path, right=RIGHT, wrong=WRONG)
    assert cli.main(["check", right, wrong]) == 1
    names = [line.split(": ")[0] for line in capsys.readouterr().out.splitlines()]
    assert list(dict.fromkeys(names)) == [right, wrong]
    assert cli.main(["check", right, str(tmp_path / "nowhere"), wrong, "--json"]) == 2
    assert [each["name"] for each in json.loads(capsys.readouterr().out)] == [right, wrong]


def test_check_reads_no_more_than_it_may(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "huge"
    with path.open("wb") as stream:
        stream.truncate(2**34)
    assert cli.main(["check", str(path)]) == 1
    assert "larger than 16 MiB" in capsys.readouterr().out


def test_a_reader_that_stops_early_is_no_error() -> None:
    """As with ``paddock simulate FILE | head -1``."""
    scenario = Path(__file__).parents[1] / "scenarios" / "order-of-eleven-steps.yaml"
    paddock = "from extender.cli import main; raise SystemExit(main())"
    command = f"{sys.executable} -c '{paddock}' simulate {scenario} | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["/bin/bash", "-c", command], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
