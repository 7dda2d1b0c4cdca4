"""What commands in a checkout changed, although they may not, is named; git's settings are put back behind Landlock."""

from __future__ import annotations

from pathlib import Path

import pytest

from aotloop.checks.command_check import check_command
from aotloop.fence.checkout_witness import CheckoutWitness, OwnRun, Sight
from aotloop.process.sandbox import Confinement, Policy, is_possible
from aotloop.process.sandbox.engine import why_not_bwrap
from tests.git.checkouts import make_checkout

STATE = ".claude/aot-loop-state.md"

CHANGES = {
    "git config user.name x": ".git/config",
    "echo x > .git/hooks/post-commit": ".git/hooks/post-commit",
    "mkfifo .git/hooks/pre-push": ".git/hooks/pre-push",
    "ln -s /dev/zero .git/info/attributes": ".git/info/attributes",
    "mkdir -p .git/hooks/deep && cd .git/hooks/deep && for i in $(seq 300); do mkdir d && cd d; done; touch x": "",
    "git branch other": "refs/heads/other",
    "git tag v1": "refs/tags/v1",
    "echo x > a.txt && git stash": "refs/stash",
    "git update-index --assume-unchanged a.txt": "a.txt (index)",
    "echo y > new && git add new": "new (index)",
    "echo x > a.txt": "a.txt",
    "rm a.txt": "a.txt",
    "rm a.txt && ln -s /etc/passwd a.txt": "a.txt",
    "chmod +x a.txt": "a.txt",
    "git commit -q --allow-empty -m x": "HEAD",
    "git switch -q -c x && git switch -q -": "HEAD (moved meanwhile)",
    "echo x >> .aot/attempts/A1-1/record.json": ".aot/attempts/A1-1/record.json",
    "mkdir .aot/attempts/A2-2 && echo x > .aot/attempts/A2-2/record.json": ".aot/attempts/A2-2/record.json",
    "echo x > .aot/attempts/A3-3/used.json": ".aot/attempts/A3-3/used.json",
    "rm -rf .aot": ".aot/attempts/A1-1/record.json",
    "sed -i s/one/two/ .aot/events.jsonl": ".aot/events.jsonl",
    "echo x >> .claude/aot-loop-state.md": ".claude/aot-loop-state.md",
    "echo x > .claude/settings.json": ".claude/settings.json",
    "echo x > aot.toml": "aot.toml",
    "echo x > .mcp.json": ".mcp.json",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_checkout(tmp_path / "project")
    (root / ".git/info/exclude").write_text(".aot\n.claude\n")
    for name in ("A1-1", "A3-3"):
        (root / ".aot/attempts" / name).mkdir(parents=True)
    (root / ".aot/attempts/A1-1/record.json").write_text("{}")
    (root / ".aot/events.jsonl").write_text("one\n")
    (root / ".claude").mkdir(exist_ok=True)
    (root / STATE).write_text("state\n")
    return root


def witness_of(root: Path, engine: str | None = None, run: OwnRun | None = None) -> CheckoutWitness:
    fence = Confinement(closed=(), policy=Policy(engine=engine)) if engine else None  # type: ignore[arg-type]
    return CheckoutWitness(root, str(root / STATE), fence, run)


@pytest.mark.parametrize("command", CHANGES)
def test_whatever_a_command_changes_is_named(root: Path, command: str) -> None:
    witness = witness_of(root)
    before = witness.begin()
    check_command(command, root=root)
    named = witness.changes(before)
    assert named
    assert not CHANGES[command] or CHANGES[command] in named


def test_what_builds_and_new_files_and_what_is_only_touched_are_no_changes(root: Path) -> None:
    witness = witness_of(root)
    before = witness.begin()
    command = (
        "mkdir build && echo x > build/out && echo x > new && touch a.txt && cp a.txt b && cat b > a.txt; git status"
    )
    assert check_command(command, root=root).passed
    assert witness.changes(before) == []


def test_what_an_editor_fetches_meanwhile_is_no_change(root: Path) -> None:
    witness = witness_of(root)
    before = witness.begin()
    check_command("git update-ref refs/remotes/origin/main HEAD", root=root)
    assert witness.changes(before) == []


def test_a_new_file_of_events_is_no_change_and_a_shorter_one_is(root: Path) -> None:
    witness = witness_of(root, run=OwnRun())
    before = witness.begin()
    (root / ".aot/events.jsonl").rename(root / ".aot/old-events.jsonl")
    (root / ".aot/events.jsonl").write_text("two\n")
    assert witness.changes(before) == []
    (root / ".aot/old-events.jsonl").write_text("")
    assert witness.changes(before) == [".aot/events.jsonl"]


def test_what_our_own_run_writes_meanwhile_is_no_change(root: Path) -> None:
    run = OwnRun()
    witness = witness_of(root, run=run)
    before = witness.begin()
    with (root / ".aot/events.jsonl").open("a") as events:
        events.write("two\n")
    (root / ".aot/attempts/A3-3/transcript.jsonl").write_text("of an attempt under way\n")
    (root / ".aot/attempts/A1-1/record.json").rename(root / ".aot/attempts/A1-1/used.json")
    run.written.append("A1-1")
    check_command("git update-ref refs/aot/attempts/A1-1 HEAD", root=root)
    assert witness.changes(before) == []


@pytest.mark.parametrize("ends", ["while the checkout is looked at", "afterwards"])
def test_what_our_own_run_writes_just_when_the_commands_begin_is_no_change(
    root: Path, ends: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The journal notes a name before it writes, and again after that (Journal.written)."""
    run, look, record = OwnRun(), CheckoutWitness._of_files, root / ".aot/attempts/A1-1/record.json"
    witness = witness_of(root, run=run)

    def write() -> None:
        record.write_text("more")
        run.written.append("A1-1")

    def looking(self: CheckoutWitness, before: Sight) -> dict[str, str]:
        facts = look(self, before)
        if ends != "afterwards" and len(run.written) == 1:
            write()
        return facts

    monkeypatch.setattr(CheckoutWitness, "_of_files", looking)
    run.written.append("A1-1")
    before = witness.begin()
    if ends == "afterwards":
        write()
    assert witness.changes(before) == []


def test_what_is_not_undone_is_named_again(root: Path) -> None:
    witness = witness_of(root)
    before = witness.begin()
    check_command("echo x > a.txt; git tag v1", root=root)
    assert witness.changes(before) == ["a.txt", "refs/tags/v1"]
    assert witness.changes(witness.begin()) == ["a.txt", "refs/tags/v1"]
    check_command("git checkout -q a.txt; git tag -d v1", root=root)
    assert witness.changes(witness.begin()) == []


@pytest.mark.skipif(not is_possible(), reason="this machine has no fence")
def test_settings_of_git_are_put_back_before_git_obeys_them(root: Path, tmp_path: Path) -> None:
    """A filter would run outside of the fence, in the `git status` that looks for changes."""
    witness = witness_of(root, "landlock")
    config = (root / ".git/config").read_bytes()
    before = witness.begin()
    evil = f"git config filter.x.clean 'touch {tmp_path}/ran; cat'; echo '* filter=x' > .git/info/attributes"
    check_command(f"{evil}; echo y > a.txt", root=root)
    named = witness.changes(before)
    assert {".git/config", ".git/info/attributes"} <= set(named)
    assert (root / ".git/config").read_bytes() == config
    assert not (root / ".git/info/attributes").exists()
    assert not (tmp_path / "ran").exists()
    assert any(path.read_bytes() != config for path in (root / ".aot/strayed").rglob("*config"))


@pytest.mark.parametrize("engine", [None, "landlock", "bwrap"])
def test_an_included_file_of_settings_is_not_obeyed_either(root: Path, tmp_path: Path, engine: str | None) -> None:
    if engine is not None and not (is_possible() and (engine == "landlock" or why_not_bwrap() is None)):
        pytest.skip("this machine has no such fence")
    check_command("git config include.path ../more; touch more", root=root)
    witness = witness_of(root, engine)
    before = witness.begin()
    check_command(f"git config -f more filter.x.clean 'touch {tmp_path}/ran; cat'; echo z > a.txt", root=root)
    assert witness.changes(before)[0] == "more"
    assert not (tmp_path / "ran").exists()
    assert ((root / "more").read_text() == "") is (engine is not None)


def test_a_folder_without_git_is_compared_too(tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / STATE).write_text("state\n")
    witness = witness_of(tmp_path)
    before = witness.begin()
    check_command(f"echo x >> {STATE}", root=tmp_path)
    assert witness.changes(before) == [STATE]


@pytest.mark.parametrize("place", ["HEAD", "index", "refs/heads/x", "logs/HEAD", "packed-refs"])
@pytest.mark.parametrize("way", ["mkfifo", "mkdir"])
def test_nothing_waits_for_a_pipe_in_gits_folder(root: Path, place: str, way: str) -> None:
    witness = witness_of(root)
    before = witness.begin()
    check_command(f"rm -f .git/{place}; {way} .git/{place}", root=root)
    named = witness.changes(before)
    assert way == "mkdir" or f".git/{place}" in named
    assert witness.changes(witness.begin()) == [] or place == "logs/HEAD" or way == "mkdir"


@pytest.mark.skipif(why_not_bwrap() is not None, reason=f"{why_not_bwrap()}")
@pytest.mark.parametrize("name", ["state.md", ".state.md.log"])
def test_a_state_file_without_a_folder_of_its_own_is_compared(root: Path, name: str) -> None:
    """Its folder is the project's, in which tests make files: a new log is not closed, nor a file that we replaced."""
    (root / "state.md").write_text("state\n")
    witness = CheckoutWitness(root, str(root / "state.md"), Confinement(closed=(), policy=Policy(engine="bwrap")))
    before = witness.begin()
    (root / name).write_text("forged\n")
    assert witness.changes(before) == [name]
