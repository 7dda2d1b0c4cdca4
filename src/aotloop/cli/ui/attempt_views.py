"""Shows attempts to a person: what became of them, the prompt, the steps of the agent, checks and changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from aotloop.agents.attempt.transcripts import Step, StepKind
from aotloop.app.history.attempts import Attempt
from aotloop.app.history.costs import spending
from aotloop.app.show import AttemptFacts, fate_in_words
from aotloop.cli.ui.output import faint, heading, mark, shortest, tell
from aotloop.git.commits.commit_diff import FileDiff
from aotloop.text.phrases import counted, lasting
from aotloop.text.sanitize import plain, prose, visible
from aotloop.text.shorten import headline

MOST_LISTED = 20
_INDENT = "    "
_SPEAKERS: dict[StepKind, tuple[str, str | None]] = {
    "says": ("", None),
    "thinks": ("thinks", "cyan"),
    "calls": ("▸", "blue"),
    "returns": ("◂", None),
    "prints": ("", None),
    "error": ("✘", "red"),
    "note": ("·", None),
}


def tell_attempts(attempts: Sequence[Attempt]) -> None:
    if not attempts:
        return
    click.echo(heading("Attempts"))
    if len(attempts) > MOST_LISTED:
        click.echo(faint(f"  … {len(attempts) - MOST_LISTED:,} earlier ones"))
    for attempt in attempts[-MOST_LISTED:]:
        tell(headline(fate_in_words(attempt)), head=f"  {visible(attempt.name)}  ", note=prose(attempt.agent))


def tell_attempt(facts: AttemptFacts, parts: Sequence[str]) -> None:
    """`parts`: prompt, transcript, diff, checks. A single part is shown without a heading."""
    is_whole = len(parts) > 1
    if is_whole:
        _tell_head(facts)
    shown = {"prompt": _prompt, "transcript": _transcript, "checks": _checks, "diff": _diff}
    for part in ("prompt", "transcript", "checks", "diff"):
        if part in parts:
            lines = list(shown[part](facts))
            if is_whole:
                click.echo()
                click.echo(heading(part.capitalize()))
            for line in lines:
                click.echo(line)


def _tell_head(facts: AttemptFacts) -> None:
    attempt = facts.attempt
    click.echo()
    by = f"by {prose(attempt.agent)}" if attempt.agent else ""
    role = ", as a probe" if attempt.role == "probe" else ""
    tell(f"{by}{role}, began {prose(attempt.began)}", head=f"{heading(visible(attempt.name))}  ")
    tell(prose(facts.fate), head=f"{faint('became')}       ")
    spent = [*([lasting(attempt.seconds)] if attempt.seconds else []), *spending(attempt.cost_usd or 0.0, attempt.used)]
    if spent:
        tell(" · ".join(spent), head=f"{faint('cost')}         ")
    if attempt.summary and attempt.fate in ("landed", "undone", "merging", "not_merged"):
        tell(prose(attempt.summary), head=f"{faint('summary')}      ")
    if facts.folder is not None:
        tell(visible(shortest(facts.folder)), head=f"{faint('journal')}      ")


def _prompt(facts: AttemptFacts) -> Iterator[str]:
    if not facts.prompt:
        yield f"{_INDENT}no prompt: a command did it, or its journal is gone"
    for line in facts.prompt.split("\n") if facts.prompt else ():
        yield f"{_INDENT}{line}".rstrip()


def _transcript(facts: AttemptFacts) -> Iterator[str]:
    if not facts.transcript:
        yield f"{_INDENT}nothing was printed, or its journal is gone"
    for step in facts.transcript:
        yield from step_lines(step)


def step_lines(step: Step) -> Iterator[str]:
    """A step of an agent, indented, with the time at which it happened."""
    word, colour = _SPEAKERS[step.kind]
    mark_of = f"{click.style(word, fg=colour)} " if word else ""
    tool = f"{click.style(prose(step.tool), bold=True)} " if step.tool else ""
    first, *others = step.text.split("\n")
    yield f"{faint(f'{step.at:>7.1f}s')}  {mark_of}{tool}{first}".rstrip()
    for line in others:
        yield f"{' ' * 10}{line}".rstrip()


def _checks(facts: AttemptFacts) -> Iterator[str]:
    if not facts.attempt.checks:
        yield f"{_INDENT}it was not checked, or has no check of its own"
    for part in facts.attempt.checks:
        first, *others = plain(part.evidence).split("\n")
        yield f"{_INDENT}{mark(part.passed)} {prose(part.name)}: {first}"
        for line in others:
            yield f"{_INDENT}    {line}"


def _diff(facts: AttemptFacts) -> Iterator[str]:
    if not facts.diff:
        yield f"{_INDENT}{facts.no_diff or 'it changed no file'}"
    yield from diff_lines(facts.diff)


def stat_lines(files: Sequence[FileDiff]) -> Iterator[str]:
    """One line for each file, and a sum."""
    for file in files:
        counts = f"{click.style(f'+{file.added}', fg='green')} {click.style(f'-{file.removed}', fg='red')}"
        yield f"{file.change:<8} {visible(file.path)}  {counts}"
    added, removed = sum(file.added for file in files), sum(file.removed for file in files)
    yield f"{counted(len(files), 'file')}, {added:,} lines added, {removed:,} removed"


def diff_lines(files: Sequence[FileDiff]) -> Iterator[str]:
    """For a terminal: in colours, and no character of a file can control it."""
    for file in files:
        for line in file.patch.removesuffix("\n").split("\n"):
            shown = "\t".join(visible(part) for part in line.split("\t"))
            yield _coloured(shown)
        if file.is_cut:
            yield faint(f"… the rest of {visible(file.path)} is left out")


def _coloured(line: str) -> str:
    if line.startswith(("diff --git", "index ", "--- ", "+++ ")):
        return heading(line)
    return click.style(line, fg={"+": "green", "-": "red", "@": "cyan"}.get(line[:1]))
