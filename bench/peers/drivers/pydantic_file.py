"""pydantic-graph 1: one node that is run once for each step, with its state in a JSON file.

Version 2 has no persistence any more. A run that was killed inside a node cannot be restored by
`iter_from_persistence`, which looks for a node that has not begun; so the last one is taken up by hand.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass

from pydantic_graph import BaseNode, End, Graph, GraphRunContext
from pydantic_graph.persistence import NodeSnapshot
from pydantic_graph.persistence.file import FileStatePersistence

from bench.peers.drivers.order import ordered, perform

ORDER = ordered()


@dataclass
class Progress:
    done: int


@dataclass
class Step(BaseNode[Progress, None, int]):
    async def run(self, context: GraphRunContext[Progress]) -> Step | End[int]:
        ORDER.step(context.state.done)
        context.state.done += 1
        return Step() if context.state.done < ORDER.steps else End(context.state.done)


GRAPH = Graph(nodes=[Step], state_type=Progress, run_end_type=int)


async def chain() -> None:
    persistence: FileStatePersistence[Progress, int] = FileStatePersistence(ORDER.folder / "graph.json")
    persistence.set_graph_types(GRAPH)
    before = [one for one in await persistence.load_all() if isinstance(one, NodeSnapshot)]
    state = before[-1].state if before else Progress(0)
    ended = await GRAPH.run(Step(), state=state, persistence=persistence)
    if ended.output != ORDER.steps:
        raise AssertionError(ended)


if __name__ == "__main__":
    if not ORDER.is_chain:
        sys.exit("its persisted graphs run one node after the other")
    perform(lambda: asyncio.run(chain()), "pydantic-graph")
