"""Functions: the scheduler with the ledger of a run, which writes the state file durably before the effects.

As in `aot run`, all results that have arrived are committed together. Commands: `aot run` itself.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path
from queue import SimpleQueue

from aotloop.clock import now
from aotloop.core import effects, events
from aotloop.core.model import Verdict
from aotloop.core.objective import digest_of
from aotloop.core.scheduler import reports
from aotloop.core.scheduler.run_state import Run
from aotloop.runner.ledger import Exchanged, Item, Ledger, Rules
from aotloop.statefile.logged_store import LoggedStore
from bench.peers.drivers.order import Order, ordered, perform, run

SLOTS = 100
"""As many functions may be under way at once: the fastest of 8, 32, 100 and 1,000. Peers have their defaults."""

STATE_FILE = Path(".claude", "aot-loop-state.md")

HEAD = """---
objective:
  goal: nothing is left to do
  base_case:
    checklist:
      - item: all of them are done
        check: {{type: file, value: done}}
  background_intent: to know what a run costs
  deliverables: a figure
  definition_of_done: it was measured
  constraints:
    max_iterations: 1000000
    max_parallel_agents: {slots}
control:
  status: pending
  iteration: 0
  stall_count: 0
  prev_pending_count: 0
  stop_requested: false
  redirect_requested: false
atoms:
"""

ATOM = """\
  - id: A{number}
    description: step {number}
    status: pending
    depends_on: [{needs}]
    run: "{command}"
"""


def state_file(order: Order, slots: int) -> str:
    def atom(number: int) -> str:
        needs = f"A{number - 1}" if order.is_chain and number else ""
        command = order.command(number)
        if number == order.steps - 1:  # the base case must not hold before
            command = "touch done" if command == "true" else f"{command} && touch done"
        return ATOM.format(number=number, needs=needs, command=command)

    return HEAD.format(slots=slots) + "".join(map(atom, range(order.steps))) + "---\n"


class Driver:
    """Executes functions in threads as the conductor asks for them."""

    def __init__(self, order: Order, path: Path) -> None:
        self._order = order
        self.path = path
        store = self._store = LoggedStore(str(path))
        self._run = Run(store.load())
        self._digest = digest_of(self._run.loop.objective)
        self._ledger = Ledger(store, self._run, Rules(objection=lambda *_: None, at_once=self._at_once))
        self._done: SimpleQueue[Item] = SimpleQueue()

    def drive(self) -> None:
        items: list[Item] = [self._stop_what_died, reports.Began(at=now())]
        with self._store, ThreadPoolExecutor() as pool:
            while True:
                started = [one for one in self._exchange(items) if isinstance(one, effects.StartAttempt)]
                if self._run.finished:
                    break
                for one in started:
                    pool.submit(self._execute, one)
                items = self.arrived()
        if self._ledger.loop.control.status != "completed":
            raise AssertionError(self._ledger.loop.control)

    def _exchange(self, items: list[Item]) -> list[effects.Effect]:
        return self._ledger.exchange(items).effects

    def arrived(self) -> list[Item]:
        items = [self._done.get()]
        while not self._done.empty():
            items.append(self._done.get())
        return items

    def _execute(self, start: effects.StartAttempt) -> None:
        self._order.step(int(start.atom.removeprefix("A")))
        self._done.put(reports.WorkDone(at=now(), attempt=start.attempt, summary="did nothing"))

    def _stop_what_died(self, _: Exchanged) -> None:
        if self._run.loop.control.status == "running":
            self._run.advance(events.LoopStopped(reason=None))

    def _at_once(self, effect: effects.Effect, _: Exchanged) -> reports.Report | None:
        match effect:
            case effects.Integrate(attempt=attempt):
                return reports.Merged(at=now(), attempt=attempt)
            case effects.VerifyBaseCase(number=number):
                is_done = all(atom.status == "resolved" for atom in self._run.loop.atoms)
                failing = () if is_done else ("all of them are done",)
                verdict = Verdict(passed=is_done, objective_digest=self._digest, at=now(), failing=failing)
                return reports.Verified(at=now(), number=number, verdict=verdict, evidence=dict.fromkeys(failing, ""))
        return None


def prepared(order: Order, slots: int) -> Path:
    path = order.folder / STATE_FILE
    if not path.exists():
        path.parent.mkdir(parents=True)
        path.write_text(state_file(order, slots))
    return path


def main() -> None:
    order = ordered()
    if order.work.endswith("commands"):
        prepared(order, 2)
        aot = str(Path(sys.executable).with_name("aot"))
        argv = [aot, "run", "--yes", "--isolation", "none"]
        run(argv, order, version("aotloop"), {"HOME": str(order.folder)})
    else:
        path = prepared(order, SLOTS)
        perform(lambda: Driver(order, path).drive(), "aotloop")


if __name__ == "__main__":
    main()
