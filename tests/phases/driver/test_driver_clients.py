"""A whole feature, headless, by the real clients; with a forged receipt and tampered acceptance tests on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.app.ship.features import REVIEW_FILE, SHIPPED, TEST_FILE, WITHOUT_ROUNDS, a_feature
from tests.modelserver import Answer, ModelServer, Script
from tests.modelserver.operators import config_of, environ_of, most_clients, shell

PLAN_FILE = "docs/plans/feature.md"
PLAN = r"printf '# Plan\n\n- [ ] S1: write `feature.txt`\n'"


def answered(artifact: str, summary: str = "it is done") -> Answer:
    delta: dict[str, Any] = {"summary": summary, "artifacts": []}
    fields = {"success": True, "bindings_delta": delta, "artifacts": [artifact], "reason": ""}
    fields |= {"because_of": [], "wants_probe": False, "proposal": None}
    return Answer(fields)


def writing(client: str, phase: str, command: str, artifact: str, summary: str = "it is done", **more: Any) -> Script:
    folder = artifact.rpartition("/")[0] or "."
    told = shell(client, f"mkdir -p {folder} && {command}")
    return Script(f"its atom {phase}.", [told, answered(artifact, summary)], **more)


def scripts(client: str) -> list[Script]:
    def writes(phase: str, text: str, artifact: str, *more: str) -> Script:
        return writing(client, phase, f"echo '{text}' > {artifact}", artifact, *more)

    return [
        Script("its atom plan.", [answered(PLAN_FILE)], plays=1),  # which it did not write
        writing(client, "plan", f"{PLAN} > {PLAN_FILE}", PLAN_FILE),
        writes("spec_test", "test -s feature.txt", TEST_FILE),
        writing(client, "deepen", f"{PLAN} > {PLAN_FILE} && echo 'Beware.' >> {PLAN_FILE}", PLAN_FILE),
        writing(client, "A1", f"echo true > {TEST_FILE}", "feature.txt", plays=1),  # easier than to write the file
        writes("A1", "it works", "feature.txt"),
        writes("review", "No findings.", REVIEW_FILE),
        writes("compound", "learnt", "docs/solutions/feature.md"),
        writes("test", "all pass", "docs/reports/feature.md"),
        writes("ship", "new", "docs/releases/feature.md", SHIPPED),
    ]


@most_clients
def test_a_whole_feature_by_a_real_client(tmp_path: Path, client: str) -> None:
    with ModelServer(scripts(client)) as server:
        feature = a_feature(tmp_path, config=config_of(client), environ=environ_of(client, server))
        ran = feature.ship("a feature", "--skip-brainstorm", "--skip-test-review")
    assert ran.code == 8, ran.out[-3000:] + ran.err  # what it skipped is a gap
    loop = feature.loop
    assert (loop.status, loop.phases_completed) == ("completed", WITHOUT_ROUNDS[1:])
    ((phase, reason),) = feature.refusals()
    assert (phase, f"the artifact {PLAN_FILE} does not exist" in reason) == ("plan", True)
    assert [one["outcome"] for one in feature.news("attempt_ended") if one["atom"] == "A1"] == ["failed", "done"]
    assert (feature.root / TEST_FILE).read_text() == "test -s feature.txt\n"
    assert feature.subjects() == [*WITHOUT_ROUNDS[1:4], "A1", *WITHOUT_ROUNDS[5:]]
    assert feature.leftovers() == []
