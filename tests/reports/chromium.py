"""A headless Chromium driven over the DevTools protocol through its pipe: no driver, no socket, no
dependency.

`find_chromium()` says which one is used; `Page` opens a file, runs script in it, sends real input,
and keeps every request, error and message.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def find_chromium() -> str | None:
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Chromium:
    """The browser's process; use as a context manager."""

    def __init__(self, binary: str) -> None:
        self.profile = tempfile.mkdtemp(prefix="rebalsim-browser-")
        to_read, self.to_write = os.pipe()
        self.from_read, from_write = os.pipe()

        def plumb() -> None:  # the browser reads from 3 and writes to 4
            first, second = os.dup(to_read), os.dup(from_write)
            os.dup2(first, 3)
            os.dup2(second, 4)
            os.set_inheritable(3, True)
            os.set_inheritable(4, True)

        self.process = subprocess.Popen(
            [
                binary,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-extensions",
                f"--user-data-dir={self.profile}",
                "--remote-debugging-pipe",
                "about:blank",
            ],
            preexec_fn=plumb,
            close_fds=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(from_write)
        self.buffer = b""
        self.number = 0
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Chromium:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.call("Browser.close", timeout=5)
        except (OSError, TimeoutError, AssertionError):
            self.process.kill()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.to_write)
        os.close(self.from_read)
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(
        self, method: str, session: str = "", timeout: float = 30, **params: Any
    ) -> dict[str, Any]:
        """One command and its answer; events that come meanwhile are kept."""
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.to_write, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + timeout
        while True:
            answer = self._read(deadline)
            if answer.get("id") == self.number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                found: dict[str, Any] = answer.get("result", {})
                return found
            if "method" in answer:
                self.events.append(answer)

    def wait_event(self, name: str, session: str, timeout: float = 30) -> dict[str, Any]:
        """The next event of that name, also if it came already."""
        deadline = time.monotonic() + timeout
        while True:
            for i, event in enumerate(self.events):
                if event["method"] == name and event.get("sessionId") == session:
                    params: dict[str, Any] = self.events.pop(i)["params"]
                    return params
            answer = self._read(deadline)
            if "method" in answer:
                self.events.append(answer)

    def _read(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.from_read], [], [], left)[0]:
                raise TimeoutError("Chromium did not answer in time")
            chunk = os.read(self.from_read, 1 << 20)
            if not chunk:
                raise TimeoutError("Chromium is gone")
            self.buffer += chunk
        head, _, self.buffer = self.buffer.partition(b"\0")
        answer: dict[str, Any] = json.loads(head)
        return answer


class Page:
    """One tab with a file in it."""

    def __init__(
        self,
        browser: Chromium,
        path: Path,
        width: int = 1600,
        height: int = 1000,
        is_dark: bool = False,
    ) -> None:
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.target = target
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}],
        )
        self.call("Page.navigate", url=path.resolve().as_uri())
        browser.wait_event("Page.loadEventFired", self.session)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        return self.browser.call(method, self.session, **params)

    def close(self) -> None:
        self.browser.call("Target.closeTarget", targetId=self.target)

    def resize(self, width: int, height: int) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def box(self, selector: str) -> dict[str, float]:
        """Where an element lies in the window, scrolled into view."""
        found: dict[str, float] = self.run(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); "
            f"e.scrollIntoView({{block: 'center'}}); const b = e.getBoundingClientRect();"
            " return {x: b.x, y: b.y, width: b.width, height: b.height}; })()"
        )
        return found

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x: float, y: float, times: int = 1) -> None:
        for count in range(1, times + 1):
            self.mouse("mousePressed", x, y, button="left", clickCount=count)
            self.mouse("mouseReleased", x, y, button="left", clickCount=count)

    def click_on(self, selector: str) -> None:
        box = self.box(selector)
        self.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    def key(self, key: str, text: str = "", modifiers: int = 0) -> None:
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, modifiers=modifiers)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, modifiers=modifiers)

    def screenshot(self, path: Path, is_whole: bool = True) -> None:
        clip = {"clip": self._whole()} if is_whole else {}
        path.write_bytes(
            base64.b64decode(
                self.call("Page.captureScreenshot", captureBeyondViewport=is_whole, **clip)["data"]
            )
        )

    def _whole(self) -> dict[str, float]:
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {
            "x": 0,
            "y": 0,
            "width": size["width"],
            "height": min(size["height"], 8000),
            "scale": 1,
        }

    def events(self, name: str) -> list[dict[str, Any]]:
        """What has come so far of that kind."""
        self.run("0")
        return [
            e["params"]
            for e in self.browser.events
            if e["method"] == name and e.get("sessionId") == self.session
        ]

    def complaints(self) -> list[str]:
        """Console errors and warnings, uncaught exceptions, refused resources: none is what a
        page should have.
        """
        found = [str(e["exceptionDetails"]) for e in self.events("Runtime.exceptionThrown")]
        found += [
            str(e["entry"]["text"])
            for e in self.events("Log.entryAdded")
            if e["entry"]["level"] in ("error", "warning")
        ]
        found += [
            str(e["args"])
            for e in self.events("Runtime.consoleAPICalled")
            if e["type"] in ("error", "warning", "assert")
        ]
        return found

    def requests(self) -> list[str]:
        """Every address that the page asked for, itself included."""
        return [str(e["request"]["url"]) for e in self.events("Network.requestWillBeSent")]
