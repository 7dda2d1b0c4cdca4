"""Asks a person about items that no program can decide, finds an item by its name, and shows the result."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click
from click.shell_completion import CompletionItem

from aotloop.app.confirm import Answers, Conclusion, claim_of, judged_items
from aotloop.app.loops import open_store
from aotloop.app.verify import Verification
from aotloop.checks.evaluation import leaves_by_path
from aotloop.checks.judge import UNJUDGED
from aotloop.checks.results import CheckResult, Report
from aotloop.cli.ui.check_results import code_of_report, tell_item
from aotloop.cli.ui.output import faint, heading, mark, named, report_done, say_json, say_next, tell
from aotloop.cli.ui.prompts import ask
from aotloop.core.checks.item_paths import SEPARATOR
from aotloop.core.model import Loop
from aotloop.errors import AotError
from aotloop.statefile.lease import Holder
from aotloop.statefile.store import Store
from aotloop.text.phrases import listed, nearest
from aotloop.text.sanitize import prose
from aotloop.trust.confirmations import Subject

MOST_LISTED = 10


def ask_about(store: Store, done: Verification) -> Answers:
    """Asks about one item after the other. The end of the input ends the questions."""
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
    return Answers(about=about, confirmed=confirmed, rejected=rejected)


def _tell_claim(path: str, result: CheckResult) -> None:
    tell(prose(path), style=heading, err=True)
    for line in claim_of(result.to_judge) if result.to_judge is not None else []:
        tell(prose(line), head="  ", err=True)
    if result.to_judge is not None and not result.evidence.startswith(UNJUDGED[result.to_judge.type]):
        tell(prose(result.evidence), head="  ", style=faint, err=True)  # what an agent found


def _decision() -> str:
    while True:
        answer = ask("Is this true? [y/n, Enter: skip]").lower()
        if answer in ("", "s", "skip"):
            return ""
        if answer in ("y", "yes", "n", "no"):
            return answer[0]


def tell_remembered(answers: Answers, runner: Holder, *, as_json: bool) -> None:
    about = (
        f"for commit {answers.about.commit[:12]}" if answers.about.commit is not None else "but not kept without git"
    )
    report_done(
        as_json=as_json,
        data={"confirmed": list(answers.confirmed), "commit": answers.about.commit, "runner": runner.pid},
        message=prose(
            f"{', '.join(answers.confirmed)}: confirmed {about}; {runner.name} runs the loop and will use it"
        ),
        steps=["aot watch"],
    )


def tell_end(answers: Answers, end: Conclusion, *, as_json: bool, is_shown: bool) -> int:
    """`is_shown`: the person has seen the items. Returns the exit code."""
    report = end.report
    if as_json:
        say_json(_data(answers, end))
    else:
        for item in () if is_shown else report.items:
            tell_item(item)
        _tell_verdict(answers, end)
    return code_of_report(report)


def _data(answers: Answers, end: Conclusion) -> dict[str, Any]:
    return {
        **end.report.as_data(),
        "status": end.status,
        "completed": end.is_completed,
        "confirmed": list(answers.confirmed),
        "rejected": dict(answers.rejected),
        "begun": list(end.begun),
    }


def _tell_verdict(answers: Answers, end: Conclusion) -> None:
    if end.is_completed:
        tell("the base case holds, and the loop is completed", head=f"{mark(True)} ")
        say_next("aot status")
    elif end.report.passed:
        tell(f"the base case holds; the loop is {end.status}", head=f"{mark(True)} ")
        say_next("aot gate" if end.status == "pending" else "aot watch")
    elif end.report.undecided:
        tell(prose(f"undecided: {', '.join(end.report.waiting)}"), head=f"{mark(None)} ")
        if answers.confirmed and answers.about.commit is None:
            tell("Without git, a confirmation counts only once: confirm all items together.", err=True)
        by_name = (
            [f"aot confirm {named(path)}" for path in end.report.waiting] if answers.about.commit is not None else []
        )
        say_next(*by_name[:2], "aot confirm --all")
    else:
        repair = f"; {', '.join(end.begun)} will repair it" if end.begun else ""
        tell(prose(f"the base case does not hold: {', '.join(end.report.failing)}{repair}"), head=f"{mark(False)} ")
        say_next("aot run", "aot status")


def path_named(loop: Loop, name: str) -> str:
    """The path of the item with this whole path, or with this last name if only one item has it."""
    items = judged_items(loop)
    for path in items:
        if name in (path, prose(path)):
            return path
    ending = [path for path in items if path.rpartition(SEPARATOR)[2] == name or items[path].name == name]
    if len(ending) == 1:
        return ending[0]
    if ending:
        raise AotError(f"{name} could be any of {len(ending)} items", hint=f"Name it in full: {_listed(ending)}.")
    raise _unknown(loop, name, list(items))


def _unknown(loop: Loop, name: str, known: list[str]) -> AotError:
    others = {path: leaf for path, leaf in leaves_by_path(loop.objective.base_case).items() if path not in known}
    for path, leaf in others.items():
        if name in (path, leaf.name):
            return AotError(f"{name} is checked by a program ({leaf.check.type})", hint="`aot verify` runs it.")
    if not known:
        return AotError("no item of the base case waits for a person", hint="`aot verify` checks all items.")
    near = nearest(name, known)
    hint = f"Did you mean {near!r}?" if near else f"There are: {_listed(known)}."
    return AotError(f"there is no item {name} that a person can decide", hint=hint)


def _listed(paths: Iterable[str]) -> str:
    return listed([repr(path) for path in paths], MOST_LISTED)


def complete_item(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    try:
        items = judged_items(open_store(ctx.params.get("state_file")).load())
    except (AotError, OSError):  # completion has no place to complain
        return []
    return [CompletionItem(path) for path in items if path.startswith(incomplete) and path.isprintable()]
