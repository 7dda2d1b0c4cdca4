"""The conversation with a model: with tools a loop, without them one question. Both are bounded in turns and tokens."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from aotloop.agents.answers.extraction import NotAResult, find_answer
from aotloop.agents.attempt.usage import cost_of
from aotloop.agents.openai.endpoint_errors import Unable
from aotloop.agents.openai.fenced_files import beside_files, fenced, files_in, paths_in, why_no_file
from aotloop.agents.openai.messages import Called, ContextWindow, Message, assistant, estimated, result, system, user
from aotloop.agents.openai.order import Order, trials_as_told
from aotloop.agents.openai.request import NoTools
from aotloop.agents.openai.service import Said, Service
from aotloop.agents.openai.toolbox import Toolbox
from aotloop.agents.openai.workspace import Refused, Workspace
from aotloop.agents.openai.written_calls import written_calls
from aotloop.agents.roles import may_write
from aotloop.text.sanitize import plain
from aotloop.text.shorten import cut, one_line

_WITH_TOOLS = "You work in a folder, only by your tools. When you are done, say in one sentence what you did."
_FILES_BACK = (
    "Answer with each file that you write or change, whole, in one fenced block that begins with its path:\n"
    "```path/to/file\n…\n```"
)
_ONE_FILE = "Answer with the whole file {}, in one fenced code block."
_FILES = "These files are there now:"
_AGAIN = "Answer with the JSON object only."
_MOST_IN_VAIN = 8
"""Turns in a row that ask only what was asked before, and get the same answers."""
_LONGEST_SUMMARY = 600


class Unfit(Exception):  # noqa: N818 - reads as a sentence where it is caught
    """The model's words are no result; they are told as they are."""


class OverBudget(Exception):  # noqa: N818
    pass


class Conversation:
    def __init__(self, order: Order, service: Service, workspace: Workspace, tell: Callable[[str], None]) -> None:
        self._order, self._service, self._workspace, self._tell = order, service, workspace, tell
        self._toolbox = Toolbox(order, workspace)
        self._window = ContextWindow(order.endpoint.context, tell)
        self._known, self._in_vain = set[str](), 0
        """Calls with their results, and turns in a row that brought nothing but such."""
        self._refusals: list[str] = []
        self._of_the_check = {path for trial in order.trials for path in paths_in(trial.command)}
        """Files that decide are not shown: they cost tokens, and a small model copies them."""
        planned = [path for path in order.named_files if "*" not in path]
        named = [path for path in paths_in(order.prompt) if path not in self._of_the_check]
        self._expected = tuple(planned or named)

    @property
    def is_worker(self) -> bool:
        return may_write(self._order.role)

    def run(self) -> dict[str, Any]:
        """The result of the role. Raises Unfit, OverBudget and Unable."""
        try:
            return self._answered()
        except (OverBudget, Unable) as why:
            if not (self.is_worker and self._workspace.changed and self._toolbox.passes):
                raise
            self._tell(f"the work is done, although the conversation broke off: {why}")
            return self._made(Said(text=""))

    def _answered(self) -> dict[str, Any]:
        said = self._with_tools() if self._order.endpoint.tools != "no" else None
        is_in_one_go = said is None
        if said is None:
            said = self._ask(self._in_one_go, **self._schema())
        if not self.is_worker:
            return self._structured(said)
        if is_in_one_go or not self._workspace.changed:
            self._take_files(said)
        return self._worked(said)

    # --- the two ways --------------------------------------------------------------------------------------------

    def _with_tools(self) -> Said | None:
        """None: the model has no tools."""
        messages = [system(_WITH_TOOLS), user(self._order.prompt)]
        for _ in range(self._order.most_turns):
            try:
                said = self._ask(partial(self._fitting, messages), tools=self._toolbox.described)
            except NoTools as refusal:
                if self._order.endpoint.tools == "yes":
                    raise Unfit(
                        "the server refuses tools; `tools = false` in aot.toml makes it one question"
                    ) from refusal
                return None
            written = () if said.calls else written_calls(said.text, self._toolbox.names)
            if not (said.calls or written):
                self._messages = [*messages, assistant(said.text)]
                return said
            messages.append(assistant(said.text, said.calls))
            told = [self._used(call) for call in said.calls or written]
            messages += [result(call, words) for call, words in zip(said.calls, told, strict=False)]
            named = [f"{call.name}: {words}" for call, words in zip(written, told, strict=False)]
            messages += [user("\n\n".join(named))] if named else []
            self._refuse_repetition(said.calls or written, told)
        raise Unfit(f"it did not come to an end within {self._order.most_turns} turns")

    def _refuse_repetition(self, calls: Sequence[Called], told: Sequence[str]) -> None:
        """A small model may ask the same for ever."""
        turn = {f"{call.name} {call.arguments} {words}" for call, words in zip(calls, told, strict=True)}
        self._in_vain = self._in_vain + 1 if turn <= self._known else 0
        self._known |= turn
        if self._in_vain == _MOST_IN_VAIN:
            raise Unfit(f"it did the same again and again: {', '.join(sorted({call.name for call in calls}))}")

    def _used(self, call: Called) -> str:
        """What the tool says."""
        self._tell(f"→ {call.name} {one_line(call.arguments, 120)}")
        told = self._toolbox.use(call)
        self._tell(f"← {one_line(told, 160)}")
        return told

    def _in_one_go(self) -> list[Message]:
        prompt = self._order.prompt
        parts = [prompt.rstrip(), *self._files(prompt)]
        if self.is_worker:
            decides = trials_as_told(self._order)
            parts += [f"This decides whether it is done:\n{decides}"] if decides and decides not in prompt else []
            (only,) = self._expected if len(self._expected) == 1 else (None,)
            parts.append(_ONE_FILE.format(only) if only is not None else _FILES_BACK)
        self._messages = [user("\n\n".join(parts))]
        return self._messages

    def _files(self, prompt: str) -> list[str]:
        """Files that the task names, whole, as long as they fit."""
        room = self._window.tokens * 2
        found = []
        for path in dict.fromkeys((*self._expected, *paths_in(prompt))):
            if path in self._of_the_check or not self._workspace.has(path):
                continue
            text = self._workspace.read(path)
            if len(text) <= room:
                room -= len(text)
                found.append(fenced(path, text))
        return ["\n".join((_FILES, *found))] if found else []

    def _schema(self) -> dict[str, Any]:
        if self.is_worker or not self._order.result_schema:
            return {}
        schema = {"name": f"{self._order.role}_result", "schema": self._order.result_schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}

    def _fitting(self, messages: list[Message]) -> list[Message]:
        return self._window.fitting(messages, self._toolbox.described)

    def _ask(self, written: Callable[[], list[Message]], **options: Any) -> Said:
        """`written` makes the messages fit into the context, of which only a refusal of the server may tell."""
        messages = written()
        while True:
            try:
                return self._asked(messages, **options)
            except Unable as unable:
                if not self._window.is_shrunk_by(unable.trouble):
                    raise
                before, messages = messages, written()
                if estimated(messages) >= estimated(before) or not self._window.answer(messages, options):
                    raise  # nothing more can be left out

    def _asked(self, messages: list[Message], **options: Any) -> Said:
        order = self._order
        most = self._window.answer(messages, options)
        if not most:
            raise Unfit(f"the prompt is too long for a context of {self._window.tokens} tokens")
        spent = cost_of(self._service.tokens, order.price) if order.price is not None else self._service.cost or 0.0
        if order.max_cost_usd is not None and spent >= order.max_cost_usd:
            raise OverBudget
        return self._service.ask(messages, most, **options)

    # --- the result ----------------------------------------------------------------------------------------------

    def _structured(self, said: Said) -> dict[str, Any]:
        try:
            return _decoded(find_answer(self._order.role, said.text))
        except NotAResult:
            messages = [*self._messages[:-1], *_last(self._messages, said), user(_AGAIN)]
            again = self._ask(partial(self._fitting, messages), **self._schema())
            return _decoded(find_answer(self._order.role, again.text))

    def _worked(self, said: Said) -> dict[str, Any]:
        """A worker's own JSON counts if there is some; else its files are its answer."""
        try:
            answer = _decoded(find_answer("worker", said.text))
        except NotAResult:
            answer = self._made(said)
        return answer

    def _take_files(self, said: Said) -> None:
        for path, text in files_in(said.text, self._expected).items():
            try:
                self._tell(self._workspace.write(path, text))
            except (Refused, OSError) as why:
                self._refusals.append(str(why))

    def _made(self, said: Said) -> dict[str, Any]:
        changed = list(self._workspace.changed)
        if not changed:
            why = self._refusals or (["the answer was cut at the limit of tokens"] if said.is_cut else [])
            raise Unfit("; ".join(why) or why_no_file(said.text))
        words = cut(plain(beside_files(said.text)), _LONGEST_SUMMARY)
        summary = words or f"wrote {', '.join(changed[:5])}"
        return {"success": True, "bindings_delta": {"summary": summary, "artifacts": changed}, "artifacts": changed}


def _decoded(answer: str) -> dict[str, Any]:
    try:
        found = json.loads(answer)
    except (ValueError, RecursionError):
        raise NotAResult("its answer is not valid JSON") from None
    return found if isinstance(found, dict) else {}


def _last(messages: list[Message], said: Said) -> list[Message]:
    """Servers refuse a message of the model without words."""
    last = messages[-1]
    if last["role"] == "assistant":
        return [last] if last["content"] else []
    return [last, assistant(said.text)] if said.text else []
