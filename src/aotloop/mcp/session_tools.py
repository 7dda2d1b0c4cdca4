"""Tools that do something: each does what a session may do. None confirms, accepts or forces; a person does that."""

from __future__ import annotations

from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.types import ToolAnnotations
from pydantic import Field

from aotloop.app.atoms import NewAtom, add_atom
from aotloop.app.preflight.consent import only_accepted
from aotloop.app.redirect.proposals import propose
from aotloop.app.redirect.wishes import Addition, Wishes
from aotloop.app.run.stop import request_stop
from aotloop.app.verify import verify
from aotloop.errors import AotError
from aotloop.mcp.known_loops import KnownLoops, answer, told
from aotloop.mcp.view_tools import Loop

Words = Annotated[str, Field(max_length=4000)]
Names = Annotated[list[str], Field(max_length=100)]

STEERS = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)


def add_session_tools(server: MCPServer, loops: KnownLoops) -> None:
    for tool in (_verify(loops), _stop(loops), _propose(loops), _add(loops)):
        server.tool(annotations=STEERS)(told(tool))


def _verify(loops: KnownLoops) -> Any:
    def verify_base_case(loop: Loop = "") -> dict[str, Any]:
        """Run the checks of the base case and record the verdict. Only commands that a person accepted run."""
        store = loops.store(loop)
        done = verify(store, permit=only_accepted(store))
        report = done.report
        return answer(
            store,
            {
                "passed": report.passed,
                "undecided": report.undecided,
                "failing": {name: result.evidence for name, result in report.failing.items()},
                "waits_for_a_person": {name: result.evidence for name, result in report.waiting.items()},
                "not_recorded": done.unrecorded,
            },
        )

    return verify_base_case


def _stop(loops: KnownLoops) -> Any:
    def request_to_stop(
        reason: Annotated[Words, Field(description="Why it should stop, for the person.")], loop: Loop = ""
    ) -> dict[str, Any]:
        """Ask the process that runs the loop to stop. Nothing is lost, and a person can continue it."""
        store = loops.store(loop)
        if (status := store.load().control.status) != "running":
            raise AotError(f"the loop is {status}, not running; there is nothing to stop")
        request_stop(store, f"a session asked: {reason.strip() or 'no reason was given'}")
        return answer(store, {"asked": True})

    return request_to_stop


def _propose(loops: KnownLoops) -> Any:
    def propose_correction(
        context: Context,
        reason: Annotated[Words, Field(description="Why, for the person who decides.")],
        loop: Loop = "",
        goal: Annotated[Words, Field(description="Another goal; the search starts again.")] = "",
        background_intent: Annotated[Words, Field(description="Why it is wanted.")] = "",
        deliverables: Annotated[Words, Field(description="What there will be in the end.")] = "",
        definition_of_done: Annotated[Words, Field(description="When it is done, in words.")] = "",
        base_case: Annotated[str, Field(description="A new base case, as YAML.", max_length=40_000)] = "",
        limits: Annotated[Names, Field(description="NAME=VALUE, such as max_iterations=40.")] = [],  # noqa: B006
        protect: Annotated[Names, Field(description="Paths that no attempt may change.")] = [],  # noqa: B006
        unprotect: Annotated[Names, Field(description="Paths that attempts may change again.")] = [],  # noqa: B006
        add: Annotated[Words, Field(description="The description of a new atom.")] = "",
        add_after: Annotated[Names, Field(description="Atoms that the new one depends on.")] = [],  # noqa: B006
        remove: Annotated[Names, Field(description="Atoms to remove.")] = [],  # noqa: B006
        choose: Annotated[Names, Field(description="GROUP=ATOM: continue with this alternative.")] = [],  # noqa: B006
        results: Annotated[Names, Field(description="ATOM=what it led to: work based on it is repeated.")] = [],  # noqa: B006
        retry: Annotated[Names, Field(description="Atoms to try again.")] = [],  # noqa: B006
    ) -> dict[str, Any]:
        """Propose a correction of the loop. It is kept, and nothing changes until a person accepts it.

        The person sees the whole proposal and what it would reset, in a terminal with `aot proposal` or on the page.
        """
        words = {
            "goal": goal,
            "background_intent": background_intent,
            "deliverables": deliverables,
            "definition_of_done": definition_of_done,
        }
        wishes = Wishes(
            words={name: text for name, text in words.items() if text.strip()},
            base_case=base_case,
            limits=tuple(limits),
            protect=tuple(protect),
            unprotect=tuple(unprotect),
            add=Addition(description=add, after=tuple(add_after)) if add.strip() else None,
            remove=tuple(remove),
            choose=tuple(_pair(text, "GROUP=ATOM") for text in choose),
            summaries=tuple(_pair(text, "ATOM=what it led to") for text in results),
            retry=tuple(retry),
            reason=reason,
        )
        if wishes == Wishes(reason=reason):
            raise AotError("the proposal changes nothing", hint="Name at least one change besides the reason.")
        store = loops.store(loop)
        proposal, shown = propose(store, wishes, _client(context))
        return answer(store, {"proposal": proposal.name, "waits_for": "a person: `aot proposal`", "would_do": shown})

    return propose_correction


def _add(loops: KnownLoops) -> Any:
    def add_atom_to_draft(
        description: Annotated[Words, Field(description="What is to be done, complete without the conversation.")],
        loop: Loop = "",
        name: Annotated[str, Field(description="Its id. Empty: the next free one.", max_length=100)] = "",
        after: Annotated[Names, Field(description="Atoms that it depends on.")] = [],  # noqa: B006
        group: Annotated[str, Field(description="The group of alternatives it belongs to.", max_length=100)] = "",
        covers: Annotated[Names, Field(description="Items of the base case that it makes true.")] = [],  # noqa: B006
    ) -> dict[str, Any]:
        """Add an atom to a loop that has not begun. A loop that has begun only takes a proposal."""
        store = loops.store(loop)
        if store.load().control.status != "pending":
            raise AotError("the loop has begun, so a session adds nothing to it", hint="Use propose_correction.")
        new = NewAtom(
            description=description.strip(),
            atom=name or None,
            depends_on=tuple(dict.fromkeys(after)),
            or_group=group or None,
            covers=tuple(covers),
        )
        return answer(store, {"added": add_atom(store, new)})

    return add_atom_to_draft


def _pair(text: str, form: str) -> tuple[str, str]:
    name, sign, value = text.partition("=")
    if not sign:
        raise AotError(f"`{text}` has no `=`", hint=f"Write {form}.")
    return name.strip(), value.strip()


def _client(context: Context) -> str:
    """As the client names itself."""
    parameters = context.session.client_params
    return parameters.client_info.name if parameters is not None else "a session"
