"""What a person installs: by the clients' own commands, from a checkout and from a wheel; and what is left of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.cli.terminal import Ran, aot, spawn
from tests.modelserver import Call, ModelServer, Say, Script, tool
from tests.modelserver.clients import CLAUDE, needs_claude, needs_codex
from tests.patience import PATIENCE
from tests.plugin.runs import a_repository
from tests.plugin.stage import Stage, is_session
from tests.plugin.test_texts import COMMANDS

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "plugin"
BARE = os.path.realpath(sys.executable)
"""An interpreter that has nothing of ours installed."""
NAME = "aot-loop@aotloop"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = a_repository(tmp_path / "project")
    monkeypatch.chdir(folder)
    return folder


def claude(*words: str) -> subprocess.CompletedProcess[str]:
    assert CLAUDE is not None
    return subprocess.run([CLAUDE, *words], capture_output=True, check=False, text=True, timeout=PATIENCE)


def mentions(folder: Path) -> list[str]:
    """Files of the client's own settings that name the plugin."""
    files = [path for path in folder.rglob("*") if path.is_file() and "telemetry" not in path.parts]
    return [str(path.relative_to(folder)) for path in files if b"aot" in path.read_bytes()]


# --- what is shipped ---------------------------------------------------------------------------------------------


def test_manifests_agree_with_the_package() -> None:
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())
    market = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text())
    about = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (manifest["name"], manifest["version"], manifest["license"]) == (
        "aot-loop",
        about["version"],
        about["license"],
    )
    (listed,) = market["plugins"]
    assert (f"{listed['name']}@{market['name']}", listed["source"]) == (NAME, "./plugin")
    assert listed["description"] == manifest["description"]


@needs_claude
@pytest.mark.parametrize("folder", [ROOT, PLUGIN], ids=["marketplace", "plugin"])
def test_the_client_finds_nothing_to_complain_of(folder: Path) -> None:
    done = claude("plugin", "validate", "--strict", str(folder))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Validation passed" in done.stdout


def test_the_path_is_all_that_is_printed_and_is_the_plugin() -> None:
    ran = aot("plugin", "path")
    assert (ran.code, ran.out, ran.err) == (0, f"{PLUGIN}\n", "")
    told = aot("plugin", "path", "--json").json
    assert told == {"path": str(PLUGIN), "marketplace": str(ROOT), "version": version("aotloop")}


# --- Claude Code -------------------------------------------------------------------------------------------------


@needs_claude
def test_installed_for_a_user_it_is_read_from_where_it_lies_and_uninstalled_it_is_gone(
    project: Path, clients: Path, own_home: Path
) -> None:
    assert clients.exists()
    ran = spawn("plugin", "install")
    assert (ran.code, "/aot-loop:align-goal" in ran.err) == (0, True), ran
    (listed,) = json.loads(claude("plugin", "list", "--json").stdout)
    assert (listed["id"], listed["scope"], listed["readFromFolder"]) == (NAME, "user", str(PLUGIN))
    (found,) = aot("plugin", "status", "--json").json["clients"]["claude"]["installed"]
    assert (found["scope"], found["doubt"]) == ("user", None)
    assert not (project / ".claude").exists()

    assert spawn("plugin", "install").code == 0, "once more does no harm"
    assert spawn("plugin", "uninstall").code == 0
    assert mentions(own_home / ".claude") == []
    again = spawn("plugin", "uninstall", "--json")
    assert (again.code, again.json["removed"]) == (0, False)


@needs_claude
def test_installed_for_a_project_it_is_in_the_settings_of_its_repository(
    project: Path, clients: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert clients.exists()
    (project / "deep").mkdir()
    monkeypatch.chdir(project / "deep")
    assert spawn("plugin", "install", "--project", "--json").json["scope"] == "project"
    settings = project / ".claude" / "settings.json"
    assert json.loads(settings.read_text())["enabledPlugins"] == {NAME: True}
    assert spawn("plugin", "install", "--user").code == 0
    assert len(aot("plugin", "status", "--json").json["clients"]["claude"]["installed"]) == 2

    assert spawn("plugin", "uninstall", "--user").code == 0
    (left,) = aot("plugin", "status", "--json").json["clients"]["claude"]["installed"]
    assert (left["project"], left["doubt"]) == (str(project), None)
    assert spawn("plugin", "uninstall", "--project").code == 0
    assert "aot" not in settings.read_text()
    assert mentions(own_home / ".claude") == []


@needs_claude
def test_the_plugin_of_another_installation_is_noticed_and_replaced(
    project: Path, clients: Path, tmp_path: Path
) -> None:
    assert clients.exists()
    assert project.exists()
    other = tmp_path / "other"
    shutil.copytree(ROOT / ".claude-plugin", other / ".claude-plugin")
    shutil.copytree(PLUGIN, other / "plugin")
    claude("plugin", "marketplace", "add", str(other))
    claude("plugin", "install", NAME)
    assert "another installation" in aot("plugin", "status").out
    assert aot("plugin", "install").code == 0
    (found,) = aot("plugin", "status", "--json").json["clients"]["claude"]["installed"]
    assert (found["folder"], found["doubt"]) == (str(PLUGIN), None)


@needs_claude
@pytest.mark.parametrize("is_ours", [True, False])
def test_a_command_asks_for_no_permission_to_look_and_for_every_other(
    tmp_path: Path, own_home: Path, *, is_ours: bool
) -> None:
    scripts = PLUGIN / "skills" / "state-contract" / "scripts"
    mine, other = f"python3 {scripts}/read_state.py", f"python3 {scripts}/verify_command.py 'touch ran'"
    stage = Stage(tmp_path / "stage", own_home)
    call = Call(tool("Bash", command=mine if is_ours else other, description="look"))
    with ModelServer([Script(is_session, [call, Say("done")])]) as server:
        stage.run(server, "/aot-loop:loop-status", plugins=[PLUGIN], mode="default")
        (result,) = server.played[-1].exchange.results
    assert ('"exists":false' in result) is is_ours
    assert not (stage.project / "ran").exists()


@needs_claude
def test_arguments_of_a_command_reach_the_model_though_its_text_has_no_place_for_them(
    tmp_path: Path, own_home: Path
) -> None:
    stage = Stage(tmp_path / "stage", own_home)
    with ModelServer([Script(is_session, [Say("What for?")])]) as server:
        stage.run(server, "/aot-loop:align-goal a login for customers", plugins=[PLUGIN])
        text = "\n".join(server.played[0].exchange.texts)
    assert "ARGUMENTS: a login for customers" in text
    assert f"python3 {PLUGIN}/skills/state-contract/scripts/read_state.py" in text


# --- Codex -------------------------------------------------------------------------------------------------------


def codex_home(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = own_home / "codex"
    folder.mkdir()
    monkeypatch.setenv("CODEX_HOME", str(folder))
    return folder


@needs_codex
def test_in_codex_commands_are_skills_and_the_copy_finds_this_installation(
    project: Path, clients: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = codex_home(own_home, monkeypatch)
    assert clients.exists()
    ran = spawn("plugin", "install", "--client", "codex")
    assert (ran.code, "/hooks" in ran.err, "copy" in ran.err) == (0, True, True), ran
    copy = home / "plugins" / "cache" / "aotloop" / "aot-loop" / version("aotloop")
    made = {path.name for path in (copy / ".codex-plugin" / "migrated-command-skills").iterdir()}
    assert made == {f"source-command-{name}" for name in COMMANDS}
    (found,) = aot("plugin", "status", "--json").json["clients"]["codex"]["installed"]
    assert (found["doubt"], found["folder"]) == (None, str(PLUGIN))

    script = copy / "skills" / "state-contract" / "scripts" / "read_state.py"
    nowhere = {"HOME": str(own_home), "PATH": "/nowhere"}
    done = subprocess.run([BARE, str(script)], cwd=project, env=nowhere, capture_output=True, check=True)
    assert json.loads(done.stdout)["exists"] is False

    assert spawn("plugin", "install", "--client", "codex").code == 0, "once more does no harm"
    assert spawn("plugin", "uninstall", "--client", "codex").code == 0
    assert mentions(home) == []
    assert not (own_home / ".local" / "share" / "aotloop" / "interpreter").exists()
    assert spawn("plugin", "uninstall", "--client", "codex", "--json").json["removed"] is False


@needs_codex
def test_codex_takes_it_from_here_though_it_knew_it_from_elsewhere(
    project: Path, clients: Path, own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    codex_home(own_home, monkeypatch)
    assert clients.exists()
    assert project.exists()
    other = tmp_path / "other"
    shutil.copytree(ROOT / ".claude-plugin", other / ".claude-plugin")
    shutil.copytree(PLUGIN, other / "plugin")
    subprocess.run(["codex", "plugin", "marketplace", "add", str(other)], check=True, capture_output=True)
    assert spawn("plugin", "install", "--client", "codex").code == 0
    (found,) = aot("plugin", "status", "--json").json["clients"]["codex"]["installed"]
    assert found["folder"] == str(PLUGIN)


# --- from a wheel ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment that has the wheel, made without a network: what it depends on is borrowed from this one."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    environment = folder / "environment"
    subprocess.run([BARE, "-m", "venv", "--without-pip", str(environment)], check=True, capture_output=True)
    (packages,) = environment.glob("lib/python*/site-packages")
    zipfile.ZipFile(wheel).extractall(packages)
    command = environment / "bin" / "aot"
    command.write_text(f"#!{environment}/bin/python\nfrom aotloop.cli.main import main\n\nmain()\n")
    command.chmod(0o755)
    (packages / "borrowed.pth").write_text(next(path for path in sys.path if path.endswith("site-packages")) + "\n")
    return environment


def take_out_of_the_project(link: Path) -> None:
    """A client that lies in a project is started only by an aotloop that lies beside it."""
    client = link.resolve()
    link.unlink()
    try:
        link.hardlink_to(client)
    except OSError:  # another file system
        shutil.copy2(client, link)


def run_installed(environment: Path, *words: str) -> Ran:
    done = subprocess.run([environment / "bin" / "aot", *words], capture_output=True, check=False, timeout=PATIENCE)
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_a_wheel_has_all_of_the_plugin_and_its_scripts_run(installed: Path, project: Path) -> None:
    folder = Path(run_installed(installed, "plugin", "path").out.strip())
    assert folder.is_relative_to(installed)
    ours = sorted(path.relative_to(PLUGIN) for path in PLUGIN.rglob("*") if path.is_file() and path.suffix != ".pyc")
    there = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    assert there == ours
    script = folder / "skills" / "state-contract" / "scripts" / "read_state.py"
    done = subprocess.run([BARE, str(script)], cwd=project, env={"PATH": "/nowhere"}, capture_output=True, check=True)
    assert json.loads(done.stdout)["exists"] is False


@needs_claude
def test_from_a_wheel_the_client_installs_it_and_runs_its_commands(
    installed: Path, clients: Path, tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    take_out_of_the_project(clients / "claude")
    stage = Stage(tmp_path / "stage", own_home)
    monkeypatch.chdir(stage.project)
    told: dict[str, Any] = json.loads(run_installed(installed, "plugin", "install", "--json").out)
    folder = Path(told["path"])
    assert folder.is_relative_to(installed)
    (listed,) = json.loads(claude("plugin", "list", "--json").stdout)
    assert listed["readFromFolder"] == str(folder)

    look = f"python3 {folder}/skills/state-contract/scripts/read_state.py"
    with ModelServer([Script(is_session, [Call(tool("Bash", command=look, description="look")), Say("x")])]) as server:
        run = stage.run(server, "/aot-loop:loop-status", plugins=[folder])
        assert look in "\n".join(server.played[0].exchange.texts)
        (result,) = server.played[-1].exchange.results
    assert (run.code, json.loads(result)["exists"]) == (0, False)
