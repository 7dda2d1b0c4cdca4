"""Shows what a loop has cost: by atom, by agent, by role; a table without known costs is left out."""

from __future__ import annotations

from collections.abc import Mapping

import click

from aotloop.app.history.amounts import spending
from aotloop.app.history.costs import Cost, Costs
from aotloop.cli.ui.output import faint, heading
from aotloop.text.durations import lasting
from aotloop.text.phrases import counted, dollars
from aotloop.text.sanitize import visible

MOST_ROWS = 5
_WIDEST = 24


def tell_costs(costs: Costs) -> None:
    if not any(cost.is_known for table in (costs.by_atom, costs.by_agent, costs.by_role) for cost in table.values()):
        return
    click.echo()
    click.echo(heading("Cost"))
    for label, table in (("atom", costs.by_atom), ("agent", costs.by_agent), ("role", costs.by_role)):
        _tell_table(label, table)
    if costs.unknown_usd:
        click.echo(faint(f"  {dollars(costs.unknown_usd)} more are in the state file, but not in the journal"))


def _tell_table(label: str, table: Mapping[str, Cost]) -> None:
    known = [(name, cost) for name, cost in table.items() if cost.is_known]
    for name, cost in known[:MOST_ROWS]:
        facts = [*spending(cost.usd or 0.0, cost.used), counted(cost.attempts, "attempt")]
        facts += [lasting(cost.seconds)] if cost.seconds >= 1 else []
        click.echo(f"  {faint(f'{label:<6}')} {visible(name):<{_WIDEST}} {' · '.join(facts)}")
    if len(known) > MOST_ROWS:
        click.echo(faint(f"  {label:<6} … {len(known) - MOST_ROWS:,} more; --json has all"))
