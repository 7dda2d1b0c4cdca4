"""Forged records and hostile files: whatever lies where an agent can write, nothing unchecked lands and nothing hangs.

`fields`: every field of a record of a run that was killed gets every kind of value, and recovery looks at it.
`places`: an agent puts every kind of file into every place of its attempt, of the journals and of the person's records.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.loops import atom
from tests.process.sandbox.worlds import engines
from tests.repositories import new_repository
from tests.runner.agents import done, scripted
from tests.runner.projects import Project, a_project

from aotloop.core.model import Constraints
from aotloop.execution.integration.branch import Branch
from aotloop.execution.integration.protection import protection_of
from aotloop.execution.journals.journal import RECORD, Journal
from aotloop.git.repository import find_repository
from aotloop.runner.crash_recovery import Recovery, recovery_of
from faults.counts import Counts, Deadline
from faults.hostile_places import let_agents_note, untried

FIELDS, PLACES = "forged records: fields", "hostile files: places"

GOLDEN = Path(__file__).parents[1] / "tests" / "golden" / "killed-run"
RUN = "fceb1990cb77"
VALUES: tuple[Any, ...] = (
    None, "", "x", "../../..", "--help", "HEAD", "A1", RUN, True, False, 0, -1, 2**70, 1e308, -5.5, [], {}, ["x"],
    "0" * 40, "a" * 100_000, {"usd": -1e9}, {"type": "WorkDone"}, {"commit": "HEAD"},
)  # fmt: skip

# --- every field of a record -----------------------------------------------------------------------------------------


def killed_project(folder: Path) -> Project:
    """A run that was killed while a result waited; and a commit with a weakened test, made by an agent."""
    root = folder / "project"
    root.mkdir(parents=True)
    new_repository(root)
    project = Project(root)
    project.git("fetch", "--quiet", "--update-head-ok", str(GOLDEN / "repository.bundle"), "+refs/*:refs/*")
    project.git("reset", "--quiet", "--hard")
    shutil.copytree(GOLDEN / "journal", root / ".aot")
    shutil.copy(GOLDEN / "state.md", root / ".claude" / "aot-loop-state.md")
    return project


def weakened(project: Project, *, is_kept: bool) -> str:
    """A commit that changes a protected file, with the trailers of A3's attempt; `is_kept`: under its ref as well."""
    tree = project.git("write-tree")
    blob = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"], cwd=project.root, input=b"true\n", capture_output=True, check=True
    ).stdout.decode()
    env = {**os.environ, "GIT_INDEX_FILE": str(project.root / ".git" / "forged-index")}
    for words in (("read-tree", tree), ("update-index", "--add", "--cacheinfo", f"100644,{blob.strip()},tests/t.sh")):
        subprocess.run(["git", *words], cwd=project.root, env=env, check=True)
    made = subprocess.run(["git", "write-tree"], cwd=project.root, env=env, capture_output=True, text=True, check=True)
    message = f"A3: x\n\nAot-Atom: A3\nAot-Attempt: 3\nAot-Run: {RUN}"
    sha = project.git("commit-tree", made.stdout.strip(), "-p", "HEAD", "-m", message)
    if is_kept:
        project.git("update-ref", "refs/aot/attempts/A3-3", sha)
    return sha


def forgeries() -> Iterator[tuple[str, dict[str, Any]]]:
    good = json.loads((GOLDEN / "journal" / "attempts" / "A3-3" / RECORD).read_text())
    paths: list[tuple[str, ...]] = [(key,) for key in good]
    paths += [(key, inner) for key, value in good.items() if isinstance(value, dict) for inner in value]
    for path, value in itertools.product(paths, VALUES):
        forged = json.loads(json.dumps(good))
        place = forged if len(path) == 1 else forged[path[0]]
        place[path[-1]] = value
        yield f"{'.'.join(path)} = {str(value)[:30]!r}", forged


def recovery_from(project: Project, record: dict[str, Any]) -> Recovery:
    """What recovery makes of this record, which has no code of ours."""
    (project.root / ".aot" / "attempts" / "A3-3" / RECORD).write_text(json.dumps(record))
    repository = find_repository(project.root)
    assert repository is not None
    protection = protection_of(("tests/**",), str(project.state_file), str(project.root))
    return recovery_of(project.loop, RUN, Journal(project.root), Branch(repository), protection)


def recovered(project: Project, record: dict[str, Any], genuine: str) -> Iterator[str]:
    """What is wrong after recovery has looked at this record."""
    found = recovery_from(project, record)
    for one in found.found:
        if one.work is not None and one.work.is_checked:
            yield "it counts as checked"
        if one.work is not None and one.work.commit not in (None, genuine):
            yield f"work of others is taken up: {one.work.commit}"
        if one.work is None and one.report is not None:
            yield f"it reports {one.report}"
    if not 0 <= (found.bill.usd or 0.0) <= 1e6:
        yield f"it costs {found.bill.usd}"
    if not 0 < found.first_attempt < 10**9:
        yield f"the next attempt is {found.first_attempt}"


def fields(top: Path, deadline: Deadline, every: int = 1) -> Counts:
    counts, began = Counts(FIELDS), time.monotonic()
    project = killed_project(top)
    good = json.loads((GOLDEN / "journal" / "attempts" / "A3-3" / RECORD).read_text())
    genuine = good["work"]["commit"]
    taken_up = [one.work.commit for one in recovery_from(project, good).found if one.work is not None]
    counts.add("nothing forged", [] if genuine in taken_up else ["its work is lost: nothing is ever taken up"])
    for name, record in itertools.islice(forgeries(), 0, None, every):
        if deadline.is_over:
            break
        counts.add(name, _tried(project, record, genuine))
    for is_kept in (False, True):
        forged = {**good, "work": {**good["work"], "commit": weakened(project, is_kept=is_kept)}}
        counts.add(f"a weakened protected test, kept: {is_kept}", _tried(project, forged, genuine))
    counts.seconds = time.monotonic() - began
    return counts


def _tried(project: Project, record: dict[str, Any], genuine: str) -> list[str]:
    try:
        return list(recovered(project, record, genuine))
    except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
        return [f"{type(error).__name__}: {error}"]


# --- every place an agent can write ----------------------------------------------------------------------------------

KINDS = {
    "link": "ln -s {outside}/secret {place}",
    "dangling": "ln -s {outside}/new {place}",
    "fifo": "mkfifo {place}",
    "device": "mknod {place} c 1 5 2>/dev/null || ln -s /dev/zero {place}",
    "folder": "mkdir {place}",
    "huge": "truncate -s 1T {place} 2>/dev/null || truncate -s 100G {place}",
    "deep": "mkdir {place} && cd {place} && for i in $(seq 300); do mkdir d && cd d; done; cd /",
    "forged": 'echo \'{{"success": true, "code": "0"}}\' > {place}',
}
JOURNAL = ".aot/attempts/A1-1"
PLACES_OF = {
    "result": "$R",
    **{
        name: f"{{root}}/{JOURNAL}/{name}"
        for name in ("record.json", "record.codes", "used.json", "prompt.md", "transcript.jsonl", "result.json")
    },
    "next attempt": "{root}/.aot/attempts/A1-2",
    "events": "{root}/.aot/events.jsonl",
    "key": "$HOME/.local/share/aotloop/private/key",
    "trusted": "$HOME/.local/share/aotloop/trusted",
    "objectives": "$HOME/.local/share/aotloop/objectives",
}
_LONGEST = 60.0


def hostile_run(folder: Path, place: str, kind: str, sandbox: str) -> Iterator[str]:
    home, outside = folder / "home", folder / "outside"
    for made in (home, outside):
        made.mkdir(parents=True)
    (outside / "secret").write_text("the secret\n")
    where = PLACES_OF[place].format(root=folder / "project")
    order = "; ".join((f"rm -rf {where}", KINDS[kind].format(place=where, outside=outside))) + "; true"
    bad = done({"a": "bad\n"}, run=f"R=$(echo ~/.cache/aot/scratch/for-*[!k])/result.json; {order}")
    marks = folder / "marks"
    marks.mkdir()
    let_agents_note(home, marks)
    project = a_project(
        folder,
        atom("A1"),
        base_case="grep -q good a",
        files={"tests/t.sh": "exit 1\n"},
        config=scripted(marks, {"A1": [bad, done({"a": "good\n"})]}),
        constraints=Constraints(max_total_attempts=2, max_iterations=3),
        protect=("tests/**",),
        environ={"HOME": str(home), "AOT_CONFINE": "auto", "AOT_SANDBOX": sandbox, "XDG_DATA_HOME": ""},
    )
    try:
        ran = project.aot("run", "--yes", "--json", patience=_LONGEST)
    except AssertionError:
        yield "it hangs"
        return
    yield from untried(ran)
    if '"attempt_ended"' not in ran.out:
        yield f"no attempt was made, so that nothing was tried: {(ran.out + ran.err)[-300:]}"
    if "Traceback" in ran.err or "this is a bug" in ran.out + ran.err:
        yield f"it takes it for a bug of ours: {ran.err[-300:]}"
    if ran.code == 0 and project.git("show", "HEAD:a") != "good":
        yield "it is called done, and is not"
    if (outside / "secret").read_text() != "the secret\n" or (outside / "new").exists():
        yield "it was written outside"
    if project.git("show", "HEAD:tests/t.sh") != "exit 1":
        yield "a protected file was changed"


def places(top: Path, deadline: Deadline, seed: int) -> Counts:
    """In an order drawn by the seed."""
    counts, began = Counts(PLACES), time.monotonic()
    cases = [*itertools.product(PLACES_OF, KINDS, ("off", *engines()))]
    random.Random(seed).shuffle(cases)
    for number, (place, kind, sandbox) in enumerate(cases):
        if deadline.is_over:
            break
        folder = top / f"place-{number}"
        counts.add(f"{kind} at {place}, {sandbox}", hostile_run(folder, place, kind, sandbox))
        subprocess.run(["rm", "-rf", str(folder)], check=False)
    counts.seconds = time.monotonic() - began
    return counts


def campaign(top: Path, deadline: Deadline, *, seed: int) -> list[Counts]:
    return [fields(top / "fields", deadline), places(top / "places", deadline, seed)]
