"""GNU make: a rule for each step. It keeps no state but the files that rules make.

Steps that do nothing make none, so they are phony. Where traces are asked for, a rule touches its target when it is
done, which is how make knows after a kill what need not be done again.
"""

from __future__ import annotations

import subprocess

from bench.peers.drivers.order import Order, ordered, run


def makefile(order: Order) -> str:
    names = " ".join(f"t{number}" for number in range(order.steps))
    phony = "" if order.leaves_traces else f".PHONY: all {names}\n"
    return f"all: {names}\n{phony}" + "".join(_rule(order, number) for number in range(order.steps))


def _rule(order: Order, number: int) -> str:
    needs = f" t{number - 1}" if order.is_chain and number else ""
    touch = " && touch $@" if order.leaves_traces else ""
    return f"t{number}:{needs}\n\t@{order.command(number)}{touch}\n"


def main() -> None:
    order = ordered()
    (order.folder / "Makefile").write_text(makefile(order))
    said = subprocess.run(["make", "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]
    run(["make", "-j1" if order.is_chain else "-j2"], order, said.removeprefix("GNU Make "))


if __name__ == "__main__":
    main()
