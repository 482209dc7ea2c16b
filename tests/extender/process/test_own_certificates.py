"""A whole server that makes the certificates of the verbs' port: readiness, metrics, and what it logs."""

import base64
import ssl
from pathlib import Path

import pytest

from extender.certificates import keeper
from extender.certificates.authority import CLIENT_LIFETIME
from extender.certificates.keeper import AUTHORITY_SECRET
from tests.extender.app_bench import Server, document, kubeconfig, server, undone
from tests.extender.rigs import filter_body

__all__ = ["kubeconfig", "server", "undone"]

SECRETS = "/api/v1/namespaces/paddock-system/secrets"
CLIENT = "paddock-client-tls"
RENEWED = "kube-scheduler needs a restart if it started before its certificate was made"


def files(server: Server, name: str) -> dict[str, str]:
    found = server.api.find(SECRETS, name)
    assert found is not None
    return {key: base64.b64decode(value).decode() for key, value in found["data"].items()}


async def asked(server: Server, folder: Path) -> int:
    """Status of a filter call with the files of kube-scheduler's Secret."""
    for name, text in files(server, CLIENT).items():
        (folder / name).write_text(text)
    context = ssl.create_default_context(cafile=folder / "ca.crt")
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    url = f"https://127.0.0.1:{server.verbs}/v1/filter"
    async with server.session.post(url, data=filter_body("p"), ssl=context) as response:
        return response.status


def number(metrics: str, name: str) -> float:
    (line,) = [each for each in metrics.splitlines() if each.startswith(f"{name} ")]
    return float(line.split()[1])


async def test_it_is_ready_once_the_port_has_a_certificate(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "TRIED_EVERY", 0.01)
    server.configure(document())
    refusal = 10**6
    server.api.fail_next(403, path=SECRETS, times=refusal)
    await server.started(client_secret=CLIENT)
    shown = await server.until_shown("/readyz", "[-] certificates", "403")
    assert "[+] synced ok" in shown
    server.api._faults.clear()
    await server.until_shown("/readyz", "ok\n")
    await server.until_shown("/readyz?verbose", "certificate of kube-scheduler: made 20", "restart")
    assert await asked(server, tmp_path) == 200


async def test_metrics_and_one_line_of_the_log_say_when_the_clients_certificate_ends(
    server: Server, tmp_path: Path
) -> None:
    server.configure(document())
    await server.started(client_secret=CLIENT)
    await server.until_shown("/readyz?verbose", "certificate of kube-scheduler: made 20")
    _, metrics = await server.get("/metrics")
    made, end = (
        number(metrics, f"paddock_client_certificate_{name}_timestamp_seconds") for name in ("made", "end")
    )
    assert end - made == CLIENT_LIFETIME
    (line,) = server.logged(RENEWED)
    assert (line["made"], line["ends"]) == (made, end)


async def test_no_key_is_logged_or_shown(server: Server) -> None:
    server.configure(document())
    await server.started(client_secret=CLIENT)
    _, verbose = await server.get("/readyz?verbose")
    await server.until_shown("/readyz?verbose", "certificate of kube-scheduler: made 20")
    said = server.stream.getvalue() + verbose + (await server.get("/metrics"))[1]
    keys = [
        text
        for name in (CLIENT, AUTHORITY_SECRET)
        for key, text in files(server, name).items()
        if "key" in key
    ]
    assert len(keys) == 3
    for key in keys:
        assert key.splitlines()[1] not in said
    assert "PRIVATE" not in said


async def test_without_the_flag_no_secret_is_touched_and_no_condition_is_added(server: Server) -> None:
    server.configure(document())
    await server.started()
    _, verbose = await server.get("/readyz?verbose")
    assert "certificates" not in verbose
    assert not [each for each in server.api.requests if "secrets" in each.path]
    _, metrics = await server.get("/metrics")
    assert number(metrics, "paddock_client_certificate_end_timestamp_seconds") == 0
