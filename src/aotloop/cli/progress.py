"""Tells a person what is running; only where a person looks, and never on standard output."""

from __future__ import annotations

import sys

import click

from aotloop.cli.output import mark
from aotloop.verify.evaluate import Progress
from aotloop.verify.results import CheckResult


def progress_lines() -> Progress | None:
    return _line if sys.stderr.isatty() else None


def _line(name: str, what: str, result: CheckResult | None) -> None:
    if what == "started" or result is None:
        click.echo(click.style(f"  … {name}", dim=True), err=True)
    else:
        click.echo(f"  {mark(result.passed)} {name}: {result.evidence}", err=True)
