"""LangGraph: one node that is entered once for each step, checkpointed before the next begins (durability "sync").

One node in a loop, not one node for each step: what a checkpoint holds then does not grow with the graph, which is to
its advantage. Fanned out, the steps are `Send`s of one superstep.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph
from langgraph.types import Send

from bench.peers.drivers.order import Order, ordered, perform

Graph = Callable[[Order], Any]


class Progress(TypedDict):
    done: Annotated[int, operator.add]


class Numbered(TypedDict):
    number: int


def chain(order: Order) -> Any:
    def step(progress: Progress) -> dict[str, int]:
        order.step(progress["done"])
        return {"done": 1}

    graph = StateGraph(Progress)
    graph.add_node("step", step)
    graph.add_edge(START, "step")
    graph.add_conditional_edges("step", lambda progress: "step" if progress["done"] < order.steps else END)
    return graph


def fan(order: Order) -> Any:
    def step(numbered: Numbered) -> dict[str, int]:
        order.step(numbered["number"])
        return {"done": 1}

    graph = StateGraph(Progress)
    graph.add_node("step", step)
    graph.add_conditional_edges(START, lambda _: [Send("step", {"number": one}) for one in range(order.steps)])
    return graph


def drive(chain: Graph, fan: Graph) -> None:
    order = ordered()
    config: Any = {"configurable": {"thread_id": "1"}, "recursion_limit": order.steps + 10}
    with SqliteSaver.from_conn_string(str(order.folder / "checkpoints.sqlite")) as saver:
        saver.setup()
        graph = (chain if order.is_chain else fan)(order).compile(checkpointer=saver)

        def work() -> None:
            is_begun = bool(graph.get_state(config).next)
            ended = graph.invoke(None if is_begun else {"done": 0}, config, durability="sync")
            if ended["done"] != order.steps:
                raise AssertionError(ended)

        perform(work, "langgraph")


if __name__ == "__main__":
    drive(chain, fan)
