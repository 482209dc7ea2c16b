"""Requests to Paddock: through kubectl and the aggregated API, else through a port-forward to the leader.

kubectl brings certificates, exec plugins, OIDC, proxies and `--as`.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from typing import Any

from extender.plugin.asked import Asked
from extender.plugin.outcome import FAILED, UNREACHABLE, NotServed, Problem
from extender.plugin.plain import plain

ROOT = "/apis/paddock.dev/v1alpha1"
ADMIN_PORT = 10291
WITHIN = 60.0
"""Seconds for one request, as long as the API server gives it."""

_FORWARDING = re.compile(r"Forwarding from 127\.0\.0\.1:(\d+) ->")
_ENDED_WITHIN = 10.0
"""Seconds in which kubectl ends."""

_STATUS = re.compile(r"Error from server(?: \((\w+)\))?: (.*)", re.DOTALL)
_UNAVAILABLE = (
    "unable to handle the request",
    "could not find the requested resource",
    "service unavailable",
)
"""Parts of messages for an APIService that is absent or unavailable."""


def kubectl(asked: Asked, *arguments: str, given: bytes | None = None, within: float = WITHIN) -> bytes:
    """Run kubectl and return its output. Raises `Problem`, and `NotServed` for a missing APIService.

    ``within``: seconds for the request. kubectl itself gets half as many more.
    """
    try:
        done = subprocess.run(  # noqa: S603 - arguments are a list, and no shell reads them
            [_program(), *asked.kubectl, *arguments],
            input=given,
            capture_output=True,
            check=False,
            timeout=1.5 * within,
        )
    except subprocess.TimeoutExpired:
        raise Problem("kubectl did not answer in time", UNREACHABLE) from None
    if done.returncode == 0:
        return done.stdout
    raise _problem_of(done.stderr.decode(errors="replace").strip())


def _program() -> str:
    found = shutil.which(os.environ.get("KUBECTL", "kubectl"))
    if found is None:
        raise Problem("kubectl is not on the PATH", UNREACHABLE)
    return found


def _problem_of(message: str) -> Exception:
    status = _STATUS.search(message)
    if any(each in message.lower() for each in _UNAVAILABLE) or (
        status and status[1] == "ServiceUnavailable"
    ):
        return NotServed(message)
    if status is None:
        return Problem(message.splitlines()[-1] if message else "kubectl failed", UNREACHABLE)
    code = UNREACHABLE if status[1] in ("TooManyRequests", "InternalError", "Timeout") else FAILED
    return Problem(status[2].strip(), code)


class Forward:
    """Port-forward to the admin port of a pod of Paddock.

    ``url``: where it listens; empty if it did not begin.
    ``failure``: why it did not begin, for a message; empty if it did.
    """

    def __init__(self, asked: Asked, namespace: str, name: str) -> None:
        where = ["port-forward", "-n", namespace, f"pod/{name}", f":{ADMIN_PORT}"]
        self._process = subprocess.Popen(  # noqa: S603 - arguments are a list, and no shell reads them
            [_program(), *asked.kubectl, *where], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None  # noqa: S101
        found = _FORWARDING.search(self._process.stdout.readline())
        self.url = f"http://127.0.0.1:{found[1]}" if found else ""
        self.failure = "" if found else self.end()

    def wait(self) -> None:
        """Wait until it ends."""
        self._process.wait()

    def end(self) -> str:
        """End it. Returns the last line of its errors."""
        self._process.terminate()
        _, errors = self._process.communicate(timeout=_ENDED_WITHIN)
        lines = errors.strip().splitlines() if errors else []
        return f": {plain(lines[-1])[:200]}" if lines else ""


def pods_of_paddock(asked: Asked, namespace: str) -> list[tuple[str, str]]:
    """Pods of Paddock that have not ended, by namespace and name. ``namespace``: empty for all.

    Raises `Problem`.
    """
    where = ["-n", namespace] if namespace else ["-A"]
    try:
        text = kubectl(asked, "get", "pods", *where, "-l", "app.kubernetes.io/name=paddock", "-o", "json")
    except NotServed as error:
        raise Problem(str(error), UNREACHABLE) from None
    found = [each for each in json.loads(text)["items"] if not _has_ended(each)]
    return sorted((each["metadata"]["namespace"], each["metadata"]["name"]) for each in found)


def _has_ended(pod: dict[str, Any]) -> bool:
    is_over = (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")
    return is_over or "deletionTimestamp" in pod["metadata"]


class Server:
    """Paddock, as the user reaches it. Use as a context, since a port-forward must end.

    ``within``: seconds for one request. ``forwards``: False to do without a port-forward.
    """

    def __init__(self, asked: Asked, *, within: float = WITHIN, forwards: bool = True) -> None:
        self._asked = asked
        self._within = within
        self._forwards = forwards
        self._url = asked.server.rstrip("/")
        self._forward: Forward | None = None
        self._served = False

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """End the port-forward, if there is one."""
        if self._forward is not None:
            self._forward.end()
            self._forward = None

    @property
    def namespace(self) -> str:
        """Namespace that the user means."""
        if self._asked.namespace:
            return self._asked.namespace
        if self._asked.server:
            return "default"
        found = kubectl(self._asked, "config", "view", "--minify", "-o", "jsonpath={..namespace}")
        return found.decode().strip() or "default"

    def get(self, path: str) -> Any:
        """The answer to a path below the group, such as ``/ws/v1/clusters``. Raises `Problem`."""
        return self._decoded(self._asked_for(path, None))

    def post(self, path: str, body: bytes) -> Any:
        """The answer to a body. Raises `Problem`."""
        return self._decoded(self._asked_for(path, body))

    def act(self, body: bytes) -> Any:
        """The answer to an action, which only the aggregated API carries out. Raises `Problem`."""
        if self._url:
            raise Problem("actions need a login: leave out --server")
        try:
            return self._decoded(self._aggregated("/actions", body))
        except NotServed as error:
            raise Problem(f"actions need the aggregated API: {error}", UNREACHABLE) from None

    def _asked_for(self, path: str, body: bytes | None) -> bytes:
        if self._url:
            return self._loopback(path, body)
        try:
            found = self._aggregated(path, body)
        except NotServed as error:
            if not self._forwards:
                raise
            if self._served or self._is_served():
                # The group is there, so the message is about the path.
                raise Problem(str(error).removeprefix("Error from server (NotFound): ")) from None
            self._begin_forward(str(error))
            return self._loopback(path, body)
        self._served = True
        return found

    def _aggregated(self, path: str, body: bytes | None) -> bytes:
        if body is None:
            return kubectl(self._asked, "get", "--raw", f"{ROOT}{path}", within=self._within)
        where = f"{ROOT}{path}"
        return kubectl(self._asked, "create", "--raw", where, "-f", "-", given=body, within=self._within)

    def _is_served(self) -> bool:
        try:
            kubectl(self._asked, "get", "--raw", ROOT)
        except (NotServed, Problem):
            return False
        return True

    def forwarded_url(self) -> str:
        """URL of the leader's own port, forwarded to this machine. Raises `Problem`."""
        if not self._url:
            self._begin_forward("the web page is on loopback")
        return self._url

    def wait(self) -> None:
        """Wait until the port-forward ends."""
        if self._forward is not None:
            self._forward.wait()

    # -- loopback --------------------------------------------------------------------------------------------

    def _begin_forward(self, why: str) -> None:
        """Forward a local port to the pod that leads. Raises `Problem`."""
        note(f"the aggregated API did not answer ({plain(why)[:200]}); asking through a port-forward")
        for namespace, name in pods_of_paddock(self._asked, self._asked.own_namespace):
            self._forward = Forward(self._asked, namespace, name)
            if self._forward.url and self._answers(self._forward.url):
                self._url = self._forward.url
                return
            self.end()
        raise Problem("no pod of Paddock answers", UNREACHABLE)

    def _answers(self, url: str) -> bool:
        """True for the instance that leads: a standby answers 503 here."""
        try:
            with urllib.request.urlopen(f"{url}/ws/v1/clusters", timeout=WITHIN):  # noqa: S310
                return True
        except (urllib.error.URLError, OSError):
            return False

    def _loopback(self, path: str, body: bytes | None) -> bytes:
        """The answer of a port without a login. Raises `Problem`."""
        below = path if path.startswith(("/ws/", "/debug/")) else f"{ROOT}{path}"
        # Without this header the configuration is YAML (REST-27). kubectl sends it by itself.
        headers = {"Accept": "application/json"}
        request = urllib.request.Request(f"{self._url}{below}", data=body, headers=headers)  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=self._within) as answer:  # noqa: S310
                found: bytes = answer.read()
                return found
        except urllib.error.HTTPError as error:
            raise Problem(_message_in(error.read()), FAILED if error.code < 429 else UNREACHABLE) from None
        except (urllib.error.URLError, OSError) as error:
            raise Problem(f"{self._url} does not answer: {error}", UNREACHABLE) from None

    def _decoded(self, body: bytes) -> Any:
        try:
            return json.loads(body)
        except ValueError:
            raise Problem("the answer is no JSON", UNREACHABLE) from None


def _message_in(body: bytes) -> str:
    try:
        found = json.loads(body)
        return str(found.get("message") or found.get("error"))
    except (ValueError, AttributeError):
        return body.decode(errors="replace").strip()[:500]


def note(text: str) -> None:
    """Print a note to the standard error, apart from the result."""
    print(plain(text), file=sys.stderr)
