"""What a run that died has left running: agents and tests of a feature that nobody drives any more are ended."""

from __future__ import annotations

from contextlib import suppress

from aotloop.core.phases.model import PhaseLoop
from aotloop.errors import AotError
from aotloop.phases.ground import Ground
from aotloop.shipping.graphs import is_made_by_us
from aotloop.shipping.identity import run_id_of
from aotloop.statefile.lease import lease
from aotloop.statefile.locate import STATE_FILE
from aotloop.statefile.store import Store
from aotloop.survivors import kill_orphans


def kill_abandoned(ground: Ground, loop: PhaseLoop) -> None:
    """Nothing that somebody drives: nobody begins to meanwhile."""
    with suppress(AotError), lease(ground.store.path):
        kill_orphans(run_id_of(loop, ground.store.path))
    store = Store(str(ground.root / STATE_FILE))
    with suppress(AotError):
        made = store.load()
        if is_made_by_us(made) and made.control.run_id is not None:
            with lease(store.path):
                kill_orphans(made.control.run_id)
