"""What travels between a runner and a worker: an order, signs of life, and what was brought back.

Nothing here holds a path, an address or a key: the worker's own configuration says where a repository is fetched from,
what an agent is, and what its environment holds. A field may be added with a default, and none may change its meaning;
other changes need the next version of the activity.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Literal

import msgspec

from aotloop.agents.contract import Outcome, Tokens
from aotloop.core.checks.checklist import AllOf, AnyOf, Leaf, Node
from aotloop.core.effects import Role
from aotloop.core.model import Binding, Check
from aotloop.execution.integration.protection import Protection
from aotloop.execution.journals.records import Kept
from aotloop.execution.verification import Found
from aotloop.process.spec import Limits

ATTEMPT = "aot.attempt.v1"
CHECK = "aot.check.v1"

SKEW = 600.0
"""Seconds by which the clocks of two machines may differ."""

LARGEST_INLINE = 256 * 1024
"""Bytes of a pack. A larger result is pushed: the server refuses payloads of 2 MiB, and keeps all of them."""

LARGEST_MESSAGE = 1_900_000
"""Bytes. A completion above the server's limit is accepted, and then fails the attempt: so the size is checked here."""


class CheckNode(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    name: str
    kind: Literal["leaf", "all", "any"] = "leaf"
    check: Check | None = None
    children: tuple[CheckNode, ...] = ()


class SetupOrder(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A person has accepted the command, on the runner's machine."""

    command: str | None = None
    inputs: tuple[str, ...] = ()
    timeout: float = 1800.0


class AttemptOrder(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    run_id: str
    atom: str
    attempt: int
    epoch: int
    role: Role = "worker"
    description: str = ""
    repository: str
    """Its name. The worker's own configuration says where it is fetched from."""
    base: str
    prefix: str = ""
    start: Kept | None = None
    agent: str
    """Its name. The worker's own configuration says what it is."""
    command: str | None = None
    prompts: Mapping[str, str] = {}
    """By what is in the folder when the attempt begins."""
    results: dict[str, Binding] = {}
    limits: Limits = Limits()
    allowance: float | None = None
    check: CheckNode | None = None
    """None: there is none, or the runner has to run it."""
    check_timeout: float = 120.0
    touches: tuple[str, ...] = ()
    protection: Protection = Protection()
    setup: SetupOrder = SetupOrder()
    nonce: str = ""
    """Of this order alone; its result says it again. Else a server could hand out the result of another order."""
    expires: float = 0.0
    """Seconds since 1970; after that, no worker begins it."""

    @property
    def id(self) -> str:
        """The atom is a part of it: after a crash, another atom may get the same number."""
        return f"{attempt_prefix(self.run_id, self.epoch, self.atom, self.role)}{self.attempt}"


class CommitCheckOrder(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Check this commit, in a clean tree. A person has accepted its commands, on the runner's machine."""

    run_id: str
    atom: str
    attempt: int
    epoch: int
    repository: str
    base: str
    """The commit."""
    tree: str
    """Its tree, by which an order is known: a later run may make another commit of the same files."""
    prefix: str = ""
    check: CheckNode
    check_timeout: float = 120.0
    protection: Protection = Protection()
    setup: SetupOrder = SetupOrder()
    turn: int = 1
    """An order that came to nothing is given again, as another one."""
    expires: float = 0.0
    start: None = None

    @property
    def id(self) -> str:
        subject = msgspec.json.encode((self.atom, self.tree, self.prefix, self.check, self.setup))
        name = f"{sha256(subject).hexdigest()[:20]}-{self.attempt}-{self.turn}"
        return f"{check_prefix(self.run_id, self.epoch)}{name}"


class CommitCheckResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    run_id: str
    epoch: int
    id: str
    """Of the order."""
    kind: Literal["made", "refused", "hindered", "cancelled"]
    reason: str = ""
    tree: str = ""
    """What was checked."""
    found: Found | None = None
    host: str = ""


class Beat(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A sign of life."""

    phase: str
    host: str = ""
    lines: tuple[str, ...] = ()
    """The last ones."""
    seen: int = 0
    """How many there have been."""
    cost_usd: float | None = None
    tokens: Tokens | None = None


class AttemptResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    run_id: str
    atom: str
    attempt: int
    epoch: int
    nonce: str = ""
    kind: Literal["made", "refused", "hindered", "cancelled"]
    """`refused`: this worker will never make it; `hindered`: not now."""
    reason: str = ""
    outcome: Outcome | None = None
    refusal: str | None = None
    """Why the work cannot be used."""
    tree: str | None = None
    """A tree, and no commit: the runner makes that. None: nothing was changed."""
    pack: bytes = b""
    ref: str | None = None
    """Where the result was pushed, if it is too large for a message."""
    left_out: tuple[str, ...] = ()
    is_untouched: bool = True
    is_warm: bool = False
    found: Found | None = None
    cost_usd: float | None = None
    """Of a cancelled attempt."""
    tokens: Tokens | None = None
    host: str = ""
    last: Beat | None = None
    """Its last lines, which a short attempt had no time to tell."""


def attempt_prefix(run_id: str, epoch: int, atom: str, role: Role) -> str:
    digest = sha256(atom.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    return f"{id_prefix(run_id)}e{epoch}-{digest}-{role}-"


def check_prefix(run_id: str, epoch: int) -> str:
    return f"{id_prefix(run_id)}e{epoch}-check-"


def check_queue(queue: str) -> str:
    """Checks have slots of their own: behind attempts of hours they would hold up every merge."""
    return f"{queue}.checks"


def id_prefix(run_id: str) -> str:
    return f"aot-{run_id}-"


def written_check(node: Node) -> CheckNode:
    match node:
        case Leaf(name=name, check=check):
            return CheckNode(name=name, check=check)
        case AllOf(name=name, children=children):
            return CheckNode(name=name, kind="all", children=tuple(map(written_check, children)))
        case AnyOf(name=name, children=children):
            return CheckNode(name=name, kind="any", children=tuple(map(written_check, children)))


def read_check(node: CheckNode) -> Node:
    if node.check is not None:
        return Leaf(node.name, node.check)
    kind = AllOf if node.kind == "all" else AnyOf
    return kind(node.name, tuple(map(read_check, node.children)))


def belongs_to(result: AttemptResult, order: AttemptOrder) -> bool:
    names = ("run_id", "atom", "attempt", "epoch", "nonce")
    return all(getattr(result, name) == getattr(order, name) for name in names)
