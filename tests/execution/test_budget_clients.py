"""Real clients: what attempts cost that were killed with their run is known, and none spends more than its share."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from aotloop.core.model import Constraints
from tests.loops import atom
from tests.modelserver import Call, ModelServer, Say, Script, Usage, silent
from tests.modelserver.clients import needs
from tests.modelserver.operators import config_of, environ_of, shell
from tests.patience import PATIENCE, until
from tests.runner.projects import Project, a_project

PRICE = "price = {input = 1000}\n"
"""A request of 700 tokens costs 0.70 USD."""


def project_of(folder: Path, client: str, server: ModelServer, most: float) -> Project:
    return a_project(
        folder,
        atom("A1"),
        base_case="false",
        config=config_of(client, PRICE),
        constraints=Constraints(max_cost_usd=most),
        environ=environ_of(client, server),
    )


@pytest.mark.parametrize("client", [pytest.param(one, marks=needs(one)) for one in ("claude", "codex", "opencode")])
def test_what_an_attempt_cost_that_was_killed_with_its_run_is_known_to_the_next(tmp_path: Path, client: str) -> None:
    paid = Call(*shell(client, "true").calls, usage=Usage(input=700, output=1))
    with ModelServer([Script("A1", [paid, *[Say("x", delivery=silent())] * 9])]) as server:
        project = project_of(tmp_path, client, server, 0.5)
        with project.running() as process:
            until((project.root / ".aot/attempts/A1-1/meter.json").exists, "it told nothing while it worked")
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=PATIENCE)
        ran = project.run()
    assert ran.code == 5, ran.out
    assert project.loop.control.cost_usd == pytest.approx(0.7)
    assert project.loop.control.used.input == 700


@pytest.mark.parametrize("client", [pytest.param(one, marks=needs(one)) for one in ("codex", "opencode")])
def test_an_attempt_ends_at_its_share_of_the_money(tmp_path: Path, client: str) -> None:
    paid = Call(*shell(client, "sleep 1").calls, usage=Usage(input=700, output=1))
    with ModelServer([Script("A1", [paid] * 40)]) as server:
        project = project_of(tmp_path, client, server, 2.0)
        ran = project.run()
    assert ran.code == 5, ran.out
    assert 2.0 <= project.loop.control.cost_usd <= 6.0, "what it spends until that is known, and no more"
    assert project.loop.control.cost_usd == pytest.approx(0.7 * project.loop.control.used.input / 700)
