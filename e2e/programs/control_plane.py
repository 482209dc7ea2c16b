"""etcd, kube-apiserver and kube-scheduler as plain processes on loopback ports."""

import asyncio
import json
import os
import shutil
import signal
import ssl
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import aiohttp
import yaml

from e2e.programs.binaries import binary
from e2e.programs.processes import Program, free_port

START_DEADLINE = 180.0

USERS: Mapping[str, tuple[str, str]] = {
    "admin": ("admin", "system:masters"),
    "scheduler": ("system:kube-scheduler", ""),
    "paddock": (
        "system:serviceaccount:paddock-system:paddock",
        "system:serviceaccounts,system:serviceaccounts:paddock-system",
    ),
    "paddock-certificate": ("paddock", ""),
    "tester": ("tester", ""),
    "daemon-set-controller": ("system:serviceaccount:kube-system:daemon-set-controller", ""),
    "tenant": ("tenant", ""),
    "rival": ("rival", ""),
    "kubelet": ("system:node:n1", "system:nodes"),
    "controller": ("system:serviceaccount:kube-system:replicaset-controller", "system:serviceaccounts"),
}
"""The user's name by token, and its groups joined by commas."""


class NeedsOwnControlPlane(RuntimeError):
    """An action that needs a control plane of our own, tried on a cluster that this suite did not start."""


def unverified() -> ssl.SSLContext:
    """TLS to a server on loopback whose certificate was made a moment ago."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class ControlPlane:
    """An API server with its store, and the schedulers started against it.

    ``flags``: of the API server, beyond those that every test needs.
    """

    def __init__(self, *, flags: Sequence[str] = ()) -> None:
        self._flags = tuple(flags)
        self.folder = Path(tempfile.mkdtemp(prefix="paddock-e2e-"))
        self.external = os.environ.get("KUBECONFIG", "")
        self._port, self._etcd_port = free_port(), free_port()
        self._etcd: Program | None = None
        self._apiserver: Program | None = None
        self._schedulers: list[Scheduler] = []
        self.url = f"https://127.0.0.1:{self._port}"
        self._tokens = {user: f"token-of-{user}" for user in USERS}

    async def __aenter__(self) -> Self:
        try:
            await self.start()
        except BaseException:
            await self.stop()
            raise
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        if self.external:
            if self._flags:
                raise NeedsOwnControlPlane("this needs an API server with flags of its own; unset KUBECONFIG")
            self._use_external()
            return
        self._write_secrets()
        self._etcd = self._program("etcd", *self._etcd_arguments(self._etcd_port))
        self._apiserver = self._program("kube-apiserver", *self._apiserver_arguments())
        self._etcd.start()
        await self.start_apiserver()

    async def stop(self) -> None:
        for scheduler in self._schedulers:
            await scheduler.stop()
        for program in (self._apiserver, self._etcd):
            if program is not None:
                await program.stop()
        self._keep_logs()
        shutil.rmtree(self.folder, ignore_errors=True)

    async def start_apiserver(self) -> None:
        program = self._own(self._apiserver)
        program.start()
        await self._until_ready(f"{self.url}/readyz", program, self.token("admin"))

    async def stop_apiserver(self) -> None:
        await self._own(self._apiserver).kill()

    async def restart_apiserver(self, *, flags: Sequence[str]) -> None:
        """Crash the API server and start it again, with other additional flags."""
        await self.stop_apiserver()
        self._flags = tuple(flags)
        self._apiserver = self._program("kube-apiserver", *self._apiserver_arguments())
        await self.start_apiserver()

    async def save_etcd(self) -> None:
        """Stop the API server and etcd, keep a copy of etcd's data, and start both again."""
        await self._swap_etcd(self.folder / "etcd", self.folder / "etcd-saved")

    async def restore_etcd(self) -> None:
        """Restart both with the data that was saved. Versions begin again where they were then."""
        await self._swap_etcd(self.folder / "etcd-saved", self.folder / "etcd")

    async def _swap_etcd(self, source: Path, target: Path) -> None:
        etcd = self._own(self._etcd)
        await self.stop_apiserver()
        await etcd.stop()
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target)
        etcd.start()
        await self.start_apiserver()

    def token(self, user: str) -> str:
        return self._tokens[user]

    @property
    def authority(self) -> bytes:
        """The certificates that verify the API server, as a kubelet gives them to each pod."""
        self._own(self._apiserver)
        return (self.folder / "apiserver" / "apiserver.crt").read_bytes()

    def kubeconfig(self, user: str, server: str | None = None) -> Path:
        """A file that lets ``user`` in. ``server``: another address, such as a proxy's."""
        target = server or self.url
        cluster: dict[str, Any] = {"server": target}
        if target.startswith("https"):
            cluster["insecure-skip-tls-verify"] = True
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "e2e",
            "clusters": [{"name": "e2e", "cluster": cluster}],
            "users": [{"name": user, "user": {"token": self.token(user)}}],
            "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": user}}],
        }
        path = self.folder / f"kubeconfig-{user}-{abs(hash(target))}"
        if not path.exists():
            # Programs that were given the file before may be reading it, and must never find it empty.
            made = path.with_suffix(".new")
            made.write_text(json.dumps(document))
            made.rename(path)
        return path

    async def scheduler(
        self,
        config: Mapping[str, Any],
        *,
        user: str = "scheduler",
        flags: Sequence[str] = (),
        host: str = "",
    ) -> "Scheduler":
        """Start an unmodified kube-scheduler with a configuration; its kubeconfig is filled in.

        ``host``: another name for this host.
        """
        number = len(self._schedulers)
        document = json.loads(json.dumps(config))
        document.setdefault("clientConnection", {})["kubeconfig"] = str(self.kubeconfig(user))
        document.setdefault("leaderElection", {}).setdefault("leaderElect", False)
        path = self.folder / f"scheduler-{number}.yaml"
        path.write_text(yaml.safe_dump(document))
        port = free_port()
        program = self._program(
            "kube-scheduler",
            f"--config={path}",
            f"--secure-port={port}",
            "--bind-address=127.0.0.1",
            f"--cert-dir={self.folder / f'scheduler-{number}'}",
            f"--authentication-kubeconfig={self.kubeconfig('admin')}",
            f"--authorization-kubeconfig={self.kubeconfig('admin')}",
            "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics",
            "-v=1",
            *flags,
            log=f"kube-scheduler-{number}",
            host=host,
        )
        scheduler = Scheduler(program, f"https://127.0.0.1:{port}", self)
        self._schedulers.append(scheduler)
        await scheduler.start()
        return scheduler

    async def _until_ready(self, url: str, program: Program, token: str = "") -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        until = time.monotonic() + START_DEADLINE
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=unverified())) as session:
            while not await _answers(session, url, headers):
                if not program.running or time.monotonic() > until:
                    raise RuntimeError(f"{program.name} did not become ready:\n{program.tail()}")
                await asyncio.sleep(0.05)

    # -- own processes ------------------------------------------------------------------------------------

    def _program(self, name: str, *arguments: str, log: str = "", host: str = "") -> Program:
        path = self.folder / f"{log or name}.log"
        return Program([*(_on_host(host) if host else ()), str(binary(name)), *arguments], path)

    def _own(self, program: Program | None) -> Program:
        if program is None:
            raise NeedsOwnControlPlane("this needs a control plane of its own; unset KUBECONFIG")
        return program

    def _etcd_arguments(self, port: int) -> tuple[str, ...]:
        client, peer = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{free_port()}"
        return (
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync",
            "--quota-backend-bytes=4294967296",
            "--log-level=warn",
        )

    def _apiserver_arguments(self) -> tuple[str, ...]:
        key = str(self.folder / "service-account.key")
        return (
            f"--etcd-servers=http://127.0.0.1:{self._etcd_port}",
            f"--secure-port={self._port}",
            "--bind-address=127.0.0.1",
            f"--cert-dir={self.folder / 'apiserver'}",
            f"--token-auth-file={self.folder / 'tokens.csv'}",
            "--authorization-mode=RBAC",
            "--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
            "--disable-admission-plugins=ServiceAccount",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--allow-privileged=true",
            "--enable-priority-and-fairness=false",
            "--max-requests-inflight=5000",
            "--max-mutating-requests-inflight=5000",
            "--profiling=false",
            *self._proxy_arguments(),
            *self._flags,
        )

    def _proxy_arguments(self) -> tuple[str, ...]:
        """By what the API server is known to servers of aggregated APIs."""
        authority = self.folder / "front-proxy"
        return (
            f"--requestheader-client-ca-file={authority / 'ca.crt'}",
            "--requestheader-allowed-names=front-proxy-client",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            f"--proxy-client-cert-file={authority / 'front-proxy-client.crt'}",
            f"--proxy-client-key-file={authority / 'front-proxy-client.key'}",
        )

    def _write_secrets(self) -> None:
        write_authority(self.folder / "front-proxy", "front-proxy-client", "stranger")
        write_authority(self.folder / "another-proxy", "front-proxy-client")
        key = self.folder / "service-account.key"
        subprocess.run(["openssl", "genrsa", "-out", str(key), "2048"], check=True, capture_output=True)
        rows = [f'{self._tokens[user]},{name},{name},"{groups}"' for user, (name, groups) in USERS.items()]
        (self.folder / "tokens.csv").write_text("\n".join(rows) + "\n")

    def _use_external(self) -> None:
        """Use a cluster of the user's own: its address and its current user's token, for every user here."""
        document = yaml.safe_load(Path(self.external.split(":")[0]).read_text())
        named = {
            kind: {each["name"]: each[kind[:-1]] for each in document[kind]} for kind in ("clusters", "users")
        }
        contexts = {each["name"]: each["context"] for each in document["contexts"]}
        context = contexts[document["current-context"]]
        self.url = named["clusters"][context["cluster"]]["server"]
        token = named["users"][context["user"]].get("token")
        if not token:
            raise NeedsOwnControlPlane("the current user of KUBECONFIG must have a token")
        self._tokens = dict.fromkeys(USERS, token)

    def _keep_logs(self) -> None:
        target = os.environ.get("PADDOCK_E2E_LOGS")
        if target:
            Path(target).mkdir(parents=True, exist_ok=True)
            for log in self.folder.glob("*.log"):
                shutil.copy(log, target)


def write_authority(folder: Path, *clients: str) -> None:
    """An authority and client certificates of these names, made with openssl."""
    folder.mkdir(exist_ok=True)
    new = ("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    own = (*new, "-days", "2", "-keyout", "ca.key", "-out", "ca.crt", "-subj", f"/CN={folder.name}")
    subprocess.run(own, cwd=folder, check=True, capture_output=True)
    for name in clients:
        files = ("-keyout", f"{name}.key", "-out", f"{name}.crt", "-subj", f"/CN={name}")
        signed = ("-CA", "ca.crt", "-CAkey", "ca.key", "-addext", "extendedKeyUsage=clientAuth")
        plain = ("-addext", "basicConstraints=critical,CA:FALSE")
        subprocess.run(
            (*new, "-days", "2", *files, *signed, *plain), cwd=folder, check=True, capture_output=True
        )


def _on_host(host: str) -> tuple[str, ...]:
    """A command prefix that runs a program in the same process, under another host name."""
    own = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    return ("unshare", "--uts", *own, "sh", "-c", 'hostname "$1"; shift; exec "$@"', "sh", host)


async def _answers(session: aiohttp.ClientSession, url: str, headers: Mapping[str, str]) -> bool:
    try:
        async with session.get(url, headers=headers, timeout=aiohttp.ClientTimeout(total=2)) as answer:
            return answer.status == 200
    except (aiohttp.ClientError, TimeoutError):
        return False


class Scheduler:
    """A running kube-scheduler."""

    def __init__(self, program: Program, url: str, control_plane: ControlPlane) -> None:
        self._program = program
        self._url = url
        self._control_plane = control_plane

    async def start(self) -> None:
        self._program.start()
        await self._control_plane._until_ready(f"{self._url}/healthz", self._program)

    async def stop(self) -> None:
        await self._program.stop()

    async def kill(self) -> None:
        await self._program.kill()

    @property
    def running(self) -> bool:
        return self._program.running

    def send(self, number: signal.Signals) -> None:
        self._program.send(number)

    async def restart(self) -> None:
        """Crash the scheduler and start it again."""
        await self.kill()
        await self.start()

    async def metrics(self) -> str:
        """Everything that it tells at ``/metrics``."""
        connector = aiohttp.TCPConnector(ssl=unverified())
        session = aiohttp.ClientSession(connector=connector, raise_for_status=True)
        async with session, session.get(f"{self._url}/metrics") as answer:
            return await answer.text()

    def log_tail(self, lines: int = 30) -> str:
        return self._program.tail(lines)
