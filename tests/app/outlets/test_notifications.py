"""A person gets one message for each occasion; a service that fails or hangs changes nothing for the run."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TypeVar

import pytest

from aotloop.app.outlets.notifications import Notifications, is_quiet
from aotloop.app.overview.loop_registry import registered
from aotloop.app.report.foreign_text import ForeignText
from aotloop.config.outlet_settings import NotifySettings
from aotloop.config.sources import load
from aotloop.errors import AotError
from aotloop.execution.run_events import RunEnded
from aotloop.text.secrets import Secrets
from tests.app.outlets.receivers import receiving
from tests.app.ship.features import a_feature, at
from tests.loops import atom
from tests.patience import PATIENCE, until
from tests.runner.projects import Folder, a_project

F = TypeVar("F", bound=Folder)
PASSWORD = "hunter2-in-the-address"


def told_to(project: F, *addresses: str, more: str = "", timeout: str = "1m", wrong: tuple[str, ...] = ()) -> F:
    """`aot` of this project sends to these services."""
    folder = Path(os.environ["HOME"], ".config", "aotloop")
    folder.mkdir(parents=True, exist_ok=True)
    urls = json.dumps([*(f"json://me:{PASSWORD}@{address}/x" for address in addresses), *wrong])
    (folder / "config.toml").write_text(f'[notify]\nurls = {urls}\ntimeout = "{timeout}"\n{more}')
    return project


def test_one_message_for_each_occasion_and_no_secret(tmp_path: Path) -> None:
    failing = "echo key=$SOME_TOKEN; false"
    project = a_project(tmp_path, atom("A1", run=failing), atom("A2", run=failing), base_case="test -f b.txt")
    project.environ["SOME_TOKEN"] = "0123-not-for-others"
    with receiving() as service, receiving("refuses") as other:
        more = 'failures = 2\npage = "https://loops.example/"\n'
        ran = told_to(project, service.address, other.address, more=more).run()
    messages = [json.loads(body) for _, body in service.got]
    titles = [message["title"] for message in messages]
    assert len(titles) == len(set(titles))
    assert any("2 attempts in a row failed" in title for title in titles)
    assert titles[-1].endswith("It works")
    address = f"https://loops.example/loop/{registered()[0].key}"
    assert all(message["message"].splitlines()[-1] == address for message in messages)
    assert len(other.got) == len(service.got)
    assert b"0123-not-for-others" not in b"".join(body for _, body in service.got)
    assert PASSWORD not in ran.out + ran.err
    assert all(PASSWORD not in path.read_text() for path in (project.root / ".aot").rglob("*.jsonl"))


def test_a_feature_tells_that_it_needs_a_person_and_not_that_a_part_of_it_is_done(tmp_path: Path) -> None:
    feature = a_feature(tmp_path)
    at(feature, "work", max_iterations=1)
    with receiving() as service:
        told_to(feature, service.address, more='page = "https://loops.example"\n')
        feature.ship()
    titles = [json.loads(body)["title"] for _, body in service.got]
    assert titles != []
    assert all(title.startswith("aotloop: the feature ") for title in titles)
    assert all("https://loops.example/feature/" in json.loads(body)["message"] for _, body in service.got)


@pytest.mark.filterwarnings("ignore::DeprecationWarning:apprise", "ignore::ResourceWarning")  # of the library
def test_nothing_is_sent_in_quiet_hours_and_no_mention_or_link_of_others_at_any_time() -> None:
    reason = "@everyone <!channel> https://evil.example"
    with receiving() as service:
        for quiet in ((0, 24 * 60), None):
            settings = NotifySettings(urls=(f"json://{service.address}/x",), quiet=quiet, timeout=PATIENCE)
            notifications = Notifications(settings, ForeignText(Secrets()))
            notifications.news(RunEnded(at="2026-01-01T00:00:00Z", status="stopped", reason=reason))
            notifications.close()
            assert len(service.got) == (0 if quiet else 1)
    message = json.loads(service.got[0][1])["message"]
    assert message.replace("\u2060", "") == f"{reason}."
    assert not any(active in message for active in ("@every", "<!", "://"))


def test_a_service_that_hangs_delays_nothing_but_the_end_and_that_not_for_long(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="echo a > a.txt"), base_case="test -f a.txt")
    with receiving("hangs") as service:
        ran = told_to(project, service.address, timeout="1s").run()
        assert (ran.code, project.loop.control.status) == (0, "completed")


def test_a_service_that_hangs_delays_no_other_service(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="echo a > a.txt"), base_case="test -f a.txt")
    with (
        receiving("hangs") as service,
        receiving() as other,
        told_to(project, service.address, other.address).running(),
    ):
        until(lambda: other.got or None)
    assert "complete" in json.loads(other.got[-1][1])["title"]


def test_a_test_message_says_who_took_it_and_never_the_address(tmp_path: Path) -> None:
    project = a_project(tmp_path, atom("A1", run="true"))
    with receiving() as service, receiving("refuses") as other:
        wrong = (f"json:/{PASSWORD}", PASSWORD)
        sent = told_to(project, service.address, other.address, "", wrong=wrong).aot("notify", "--test")
    assert (sent.code, sent.out.count("the message was taken")) == (1, 1)
    assert [json.loads(body)["title"] for _, body in service.got] == ["aotloop: test"]
    assert PASSWORD[:7] not in sent.out + sent.err, "not even its beginning"
    assert PASSWORD[:7] not in project.aot("notify").out


@pytest.mark.parametrize("file", ["aot.toml", "pyproject.toml"])
@pytest.mark.parametrize(
    "text", ['notify]\nurls = ["json://evil"]', 'telemetry]\nenabled = true\nendpoint = "http://e"']
)
def test_a_repository_cannot_name_services(project: Path, file: str, text: str) -> None:
    (project / file).write_text(f"[{'tool.aot.' if file == 'pyproject.toml' else ''}{text}\n")
    with pytest.raises(AotError, match="only your own settings") as refused:
        load(project)
    assert "evil" not in str(refused.value)


@pytest.mark.parametrize(
    ("span", "hour", "quiet"),
    [
        ((1320, 420), 23, True),
        ((1320, 420), 3, True),
        ((1320, 420), 12, False),
        ((540, 600), 9, True),
        (None, 9, False),
    ],
)
def test_quiet_hours_may_span_midnight(span: tuple[int, int] | None, hour: int, quiet: bool) -> None:
    moment = time.mktime((2026, 1, 15, hour, 30, 0, 0, 0, -1))
    assert is_quiet(span, moment) is quiet
