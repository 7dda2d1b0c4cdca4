"""The backend `opencode` runs OpenCode over ACP, in its own folders: it sees and writes no setting of the user.

The client gets the user's login, the keys of providers, and the models in OPENCODE_CONFIG_CONTENT. With
`operator_settings` a worker also gets the user's settings, servers and instructions, but never a plug-in.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from aotloop.agents.acp.backend import outcome_of, run_agent, told
from aotloop.agents.acp.presets import PRESETS
from aotloop.agents.acp.session import AcpSession
from aotloop.agents.attempt import scratch
from aotloop.agents.attempt.agent_process import environment
from aotloop.agents.attempt.poll import polled
from aotloop.agents.attempt.usage import own_share
from aotloop.agents.client.detection import Presence, login_by, look_for
from aotloop.agents.client.folders import leads_out
from aotloop.agents.client.logins import home_with_login, login_file
from aotloop.agents.client.service_errors import Trouble, trouble
from aotloop.agents.contract import Assignment, Backend, Capabilities, Outcome
from aotloop.agents.opencode.request_log import Record, copied_to, copy_store, read_record, tokens_in
from aotloop.agents.opencode.settings_isolation import in_a_file, refuse_plugins
from aotloop.agents.registry import Client, Settings, of_client
from aotloop.agents.roles import Access, access_of

CONFIG = "OPENCODE_CONFIG_CONTENT"
TESTED = (1, 18)
"""The version whose behaviour is known here."""

_OF_THE_USER = ("provider", "model", "small_model", "enabled_providers", "disabled_providers")
_LOOKING = {"*": "deny", "read": "allow", "glob": "allow", "grep": "allow", "list": "allow"}
_PERMISSIONS: Mapping[Access, dict[str, str]] = {
    "write": {"*": "allow", "external_directory": "deny", "question": "deny"},
    "check": _LOOKING,
    "look": _LOOKING,
}
_SWITCHES = (
    "MODELS_FETCH",
    "AUTOUPDATE",
    "LSP_DOWNLOAD",
    "DEFAULT_PLUGINS",
    "CLAUDE_CODE",
    "PROJECT_CONFIG",
)
_GLANCE = 2.0
_KINDS = ("CONFIG", "DATA", "CACHE", "STATE")
_STREAM_ERROR = re.compile(r'message="stream error".* small=false .*error="(.*)"')


class OpenCode(Client, frozen=True, kw_only=True):
    program: str = "opencode"
    patience: float = 60.0
    """The most seconds that an attempt waits for a busy service; after that, the attempt returns to us."""

    @property
    def name(self) -> str:
        return "opencode"

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            structured_output="emulated",
            tool_restriction="native",
            cost_report="native",
            sessions="native",
            interrupt="emulated",
        )

    def look(self) -> Presence:
        """The client may know a provider that needs no login, so a missing login proves nothing."""
        preset = PRESETS["opencode"]
        login = login_by(os.environ, preset.keys, _login(os.environ), otherwise="unknown")
        folders = tuple(f"XDG_{kind}_HOME" for kind in _KINDS)
        return look_for(
            self.program, install=preset.install, login=login, log_in=preset.log_in, folders=folders, tested=TESTED
        )

    async def run(self, assignment: Assignment, on_output: Callable[[str], None]) -> Outcome:
        refuse_plugins(assignment.cwd)
        scratch.prepare(assignment)
        preset = PRESETS["opencode"]
        preset = replace(preset, argv=(self.program, *preset.argv[1:]))
        session = AcpSession(
            assignment, on_output, patience=self.patience, price=self.price, hint_of_trouble=_hint_of_trouble
        )
        login = _login(os.environ)
        with (
            home_with_login(assignment.scratch / "opencode", login, "data/opencode/auth.json") as own,
            copied_to(assignment.evidence) as copy,
        ):
            _spare_the_plugin(own / "config/opencode")
            data = own / "data/opencode"
            env = self._environment(assignment, own, preset.passed)
            if assignment.sitting is not None:
                copy_store(assignment.sitting.store, data)
            async with polled(lambda: session.count(tokens_in(data, copy)), _GLANCE):
                ran = await run_agent(preset, assignment, env, on_output, session)
            record = read_record(data, copy)
            if assignment.sitting is not None:
                copy_store(data, assignment.sitting.store)
        _complete(session, record)
        outcome = told(outcome_of(ran, session, assignment, preset), ran, session)
        outcome = replace(outcome, turns=record.turns) if record is not None else outcome
        return own_share(outcome, assignment, session.name)

    def _environment(self, assignment: Assignment, own: Path, passed: tuple[str, ...]) -> dict[str, str]:
        config = _config(assignment, self.model, os.environ.get(CONFIG))
        kinds = _KINDS[1:] if self.lends_settings(assignment.role) else _KINDS
        env = {
            **environment(assignment, os.environ, (*passed, *self.pass_env)),
            **{f"XDG_{kind}_HOME": str(own / kind.lower()) for kind in kinds},
            **{f"OPENCODE_DISABLE_{switch}": "1" for switch in _SWITCHES},
            "OPENCODE_PURE": "1",
        }
        return in_a_file(config, env, own, self.pass_env)


def make(settings: Settings) -> Backend:
    return OpenCode(program=settings.program or "opencode", **of_client(settings))


def _config(assignment: Assignment, model: str | None, of_the_user: str | None) -> dict[str, Any]:
    try:
        given = json.loads(of_the_user or "{}")
    except ValueError:
        given = {}
    chosen = {key: given[key] for key in _OF_THE_USER if key in given} if isinstance(given, dict) else {}
    instructions = assignment.cwd.absolute() / "AGENTS.md"
    strangers = leads_out(assignment.cwd.absolute(), "AGENTS.md")  # links to some other file of the operator
    return {
        **chosen,
        **({"model": model} if model is not None else {}),
        "permission": _PERMISSIONS[access_of(assignment.role)],
        "instructions": [str(instructions)] if instructions.is_file() and instructions not in strangers else [],
        "agent": {"title": {"disable": True}},
        "snapshot": False,
        "share": "disabled",
        "autoupdate": False,
    }


def _spare_the_plugin(folder: Path) -> None:
    """At every start OpenCode asks npm for a package that only plug-ins need, unless the package seems to be there."""
    (folder / "node_modules").mkdir(parents=True)
    lock = {"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}
    (folder / "package-lock.json").write_text(json.dumps(lock))


def _login(surroundings: Mapping[str, str]) -> Path:
    return login_file(surroundings, "XDG_DATA_HOME", ".local/share", "opencode/auth.json")


def _hint_of_trouble(line: str) -> Trouble | None:
    """Only its log says that OpenCode waits for a service."""
    found = _STREAM_ERROR.search(line)
    if found is None:
        return None
    met = trouble(found[1])
    return met if met.cause is not None else replace(met, cause="outage")


def _complete(session: AcpSession, record: Record | None) -> None:
    """The protocol reports only the tokens of the last request, and an error without its status.

    OpenCode also records our cancellation as an error; our reason for it is more exact.
    """
    if record is None:
        return
    session.tokens = record.tokens
    ours, theirs = session.trouble, record.trouble
    if ours is not None and theirs is not None and (theirs.cause is not None or ours.cause is None):
        session.trouble = theirs
