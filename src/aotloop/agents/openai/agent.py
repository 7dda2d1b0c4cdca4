"""The agent's process: `python -m aotloop.agents.openai.agent`, with its order on standard input.

It runs inside the fence of its attempt, as every client does, and speaks the protocol of the backend `command`: lines
on standard output, and a result file. The key is neither in its environment nor in any text that it writes.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from aotloop.agents.answers.extraction import NotAResult
from aotloop.agents.client.service_errors import Trouble
from aotloop.agents.contract import Tokens
from aotloop.agents.openai.chat import Conversation, OverBudget, Unfit
from aotloop.agents.openai.endpoint_errors import Unable, Unusable
from aotloop.agents.openai.order import METER, TROUBLE, UNFIT, UNUSABLE, Order, order_from, without
from aotloop.agents.openai.service import Service
from aotloop.agents.openai.workspace import Workspace


def main() -> None:
    order = _order()
    tell = _teller(order.key)
    tell(f"asking {order.endpoint.model or 'a model'} at {order.endpoint.address}")
    service = Service(order.endpoint, order.key, order.silence, tell, partial(_show_meter, order))
    told = {**_told(order, service, tell), "usage": _usage(order, service)}
    Path(order.result_file).write_text(without(json.dumps(told), order.key), encoding="utf-8")


def _order() -> Order:
    """Commands that it starts run as the same user and could read its input: the input is emptied and closed."""
    order = order_from(sys.stdin.buffer.read())
    with contextlib.suppress(OSError):
        os.ftruncate(0, 0)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    return order


def _told(order: Order, service: Service, tell: Callable[[str], None]) -> dict[str, Any]:
    try:
        return Conversation(order, service, Workspace(Path.cwd()), tell).run()
    except Unusable as why:
        return {UNUSABLE: str(why)}
    except Unable as unable:
        return {TROUBLE: _as_data(unable.trouble)}
    except OverBudget:
        return {TROUBLE: _as_data(Trouble(words="its share of the money is used up", cause="budget"))}
    except (Unfit, NotAResult) as why:
        tell(f"no result: {why}")
        return {UNFIT: str(why)}


def _as_data(met: Trouble) -> dict[str, Any]:
    return {"words": met.words, "cause": met.cause, "retry_after": met.retry_after}


def _usage(order: Order, service: Service) -> dict[str, Any]:
    return {
        **_used(order, service.tokens, service.cost),
        "turns": service.turns,
        "estimated": service.is_estimated,
    }


def _used(order: Order, tokens: Tokens, cost: float | None) -> dict[str, Any]:
    """A configured price comes before what the service says of its cost."""
    counts = {"input": tokens.input, "output": tokens.output, "cache_read": tokens.cache_read}
    return {"cost_usd": cost if order.price is None else None, **counts}


def _show_meter(order: Order, tokens: Tokens, cost: float | None) -> None:
    """What was used by now, for an attempt that is ended before its result."""
    used = {**_used(order, tokens, cost), "estimated": True}
    print(f"{METER}{json.dumps({'usage': used})}", flush=True)  # noqa: T201 - for the backend


def _teller(key: str | None) -> Callable[[str], None]:
    def tell(line: str) -> None:
        line = without(line, key).replace(METER, "")  # no word of a model is taken for the meter
        print(line, flush=True)  # noqa: T201 - its output is the transcript of the attempt

    return tell


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    main()
