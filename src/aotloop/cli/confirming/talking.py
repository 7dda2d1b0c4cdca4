"""What a person is asked about items that wait, and told about what came of the answers."""

from __future__ import annotations

from typing import Any

from aotloop import app
from aotloop.cli.asking import ask
from aotloop.cli.confirming.conclusions import Conclusion, Said
from aotloop.cli.confirming.items import claim_of
from aotloop.cli.foreign import prose
from aotloop.cli.output import faint, heading, mark, named, report_done, say_json, say_next, tell
from aotloop.cli.verify import FAILED, PASSED, UNDECIDED, tell_item
from aotloop.statefile.lease import Holder
from aotloop.statefile.store import Store
from aotloop.trust.confirmations import Subject
from aotloop.verify.judge import NOBODY_ASKED
from aotloop.verify.results import CheckResult, Report


def ask_about(store: Store, done: app.Verification) -> Said:
    """One after the other. Who ends the input has said enough."""
    report: Report = done.report
    about = Subject(state_file=store.path, objective_digest=done.verdict.objective_digest, commit=done.verdict.commit)
    confirmed: dict[str, str] = {}
    rejected: dict[str, str] = {}
    for item in report.items:
        tell_item(item)
    try:
        for path, result in report.waiting.items():
            _tell_claim(path, result)
            answer = _decision()
            if answer == "y":
                confirmed[path] = "as it should be"
            elif answer == "n":
                rejected[path] = ask("What is wrong?") or "it is not as it should be"
    except EOFError:
        pass
    return Said(about=about, confirmed=confirmed, rejected=rejected)


def _tell_claim(path: str, result: CheckResult) -> None:
    tell(prose(path), style=heading, err=True)
    for line in claim_of(result.to_judge) if result.to_judge is not None else []:
        tell(prose(line), head="  ", err=True)
    if result.to_judge is not None and not result.evidence.startswith(NOBODY_ASKED[result.to_judge.type]):
        tell(prose(result.evidence), head="  ", style=faint, err=True)  # what an agent found


def _decision() -> str:
    while True:
        answer = ask("Is it so? [y/n, Enter: skip]").lower()
        if answer in ("", "s", "skip"):
            return ""
        if answer in ("y", "yes", "n", "no"):
            return answer[0]


def tell_remembered(said: Said, runner: Holder, *, as_json: bool) -> None:
    about = (
        f"for commit {said.about.commit[:12]}" if said.about.commit is not None else "but nothing is kept without git"
    )
    report_done(
        as_json=as_json,
        data={"confirmed": list(said.confirmed), "commit": said.about.commit, "runner": runner.pid},
        said=prose(f"{', '.join(said.confirmed)}: confirmed {about}; {runner.name} runs the loop, and looks at it"),
        steps=["aot watch"],
    )


def tell_end(said: Said, end: Conclusion, *, as_json: bool, is_shown: bool) -> int:
    """`is_shown`: the person has seen the items. Returns the exit code."""
    report = end.report
    if as_json:
        say_json(_data(said, end))
    else:
        for item in () if is_shown else report.items:
            tell_item(item)
        _tell_verdict(said, end)
    return PASSED if report.passed else UNDECIDED if report.undecided else FAILED


def _data(said: Said, end: Conclusion) -> dict[str, Any]:
    return {
        **end.report.as_data(),
        "status": end.status,
        "completed": end.is_completed,
        "confirmed": list(said.confirmed),
        "rejected": dict(said.rejected),
        "begun": list(end.begun),
    }


def _tell_verdict(said: Said, end: Conclusion) -> None:
    if end.is_completed:
        tell("the base case holds, and the loop is completed", head=f"{mark(True)} ")
        say_next("aot status")
    elif end.report.passed:
        tell(f"the base case holds; the loop is {end.status}", head=f"{mark(True)} ")
        say_next("aot gate" if end.status == "pending" else "aot watch")
    elif end.report.undecided:
        tell(prose(f"undecided: {', '.join(end.report.waiting)}"), head=f"{mark(None)} ")
        if said.confirmed and said.about.commit is None:
            tell("Without git, a confirmation holds for one evaluation: confirm all items together.", err=True)
        by_name = [f"aot confirm {named(path)}" for path in end.report.waiting] if said.about.commit is not None else []
        say_next(*by_name[:2], "aot confirm --all")
    else:
        mending = f"; {', '.join(end.begun)} is to mend that" if end.begun else ""
        tell(prose(f"the base case does not hold: {', '.join(end.report.failing)}{mending}"), head=f"{mark(False)} ")
        say_next("aot run", "aot status")
