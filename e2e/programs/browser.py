"""A headless Chromium of our own, and one page in it, driven over its debugging protocol on loopback."""

import asyncio
import json
import os
import re
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import aiohttp

NAMES = ("chromium", "chromium-browser", "google-chrome")
DEADLINE = 30.0

_ADDRESS = re.compile(rb"DevTools listening on (ws://\S+)")


class NoBrowserError(AssertionError):
    """No Chromium is installed, so the check has failed."""


def browser_path() -> str:
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        raise NoBrowserError(
            f"no browser: none of {', '.join(NAMES)} is on the PATH; install the Debian package 'chromium'"
        )
    return found


class Page:
    """A page.

    ``complaints``: its console errors and uncaught exceptions; ``requests``: addresses that it asked for.
    """

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._socket = socket
        self._numbers = count(1)
        self._session = ""
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}

    async def listen(self) -> None:
        """Read the browser's messages until it ends."""
        async for message in self._socket:
            self._take(json.loads(message.data))

    def _take(self, message: dict[str, Any]) -> None:
        parameters = message.get("params", {})
        match message.get("method"):
            case None:
                answer = self._answers.pop(message["id"])
                # Nobody waits any more for an answer that comes after the deadline.
                if not answer.done():
                    answer.set_result(message)
            case "Runtime.exceptionThrown":
                self.complaints.append(str(parameters["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "assert"):
                self.complaints.append(str(parameters["args"]))
            case "Log.entryAdded" if parameters["entry"]["level"] == "error":
                self.complaints.append(parameters["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])

    async def open(self) -> None:
        """Create the page, and subscribe to its errors and requests from its first moment on."""
        target = await self.call("Target.createTarget", url="about:blank")
        attached = await self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            await self.call(f"{domain}.enable")

    async def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Make one call of the protocol.

        Raises AssertionError with the browser's message if it is refused.
        """
        number = next(self._numbers)
        self._answers[number] = asyncio.get_running_loop().create_future()
        message = {"id": number, "method": method, "params": parameters}
        await self._socket.send_json(message | ({"sessionId": self._session} if self._session else {}))
        answer = await asyncio.wait_for(self._answers[number], DEADLINE)
        assert "error" not in answer, (method, answer["error"])
        result: dict[str, Any] = answer["result"]
        return result

    async def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression, or of its promise."""
        answer = await self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, (expression, answer["exceptionDetails"])
        return answer["result"].get("value")

    async def until(self, expression: str) -> Any:
        """The first value of an expression that is true. Raises TimeoutError that names it."""
        try:
            async with asyncio.timeout(DEADLINE):
                value = await self.ask(expression)
                while not value:
                    await asyncio.sleep(0.02)
                    value = await self.ask(expression)
        except TimeoutError:
            raise TimeoutError(f"after {DEADLINE} s not true: {expression}") from None
        return value

    async def show(self, path: Path, *, width: int, height: int, dark: bool = False) -> None:
        """Load a file at a window size and wait until it reports that it is drawn."""
        await self.resize(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        await self.call("Emulation.setEmulatedMedia", features=[scheme])
        await self.call("Page.navigate", url=path.as_uri())
        await self.until(
            f"location.href === {json.dumps(path.as_uri())} && document.documentElement?.dataset.ready"
        )
        await self.frame()

    async def visit(self, url: str) -> str:
        """Load an address and wait for it; the text that it shows."""
        await self.call("Page.navigate", url=url)
        await self.until(f"location.href === {json.dumps(url)} && document.readyState === 'complete'")
        return str(await self.ask("document.body.innerText"))

    async def resize(self, width: int, height: int) -> None:
        await self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    async def middle_of(self, selector: str) -> tuple[float, float]:
        """The middle of the first such element, in the window."""
        found = await self.ask(
            f"(() => {{ const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
            " return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        return found[0], found[1]

    async def mouse(self, kind: str, x: float, y: float, *, buttons: int = 0) -> None:
        """Send a mouse event.

        ``kind``: mouseMoved, mousePressed or mouseReleased, the latter two with the left button.
        """
        button = "none" if kind == "mouseMoved" and not buttons else "left"
        await self.call(
            "Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=buttons, clickCount=1
        )

    async def point_at(self, selector: str, shown: str, *, above: float = 0.0) -> Any:
        """Move the mouse over an element until ``shown`` is true, and return its value.

        A busy browser may drop a move, or lay the page out once more after it. ``above``: pixels above the
        element's middle. Raises TimeoutError.
        """
        async with asyncio.timeout(DEADLINE):
            for attempt in count():
                x, y = await self.middle_of(selector)
                await self.mouse("mouseMoved", x + attempt % 2, y - above)
                value = await self.ask(shown)
                if value:
                    return value
                await asyncio.sleep(0.05)
        raise AssertionError("a count without end has ended")

    async def drag(self, selector: str, across: float, shown: str) -> None:
        """Drag the mouse over an element, ``across`` pixels to the right, until ``shown`` is true.

        A drag is repeated only if the page shows nothing of it, since a busy browser may drop a move.
        """
        async with asyncio.timeout(DEADLINE):
            while not await self.ask(shown):
                x, y = await self.middle_of(selector)
                await self.mouse("mousePressed", x, y, buttons=1)
                await self.mouse("mouseMoved", x + across, y, buttons=1)
                await self.mouse("mouseReleased", x + across, y)
                await self.frame()

    async def frame(self) -> None:
        """Wait until the page has drawn its state: a frame begun, and the next one."""
        await self.ask(
            "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true))))"
        )

    async def click(self, selector: str) -> None:
        x, y = await self.middle_of(selector)
        await self.mouse("mouseMoved", x, y)
        await self.mouse("mousePressed", x, y, buttons=1)
        await self.mouse("mouseReleased", x, y)

    async def press(self, key: str) -> None:
        """Press a named key: Tab, Enter, ArrowRight, Escape."""
        code = {
            **{"Tab": 9, "Enter": 13, "Escape": 27},
            **{"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40},
        }[key]
        # Without its text Enter follows no link.
        typed = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown" if typed else "rawKeyDown", "keyUp"):
            await self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **typed
            )


@asynccontextmanager
async def opened_page(*flags: str) -> AsyncIterator[Page]:
    """A page in a browser started for it and ended after it. Raises `NoBrowserError`.

    ``flags``: further ones of the browser.
    """
    path = browser_path()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = await asyncio.create_subprocess_exec(
            path,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            # Without this, mouse and key events before the first frame are silently dropped.
            "--allow-pre-commit-input",
            "--remote-debugging-port=0",
            f"--user-data-dir={profile}",
            *flags,
            "about:blank",
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        try:
            async with _connected(process) as page:
                yield page
        finally:
            await _end(process)


@asynccontextmanager
async def _connected(process: asyncio.subprocess.Process) -> AsyncIterator[Page]:
    address = await asyncio.wait_for(_address_of(process), DEADLINE)
    drained = asyncio.ensure_future(_drain(process))
    async with aiohttp.ClientSession() as session, session.ws_connect(address, max_msg_size=0) as socket:
        page = Page(socket)
        listening = asyncio.ensure_future(page.listen())
        try:
            await page.open()
            yield page
        finally:
            await socket.close()
            for task in (listening, drained):
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task


async def _address_of(process: asyncio.subprocess.Process) -> str:
    assert process.stderr is not None
    said = b""
    async for line in process.stderr:
        said += line
        if found := _ADDRESS.search(line):
            return found[1].decode()
    raise AssertionError(f"the browser did not start: {said.decode(errors='replace')}")


async def _drain(process: asyncio.subprocess.Process) -> None:
    """Read the browser's output. A browser stops when its pipe is full."""
    assert process.stderr is not None
    async for _ in process.stderr:
        pass


async def _end(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
