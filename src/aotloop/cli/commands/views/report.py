"""`aot report`: it writes what was asked, done, failed and spent into one file, for people who were not there."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from aotloop.app.loops import open_store
from aotloop.app.report.feature_report import feature_markdown, feature_report
from aotloop.app.report.html_report import Report, html_report
from aotloop.app.report.markdown_report import markdown_report
from aotloop.app.ship.feature_access import project_here
from aotloop.cli.ui.options import json_option, state_file_option
from aotloop.cli.ui.output import named, report_done, say_json, shortest, tell
from aotloop.errors import StateFileMissing, refusal, writing
from aotloop.execution.journals.journal import FOLDER
from aotloop.statefile.locate import find_phase_file, project_root
from aotloop.text.sanitize import visible

STANDARD_OUTPUT = "-"


@click.command(
    "report",
    epilog="""\b
Examples:
  aot report                           .aot/report.html
  aot report -o /tmp/pancakes.html
  aot report --feature                 of the feature of `aot ship`
  aot report --markdown | gh pr create --title Pancakes --body-file -
""",
)
@state_file_option
@json_option
@click.option(
    "-o", "--output", metavar="FILE", help="Write to FILE; - is standard output.  [default: .aot/report.html]"
)
@click.option("--feature", is_flag=True, help="Of the feature of `aot ship`  [default: if there is no loop here].")
@click.option("--markdown", is_flag=True, help="Short text for a pull request  [default: to standard output].")
def command(state_file: str | None, as_json: bool, output: str | None, feature: bool, markdown: bool) -> None:
    """Write a report: what was asked, what was done and by which agent, what failed, every check's evidence, cost.

    The HTML file needs no network and no other file. Secrets of known forms are replaced; read it before you share it.
    """
    report, path = _report(state_file, is_feature=feature, is_markdown=markdown)
    data = {"format": "markdown" if markdown else "html", "left_out": report.left_out}
    if output is None and markdown and as_json:
        say_json({**data, "text": report.text})
    elif output == STANDARD_OUTPUT or (output is None and markdown):
        sys.stdout.buffer.write(report.text.encode("utf-8", "replace"))
        sys.stdout.buffer.flush()
    else:
        file = Path(output) if output is not None else Path(project_root(path), FOLDER, "report.html")
        _write(file, report.text)
        shown = shortest(str(file))
        done = {**data, "output": str(file), "bytes": len(report.text.encode("utf-8", "replace"))}
        report_done(as_json=as_json, data=done, message=f"wrote {visible(shown)}", steps=[f"open {named(shown)}"])
        if report.left_out and not as_json:
            left_out = ", ".join(f"{count:,} {what}" for what, count in report.left_out.items())
            tell(f"left out, to keep it small: {left_out}", err=True)


def _report(state_file: str | None, *, is_feature: bool, is_markdown: bool) -> tuple[Report, str]:
    """The report, and the file it is about. Without a loop here, the feature of this project is meant."""
    if not is_feature:
        try:
            store = open_store(state_file)
            return (markdown_report(store) if is_markdown else html_report(store)), store.path
        except StateFileMissing as missing:
            if state_file is not None or not _has_feature():
                raise missing from None
    project = project_here()
    return (feature_markdown(project) if is_markdown else feature_report(project)), project.store.path


def _has_feature() -> bool:
    try:
        find_phase_file()
    except StateFileMissing:
        return False
    return True


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with writing(path):
            path.write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        raise refusal(error) from None
