"""LangGraph as `langgraph_sqlite`, but with a node for each step, as steps have that are not all the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langgraph.graph import START, StateGraph

from bench.peers.drivers.langgraph_sqlite import Progress, drive
from bench.peers.drivers.order import Order


def step_of(order: Order, number: int) -> Callable[[Progress], dict[str, int]]:
    def step(_: Progress) -> dict[str, int]:
        order.step(number)
        return {"done": 1}

    return step


def chain(order: Order) -> Any:
    graph = StateGraph(Progress)
    for number in range(order.steps):
        graph.add_node(str(number), step_of(order, number))
        graph.add_edge(str(number - 1) if number else START, str(number))
    return graph


def fan(order: Order) -> Any:
    graph = StateGraph(Progress)
    for number in range(order.steps):
        graph.add_node(str(number), step_of(order, number))
        graph.add_edge(START, str(number))
    return graph


if __name__ == "__main__":
    drive(chain, fan)
