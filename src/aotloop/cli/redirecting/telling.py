"""What came of a correction, and how the loop goes on, in words."""

from __future__ import annotations

from aotloop.cli.redirecting.applying import Applied
from aotloop.statefile.lease import holder_of
from aotloop.statefile.store import Store


def in_words(applied: Applied) -> str:
    if not applied.corrections:
        return "the objective is agreed on as it is in the file; nothing had to be changed"
    added = f" (the new atom is {applied.added})" if applied.added is not None else ""
    undone = f"; what {', '.join(applied.undone)} led to no longer counts" if applied.undone else ""
    return f"{'; '.join(applied.told)}{added}{undone}"


def next_steps(store: Store) -> list[str]:
    runner = holder_of(store.path)
    return [f"{runner.name} goes on so", "aot watch"] if runner is not None else ["aot run", "aot status"]
