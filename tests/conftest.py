"""Every test has its own home, and sees none of the user's settings."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import HealthCheck, settings

from aotloop.process.sandbox.thread_rules import is_there
from tests.modelserver.clients import CLIENTS

gc.disable()  # until all is collected: what is imported and collected stays
for one in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
    if (
        signal.getsignal(one) is signal.SIG_IGN
    ):  # a job in the background, or under nohup: all that it starts would be deaf
        signal.signal(one, signal.default_int_handler if one is signal.SIGINT else signal.SIG_DFL)

settings.register_profile(
    "quick",
    max_examples=20,
    derandomize=True,  # the same examples each time; `make test-deep` looks for others
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile(
    "deep",
    max_examples=2000,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile(os.environ.get("AOT_HYPOTHESIS_PROFILE", "quick"))


def pytest_collection_finish() -> None:
    """Thousands of tests stay until the end: the garbage collector need not look at them again and again."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """What drives a client is skipped, with the reason, where that client could not be installed."""
    for mark in item.iter_markers("client"):
        if missing := [name for name in mark.args if CLIENTS[name] is None]:
            pytest.skip(f"not installed: {', '.join(missing)}; `make test-clients` installs it")


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = Path(mkdtemp(prefix="home-", dir=tmp_path_factory.getbasetemp()))  # `mktemp` would look at all others
    for name in [name for name in os.environ if name.startswith(("AOT_", "GIT_", "XDG_", "CLAUDE_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    if is_there():  # behind this engine an agent can leave traces outside of its worktree; others are named by tests
        monkeypatch.setenv("AOT_SANDBOX", "landlock")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return home


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, with the current folder in it."""
    folder = tmp_path / "project"
    (folder / ".claude").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder
