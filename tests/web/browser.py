"""A real browser and a real `aot serve`, for tests of pages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pytest

from aotloop.web import server
from tests.patience import PATIENCE

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-extensions",
]
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HOW_TO_GET_ONE = "no browser is installed; `apt-get install chromium` installs one (or name it in BROWSER_FOR_TESTS)"
MILLISECONDS = PATIENCE * 1000
AXE = Path(sys.prefix) / "browser" / "node_modules" / "axe-core" / "axe.min.js"


def program() -> str | None:
    """The browser that tests drive; None: there is none."""
    named = os.environ.get("BROWSER_FOR_TESTS")
    return named or next((found for name in PROGRAMS if (found := shutil.which(name))), None)


@dataclass
class Serving:
    process: subprocess.Popen[str]
    link: str

    @property
    def url(self) -> str:
        return self.link.partition("/#")[0]

    @property
    def token(self) -> str:
        return self.link.partition("#token=")[2]

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])


@contextmanager
def serving(folder: Path, *arguments: str, command: str = "serve", **environ: str) -> Iterator[Serving]:
    """`aot serve`, or another command that serves a page, until this ends."""
    process = subprocess.Popen(
        [str(Path(sys.executable).with_name("aot")), command, *arguments],
        cwd=folder,
        env={**os.environ, **environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield Serving(process, _link(process.stderr))
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate()


def _link(stream: IO[str] | None) -> str:
    assert stream is not None
    seen = ""
    for line in stream:
        seen += line
        if found := re.search(r"https?://\S+#token=\S+", line):
            return found.group()
    raise AssertionError(f"no link was printed:\n{seen}")


@contextmanager
def in_thread(**options: Any) -> Iterator[str]:
    """The link of a server in this process: it starts at once. For tests that do not end it."""
    with server.serving(server.ServerOptions(**{"host": "127.0.0.1", **options})) as page:
        yield page.link


@contextmanager
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - slow to import, and only these tests need it

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program(), args=FLAGS, handle_sigint=False)
        try:
            yield running
        finally:
            running.close()


def audit(page: Any, where: str) -> list[str]:
    """What axe-core finds on the page as it is now. Without axe-core the test is skipped."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed; `make test-web` installs it where npm is there")
    page.evaluate(AXE.read_text())
    broken = page.evaluate("axe.run().then(found => found.violations)")
    return [f"{where}: {one['id']}: {one['nodes'][0]['html'][:160]}" for one in broken]


def seen(page: Any, text: str) -> None:
    """Waits until the text is in sight."""
    page.get_by_text(text).first.wait_for(state="visible", timeout=MILLISECONDS)


def open_loop(page: Any, link: str) -> None:
    """The newest loop or feature of the list."""
    page.goto(link)
    page.locator(".row").first.click()
    page.locator(".goal").wait_for()


def until_page(page: Any, condition: str) -> Any:
    """Waits for a condition, in JavaScript."""
    return page.wait_for_function(condition, timeout=MILLISECONDS)
