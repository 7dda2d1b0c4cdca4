"""What the service does to Claude Code is told by its kind: what to wait for, what to mend."""

from __future__ import annotations

import pytest

from aotloop.agents.contract import Crashed, Done, Failed, MustWait, Outcome
from tests.agents.assignments import attempt
from tests.agents.claude.stage import DONE, Stage, shell
from tests.modelserver import Refuse, Say, Turn, cut, errors
from tests.modelserver.clients import needs_claude

pytestmark = needs_claude


@pytest.mark.parametrize(
    ("turn", "kind", "cause"),
    [
        (errors.rate_limited(retry_after=3600), MustWait, "rate_limit"),
        (errors.rate_limited(), MustWait, "rate_limit"),
        (errors.overloaded(), MustWait, "overload"),
        (errors.server_error(), MustWait, "outage"),
        (Say("Hello, my friends, wherever you are", delivery=cut()), MustWait, "outage"),
        (errors.unauthorized(), Failed, "auth"),
        (errors.forbidden(), Failed, "auth"),
        (errors.no_credit(), Failed, "quota"),
        (errors.no_quota(), Failed, "quota"),
        (errors.too_long(), Failed, "too_long"),
        (Refuse("I would rather not."), Failed, "refusal"),
        (errors.unknown_model(), Crashed, None),
    ],
)
def test_trouble_of_the_service_is_told_by_its_kind(
    stage: Stage, turn: Turn, kind: type[Outcome], cause: str | None
) -> None:
    outcome, server = stage.play([turn] * 3)
    assert (type(outcome), outcome.cause) == (kind, cause)
    assert len(server.played) <= 2, "retries are bounded"
    if isinstance(outcome, MustWait):
        assert outcome.retry_after is None
    if isinstance(outcome, Failed):
        assert outcome.taught == (cause == "too_long")
        assert ("/login" in outcome.reason) == (cause in {"auth", "quota"})
        assert ("Add credit" in outcome.reason) == (cause == "quota")


def test_the_time_to_wait_is_handed_on_where_the_client_tells_it(stage: Stage) -> None:
    outcome, _ = stage.play([errors.rate_limited(retry_after=2)] * 2)
    assert isinstance(outcome, MustWait)
    assert (outcome.cause, outcome.retry_after) == ("rate_limit", 2)


def test_the_end_of_a_subscriptions_limit_is_told(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    with stage.serve([errors.subscription_used_up(resets_in=3600)]) as server:
        assignment = stage.assignment(server)
        monkeypatch.delenv("ANTHROPIC_API_KEY")
        monkeypatch.setenv("CLAUDE_CODE_OAUTH_TOKEN", "sk-ant-oat01-scripted")
        outcome = attempt(stage.backend, assignment)
    assert isinstance(outcome, MustWait)
    assert outcome.cause == "rate_limit"
    assert outcome.retry_after == pytest.approx(3600, abs=60)


def test_without_a_login_it_says_how_to_log_in(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    with stage.serve([]) as server:
        assignment = stage.assignment(server)
        monkeypatch.delenv("ANTHROPIC_API_KEY")
        outcome = attempt(stage.backend, assignment)
    assert isinstance(outcome, Failed)
    assert outcome.cause == "auth"
    assert "ANTHROPIC_API_KEY" in outcome.reason


def test_a_service_that_cannot_be_reached_is_waited_for(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    with stage.serve([]) as server:
        assignment = stage.assignment(server)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
        outcome = attempt(stage.backend, assignment)
    assert (type(outcome), outcome.cause) == (MustWait, "outage")


def test_a_passing_trouble_does_not_end_the_attempt(stage: Stage) -> None:
    outcome, server = stage.play([errors.overloaded(), shell("touch made"), errors.rate_limited(), DONE])
    assert isinstance(outcome, Done)
    assert (stage.cwd / "made").exists()
    assert len(server.played) == 4
