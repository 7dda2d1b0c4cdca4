"""Who judges for a command: what agents found before always counts; to ask one costs money, so one has to say so."""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from aotloop import app
from aotloop.cli.consent import require_config_consent
from aotloop.cli.foreign import prose
from aotloop.cli.output import tell
from aotloop.cli.spending import spending
from aotloop.core.checklist import JUDGED, base_case_tree, leaves
from aotloop.core.objective import digest_of
from aotloop.errors import AotError, NotTrusted, Unavailable
from aotloop.statefile.lease import holder_of
from aotloop.statefile.locate import project_root
from aotloop.statefile.store import Store

if TYPE_CHECKING:
    from aotloop.config import Config
    from aotloop.launch.judges import Judges
    from aotloop.runner.bills import Bill
    from aotloop.trust.confirmations import Subject
    from aotloop.verify.judge import Judge

JudgeOf = Callable[["Subject"], "Judge | None"]


@contextmanager
def recalling(store: Store) -> Iterator[JudgeOf]:
    """With what agents found before; None where nothing has to be judged."""
    if not _has_judged_items(store):
        yield lambda _: None
        return
    from aotloop.config import Config, load  # noqa: PLC0415 - most base cases need no judge
    from aotloop.launch.judges import Judges  # noqa: PLC0415

    config = Config()
    with suppress(AotError):  # nobody is to be asked, so it does not matter who it would be
        config = load(Path(project_root(store.path)))
    judges = Judges(store, config)
    try:
        yield lambda subject: _judge_of(store, judges, subject, lambda _: None)
    finally:
        judges.close()


@contextmanager
def asking(store: Store, *, yes: bool) -> Iterator[JudgeOf]:
    """With an agent, which is asked about what is not known yet. What it cost is told and kept."""
    from aotloop.config import load  # noqa: PLC0415
    from aotloop.launch.judges import Asking, Judges  # noqa: PLC0415
    from aotloop.runner.bills import bill_of, sum_of  # noqa: PLC0415

    _refuse_agents()
    config = load(Path(project_root(store.path)))
    require_config_consent(config, yes=yes)
    _refuse_nobody(config)
    bills: list[Bill] = []
    with tempfile.TemporaryDirectory(prefix="aot-judging-") as folder:
        judges = Judges(
            store,
            config,
            Asking(
                run_id=f"verify-{uuid.uuid4().hex[:12]}",
                scratch=lambda _: Path(tempfile.mkdtemp(dir=folder)),
                allowance=lambda: config.max_attempt_cost_usd,
            ),
        )
        try:
            yield lambda subject: _judge_of(store, judges, subject, lambda outcome: bills.append(bill_of(outcome)))
        finally:
            judges.close()
            _account(store, sum_of(bills))


def _judge_of(store: Store, judges: Judges, subject: Subject, on_spent: Callable[..., None]) -> Judge | None:
    objective = store.load().objective
    if digest_of(objective) != subject.objective_digest:
        return None  # it was changed just now, and nothing that is found out would count
    return judges.judge(objective, Path(project_root(store.path)), on_spent)


def _has_judged_items(store: Store) -> bool:
    return any(leaf.check.type in JUDGED for leaf in leaves(base_case_tree(store.load().objective.base_case)))


def _refuse_agents() -> None:
    if os.environ.get("AOT_RUN_ID"):
        raise NotTrusted(
            "this is an attempt of a loop, and only a person has things judged", hint="`aot verify` does without."
        )


def _refuse_nobody(config: Config) -> None:
    from aotloop.launch.judges import judge_of  # noqa: PLC0415

    if judge_of(config, "judge") is None and judge_of(config, "verifier") is None:
        raise Unavailable(
            "no agent is configured to judge", hint='Name one in aot.toml: `agent = "claude"`, or under [roles.judge].'
        )


def _account(store: Store, bill: Bill) -> None:
    if bill.is_empty:
        return
    tell(prose(f"judging took {', '.join(spending(bill.usd or 0.0, bill.used))}"), err=True)
    if holder_of(store.path) is None:  # else whoever runs the loop keeps its books
        app.apply(store, bill.event)
