"""Judges for a command: what agents found before always counts; to ask an agent costs money, so `--judge` says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from aotloop.app.history.costs import spending
from aotloop.cli.ui.consent_dialog import require_config_consent
from aotloop.cli.ui.output import tell
from aotloop.core.checks.checklist import JUDGED, base_case_tree, leaves
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store
from aotloop.text.sanitize import prose
from aotloop.trust.person import refuse_agents

if TYPE_CHECKING:
    from aotloop.app.verify import JudgeOf
    from aotloop.execution.budget import Bill


@contextmanager
def recalling(store: Store) -> Iterator[JudgeOf]:
    """With earlier judgements of agents; None where nothing has to be judged."""
    if not _has_judged_items(store):
        yield lambda _: None
        return
    from aotloop.app.judges import recalled_judges  # noqa: PLC0415 - it loads the agents; most base cases need no judge

    with recalled_judges(store) as judges:
        yield judges


@contextmanager
def asking(store: Store, *, yes: bool) -> Iterator[JudgeOf]:
    """Asks an agent about items without a known judgement, and tells what that cost."""
    from aotloop.app.judges import asked_judges  # noqa: PLC0415
    from aotloop.config.sources import load  # noqa: PLC0415

    refuse_agents("only a person can request judgements", "Run `aot verify` without --judge.")
    config = load(Path(project_root(store.path)))
    require_config_consent(config, yes=yes)
    with asked_judges(store, config, _tell) as judges:
        yield judges


def _has_judged_items(store: Store) -> bool:
    return any(leaf.check.type in JUDGED for leaf in leaves(base_case_tree(store.load().objective.base_case)))


def _tell(bill: Bill) -> None:
    tell(prose(f"judging took {', '.join(spending(bill.usd or 0.0, bill.used))}"), err=True)
