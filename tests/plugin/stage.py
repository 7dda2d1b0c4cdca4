"""The real Claude Code, headless, in a repository of its own, with plugins of a test's choice and a scripted model.

stage = Stage(tmp_path, home)
plugin = stage.plugin("demo", {"agents/worker.md": agent("worker", tools="Bash")})
with ModelServer([Script(is_agent("worker"), […]), Script(is_session, […])]) as server:
    run = stage.run(server, "Begin", plugins=[plugin])
assert run.told("SubagentStop")[0]["agent_type"] == "demo:worker"

Who asks the model is told by the system prompt: that of a sub-agent says so and holds the text of its definition. Each
conversation (session and first text) plays its script from the beginning, so agents that are to do different things
need different prompts; a resumed session is the same conversation. The first text of a slash command is
`<command-name>/plugin:name</command-name>`; what its file says comes as the second.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.modelserver import Exchange, ModelServer
from tests.modelserver.clients import Launch, claude, finished
from tests.plugin.recorder import Recorder
from tests.plugin.runs import Run, a_repository
from tests.plugin.talking import Line, talked

EVENTS = (
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "PreCompact",
    "PostCompact",
    "PermissionRequest",
)
_ANYTHING_GOES = "--dangerously-skip-permissions"


def is_session(exchange: Exchange) -> bool:
    return "cc_is_subagent=true" not in exchange.system


def is_agent(name: str) -> Callable[[Exchange], bool]:
    """For agents whose definition says "I am the NAME.", as those that `agent` makes do."""
    return lambda exchange: not is_session(exchange) and f"I am the {name}." in exchange.system


def agent(name: str, **frontmatter: str) -> str:
    """A definition, as a plugin has it in `agents/NAME.md`."""
    lines = [f"{key}: {value}" for key, value in {"name": name, "description": f"The {name}", **frontmatter}.items()]
    return "\n".join(["---", *lines, "---", f"I am the {name}.", ""])


class Stage:
    def __init__(self, folder: Path, home: Path) -> None:
        self._folder = folder
        self._home = home
        self.project = a_repository(folder / "project")
        self.recorder = Recorder(folder / "recorder")
        self._write(self.recorder.folder, "recorder", {}, self.recorder.hooks(EVENTS))

    def plugin(self, name: str, files: Mapping[str, str], hooks: Mapping[str, Any] | None = None) -> Path:
        return self._write(self._folder / "plugins" / name, name, files, hooks)

    def run(
        self,
        server: ModelServer,
        prompt: str,
        *options: str,
        plugins: Sequence[Path] = (),
        resume: str = "",
        env: Mapping[str, str] | None = None,
        mode: str = "bypassPermissions",
    ) -> Run:
        """One prompt, and all that follows from it: background agents are waited for."""
        before = len(self.recorder.calls)
        resumed = ["--resume", resume] if resume else []
        launch = self._launch(server, [*options, *resumed], plugins, env or {}, mode)
        done = finished(launch, self.project, prompt)
        return Run(code=done.code, events=done.events, errors=done.errors, calls=self.recorder.calls[before:])

    def talk(
        self,
        server: ModelServer,
        *lines: str | Line,
        plugins: Sequence[Path] = (),
        answers: Mapping[str, str] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Run:
        """A person who says several things, each when it is time for it, and who has answers to questions."""
        before = len(self.recorder.calls)
        both_ways = ["--input-format", "stream-json", "--permission-prompt-tool", "stdio"]
        launch = self._launch(server, both_ways, plugins, env or {}, "bypassPermissions")
        done = talked(launch, self.project, lines, answers or {})
        return Run(code=done.code, events=done.events, errors=done.errors, calls=self.recorder.calls[before:])

    def _launch(
        self, server: ModelServer, options: Sequence[str], plugins: Sequence[Path], env: Mapping[str, str], mode: str
    ) -> Launch:
        """With hooks and background agents, which the launch for backends does without."""
        folders = [part for folder in (*plugins, self.recorder.folder) for part in ("--plugin-dir", str(folder))]
        launch = claude(server, self._home, "--settings", "{}", *folders, *options)
        command = list(launch.command)
        if mode != "bypassPermissions":
            command.remove(_ANYTHING_GOES)
            command += ["--permission-mode", mode]
        kept = {name: value for name, value in launch.env.items() if name != "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"}
        return Launch(command=command, env={**kept, **env})

    @staticmethod
    def _write(folder: Path, name: str, files: Mapping[str, str], hooks: Mapping[str, Any] | None) -> Path:
        manifest = {"name": name, "version": "1.0.0", "description": "For a test", "author": {"name": "Test"}}
        content = {**files, ".claude-plugin/plugin.json": json.dumps(manifest)}
        if hooks is not None:
            content["hooks/hooks.json"] = json.dumps(hooks)
        for path, text in content.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        return folder
