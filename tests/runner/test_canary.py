"""A secret of the operator is in no file of the project, in nothing that is sent to a model, and in no log."""

from __future__ import annotations

import json
from pathlib import Path

from tests.loops import atom
from tests.modelserver import ModelServer, Script
from tests.modelserver.clients import needs_claude
from tests.modelserver.operators import DONE, config_of, each_client, environ_of, shell
from tests.runner.projects import a_project

CANARY = "canary-6f1d0c"
VARIABLES = ("CANARY_TOKEN", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "NPM_TOKEN", "DATABASE_URL", "AOT_SECRET")
DOTFILES = (
    ".netrc",
    ".npmrc",
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".gitconfig",
    ".bashrc",
    ".profile",
    ".claude/CLAUDE.md",
    ".codex/AGENTS.md",
    ".config/opencode/AGENTS.md",
)
LOOK = "env; env > /dev/null; export -p; set; git config --list; ls -la; ps -o pid,args"


def logins(home: Path) -> None:
    """Of each client one that it can use."""
    token = {"accessToken": f"sk-{CANARY}", "refreshToken": f"sk-{CANARY}", "expiresAt": 4_000_000_000_000}
    claude = {"claudeAiOauth": {**token, "scopes": ["user:inference"], "subscriptionType": "max"}}
    files = {
        ".claude/.credentials.json": claude,
        ".claude/settings.json": {"env": {"SEEN": CANARY}},
        ".claude.json": {"mcpServers": {CANARY: {"command": CANARY}}},
        ".codex/auth.json": {"auth_mode": "apikey", "OPENAI_API_KEY": f"sk-{CANARY}"},
        ".local/share/opencode/auth.json": {"another": {"type": "api", "key": f"sk-{CANARY}"}},
        ".config/opencode/opencode.json": {"username": CANARY},
    }
    for name, content in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(json.dumps(content))
    (home / ".codex" / "config.toml").write_text(f'model = "{CANARY}"\n')


@each_client
def test_secrets_stay_where_they_are(tmp_path: Path, own_home: Path, client: str) -> None:
    for name in DOTFILES:
        (own_home / name).parent.mkdir(parents=True, exist_ok=True)
        (own_home / name).write_text(f"# {CANARY}\n")
    logins(own_home)
    turns = [shell(client, LOOK), shell(client, "echo a > a; env > seen"), DONE]
    with ModelServer([Script(".", turns)]) as server:
        environ = environ_of(client, server) | dict.fromkeys(VARIABLES, CANARY)
        if client == "claude":
            del environ["ANTHROPIC_API_KEY"]  # so that the login is used
        elif client == "codex":
            del environ["OPENAI_API_KEY"]
        else:
            environ |= {"ANTHROPIC_API_KEY": CANARY, "OPENAI_API_KEY": CANARY}
            environ["OPENCODE_CONFIG_CONTENT"] = environ["OPENCODE_CONFIG_CONTENT"].replace("sk-scripted", CANARY)
        project = a_project(tmp_path, atom("A1"), base_case="test -f a", config=config_of(client), environ=environ)
        ran = project.run()
    assert ran.code == 0, ran.out + ran.err
    assert "AOT_ATOM_ID=A1" in (project.root / "seen").read_text(), "it did look"
    assert CANARY in repr([request.headers for request in server.requests]), "the login was used"
    assert not any(CANARY.encode() in request.body for request in server.requests)
    assert server.elsewhere == []
    kept = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.name == "transcript.jsonl" for path in kept)
    assert [path for path in kept if CANARY.encode() in path.read_bytes()] == []
    assert CANARY not in project.git("log", "--all", "-p")
    assert CANARY not in ran.out + ran.err
    for log in (("log",), ("status", "--json"), ("doctor",)):
        told = project.aot(*log)
        assert CANARY not in told.out + told.err


@needs_claude
def test_a_key_in_a_variable_is_for_the_client_and_not_for_its_commands(tmp_path: Path) -> None:
    """Not even where the model asks for it; unless the operator passes it on."""
    turns = [shell("claude", "env > seen; env"), DONE]
    for number, more in enumerate(("", 'pass_env = ["ANTHROPIC_API_KEY"]\n')):
        with ModelServer([Script(".", turns)]) as server:
            environ = environ_of("claude", server) | {"ANTHROPIC_API_KEY": CANARY}
            folder = tmp_path / str(number)
            folder.mkdir()
            config = config_of("claude", more)
            project = a_project(folder, atom("A1"), base_case="test -f seen", config=config, environ=environ)
            ran = project.run()
        assert ran.code == 0, ran.out + ran.err
        assert (CANARY in (project.root / "seen").read_text()) == bool(more)
        assert any(CANARY.encode() in request.body for request in server.requests) == bool(more)
        assert CANARY in repr([request.headers for request in server.requests])
