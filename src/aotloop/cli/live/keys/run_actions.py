"""What a person can do from the live view: the same use cases as the commands, each answered by one line."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import click

from aotloop.app.redirect.changes import Changes
from aotloop.app.redirect.transaction import redirect, rehearse
from aotloop.app.run.pause import pause, resume
from aotloop.app.run.stop import ask_to_stop
from aotloop.app.show import show_attempt
from aotloop.cli.live.keys.navigation import Planned
from aotloop.cli.redirect.correction_line import changes_in_line
from aotloop.cli.redirect.loop_summary import in_words
from aotloop.cli.ui.attempt_views import diff_lines, stat_lines, step_lines
from aotloop.clock import now
from aotloop.errors import AotError
from aotloop.statefile.lease import lease
from aotloop.statefile.store import Store
from aotloop.text.sanitize import prose, visible


class RunActions:
    def __init__(self, state_file: str) -> None:
        """A store of its own: the run that is watched may be of this process, and has another one."""
        self._store = Store(state_file)

    def transcript(self, atom: str) -> list[str]:
        def lines() -> list[str]:
            facts = show_attempt(self._store, atom)
            shown = [line for step in facts.transcript for line in step_lines(step)]
            return [f"{visible(facts.attempt.name)}: {prose(facts.fate)}", "", *(shown or ["nothing was printed yet"])]

        return self._page(lines)

    def diff(self, atom: str) -> list[str]:
        def lines() -> list[str]:
            facts = show_attempt(self._store, atom)
            head = f"{visible(facts.attempt.name)}: {prose(facts.fate)}"
            if not facts.diff:
                return [head, "", facts.no_diff or "it changed no file"]
            return [head, "", *stat_lines(facts.diff), "", *diff_lines(facts.diff)]

        return self._page(lines)

    def stop(self) -> str:
        return self._answer(lambda: ask_to_stop(self._store, "a person stopped it in the live view"), "it stops")

    def pause(self, *, is_paused: bool) -> str:
        if is_paused:
            return self._answer(lambda: resume(self._store), "the pause is over")
        return self._answer(lambda: pause(self._store), "paused: nothing new starts; p ends the pause")

    def retry(self, atom: str) -> str:
        message = f"{visible(atom)} gets new attempts"
        return self._answer(lambda: redirect(self._store, Changes(retried=(atom,))), message)

    def redirect(self, line: str) -> Planned:
        """A line as `aot redirect` takes it. It is only rehearsed here."""
        try:
            loop = self._store.load()
            changes = changes_in_line(line, loop)
            message = visible(in_words(rehearse(self._store, loop, changes)))
        except (AotError, OSError) as error:
            return Planned(prose(str(error)))
        return Planned(message, partial(self._correct, changes, message))

    def _correct(self, changes: Changes, message: str) -> str:
        def act() -> None:
            with lease(self._store.path, "redirect", since=now()):
                redirect(self._store, changes)

        return self._answer(act, message)

    def _page(self, lines: Callable[[], list[str]]) -> list[str]:
        try:
            return [click.unstyle(line) for line in lines()]
        except (AotError, OSError) as error:
            return [prose(str(error))]

    def _answer(self, act: Callable[[], object], message: str) -> str:
        try:
            act()
        except (AotError, OSError) as error:
            return prose(str(error))
        return message
