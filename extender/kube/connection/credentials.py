"""Address of the API server, TLS context and Authorization header, with their renewal.

Only this module uses kubernetes_asyncio, for kubeconfigs, exec plugins and service accounts. The library's
models, watches and leader election are not used (DESIGN-11).
"""

import asyncio
import os
import ssl
import time
import urllib.request
from collections.abc import Awaitable
from pathlib import Path
from typing import Protocol, Self

import yaml
from yarl import URL

from extender.kube.connection.api import CredentialsError, redacted
from extender.kube.connection.library import (
    ConfigException,
    Configuration,
    KubeConfigLoader,
    load_incluster_config,
    load_kube_config,
)

_RENEW_EVERY = 60.0
_LOAD_TIMEOUT = 30.0
_RENEW_PAUSE = 5.0
_CLOSE_GRACE = 2.0

# The library's loaders raise these for a kubeconfig whose parts have unexpected types.
_BAD_SHAPES = (AssertionError, AttributeError, LookupError, TypeError)

_BAD_CREDENTIALS = (ConfigException, yaml.YAMLError, OSError, ValueError, *_BAD_SHAPES)


class Credentials:
    """Credentials for the API server. They are renewed in the background, once a minute and after a 401.

    After a failed renewal the old credentials stay in force, and ``error`` has the reason.
    """

    def __init__(self, source: "_Source", access: Configuration) -> None:
        self.host = _host_of(access)
        self.server_name: str | None = access.tls_server_name or None
        self.proxy: str | None = access.proxy or source.proxy_for(self.host)
        self._files = _files_of(access)
        self.tls = _tls_from(access)
        self._error = ""
        self._source = source
        self._authorization = _authorization_from(access)
        self._renewed_at = time.monotonic()
        self._forced_at = float("-inf")
        self._renewal: asyncio.Task[bool] | None = None

    @classmethod
    async def load(cls, *, kubeconfig: str | None, in_cluster: bool, service_account: str) -> Self:
        """Read the credentials for the first time. Raises `CredentialsError`.

        Arguments: as of `extender.kube.connection.client.connect`.
        """
        source: _Source = _ServiceAccount(service_account) if in_cluster else _Kubeconfig(kubeconfig)
        try:
            return cls(source, await asyncio.wait_for(source.load(anew=True), _LOAD_TIMEOUT))
        except _BAD_CREDENTIALS as error:
            raise CredentialsError(f"cannot use {source.name}: {_text_of(error)}") from error

    @property
    def secret(self) -> str:
        """The part of the header that must not appear in any message."""
        return self._authorization.partition(" ")[2]

    @property
    def error(self) -> str:
        """Why the latest renewal failed, or that it hangs. Empty if the credentials are up to date."""
        hanging = self._renewal is not None and not self._renewal.done()
        if hanging and time.monotonic() - self._renewed_at > _LOAD_TIMEOUT:
            return f"a renewal has taken more than {_LOAD_TIMEOUT:.0f} s"
        return self._error

    def authorization(self) -> str:
        """The Authorization header, empty for client certificates. Starts a renewal if one is due."""
        if time.monotonic() - self._renewed_at > _RENEW_EVERY:
            self._start_renewal(anew=False)
        return self._authorization

    async def renewed(self, used: str) -> bool:
        """Renew after a 401 that was given for the header ``used``. True if the request is worth repeating.

        Concurrent callers share one renewal. If the new credentials are refused, too, the next renewal starts
        after 5 s at the earliest.
        """
        # An exec plugin may be slow.
        if self._authorization != used:
            return True
        if self._renewal is None or self._renewal.done():
            if time.monotonic() - self._forced_at < _RENEW_PAUSE:
                return False
            self._forced_at = time.monotonic()
        renewal = self._start_renewal(anew=True)
        await asyncio.wait((renewal,))
        return not renewal.cancelled() and renewal.result()

    async def close(self) -> None:
        """Wait two seconds for a running renewal to end, then cancel it."""
        if self._renewal is not None:
            # If it were cancelled at once, the process of an exec plugin would stay behind.
            await asyncio.wait((self._renewal,), timeout=_CLOSE_GRACE)
            self._renewal.cancel()
            await asyncio.wait((self._renewal,))

    def _start_renewal(self, *, anew: bool) -> asyncio.Task[bool]:
        if self._renewal is None or self._renewal.done():
            self._renewed_at = time.monotonic()
            self._renewal = asyncio.create_task(self._renew(anew=anew))
        return self._renewal

    async def _renew(self, *, anew: bool) -> bool:
        # There is no time limit: it would not end a plugin that hangs, and the next would hang beside it.
        try:
            access = await self._source.load(anew=anew)
            files = _files_of(access)
            if files != self._files:
                # With a new context the client opens new connections, so the server sees the new certificate.
                # If only half of a key pair has been replaced yet, this fails and the old pair stays.
                self.tls, self._files = _tls_from(access), files
        except _BAD_CREDENTIALS as error:
            self._error = redacted(_text_of(error), self.secret)
            return False
        self._authorization = _authorization_from(access)
        self._error = ""
        return True


class _Source(Protocol):
    """Source of credentials.

    ``anew``: read everything again, without the results of an earlier load.
    """

    name: str

    def load(self, *, anew: bool) -> Awaitable[Configuration]: ...

    def proxy_for(self, host: str) -> str | None: ...


class _ServiceAccount:
    def __init__(self, directory: str) -> None:
        self.name = f"the service account in {directory}"
        self._directory = directory

    async def load(self, *, anew: bool) -> Configuration:  # noqa: ARG002 the file is always read anew
        access = Configuration()
        load_incluster_config(  # type: ignore[no-untyped-call]
            access,
            try_refresh_token=False,
            token_filename=f"{self._directory}/token",
            cert_filename=f"{self._directory}/ca.crt",
        )
        return access

    def proxy_for(self, host: str) -> str | None:  # noqa: ARG002 no proxy leads to one's own cluster
        return None


class _Kubeconfig:
    def __init__(self, path: str | None) -> None:
        self._path = path or os.environ.get("KUBECONFIG") or os.path.expanduser("~/.kube/config")
        self.name = f"the kubeconfig {self._path}"
        self._loader: KubeConfigLoader | None = None
        self._access = Configuration()

    async def load(self, *, anew: bool) -> Configuration:
        if anew or self._loader is None:
            self._access, self._loader = await self._read()
        elif not _holds_until_refused(self._loader):
            access = Configuration()
            await self._loader.load_and_set(access)
            self._access = access
        return self._access

    async def _read(self) -> tuple[Configuration, KubeConfigLoader]:
        self._require_file()
        access = Configuration()
        # Nothing is written back: a server must not edit its operator's files.
        loader = await load_kube_config(self._path, client_configuration=access, persist_config=False)
        return access, loader

    def _require_file(self) -> None:
        # Without a file the library only warns, and fails later with a text that does not help.
        if not any(os.path.exists(os.path.expanduser(path)) for path in self._path.split(os.pathsep)):
            raise FileNotFoundError("no such file")

    def proxy_for(self, host: str) -> str | None:
        url = URL(host)
        name = url.host or ""
        if name in ("localhost", "127.0.0.1", "::1") or urllib.request.proxy_bypass(name):
            return None
        return urllib.request.getproxies().get(url.scheme)


def _holds_until_refused(loader: KubeConfigLoader) -> bool:
    """True if an exec plugin gave credentials without an expiry. As in client-go, they hold until a 401."""
    return "exec" in (loader._user or ()) and not hasattr(loader, "exec_plugin_expiry")


def _host_of(access: Configuration) -> str:
    return (access.host or "").rstrip("/")


def _text_of(error: BaseException) -> str:
    text = str(error) or type(error).__name__
    return f"it is empty or has parts of the wrong type ({text})" if isinstance(error, _BAD_SHAPES) else text


def _authorization_from(access: Configuration) -> str:
    # A token file usually ends in a newline, which a header must not contain.
    return str(access.api_key.get("BearerToken", "")).strip()


def _tls_from(access: Configuration) -> ssl.SSLContext | None:
    """The context for new connections, or None for plain HTTP. Raises OSError for unusable files."""
    if not _host_of(access).startswith("https:"):
        return None
    context = ssl.create_default_context(cafile=access.ssl_ca_cert)
    # Python 3.13 and later refuse a CA without an Authority Key Identifier. Many clusters have such a CA.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if not access.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if access.cert_file:
        # Without a password argument, an encrypted key would prompt for one on the terminal.
        context.load_cert_chain(access.cert_file, access.key_file, password="")
    return context


def _files_of(access: Configuration) -> tuple[bytes, ...]:
    """Current contents of the CA, certificate and key files."""
    paths = (access.ssl_ca_cert, access.cert_file, access.key_file)
    return tuple(Path(path).read_bytes() for path in paths if path)
