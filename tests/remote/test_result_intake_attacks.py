"""Hostile results: whatever a worker sends, nothing lands that an agent here could not leave, and the runner lives."""

from __future__ import annotations

from contextlib import suppress

import pytest

from aotloop.agents.contract import Done
from aotloop.errors import Unavailable
from aotloop.execution.isolation.place import Refusal
from aotloop.execution.journals.records import Work
from aotloop.git.commits import transfer
from aotloop.git.commits.transfer import thin_pack
from aotloop.remote.wire import AttemptResult
from tests.remote.test_result_intake import Bench


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("bench"))


def raw_tree(bench: Bench, *entries: tuple[str, bytes, str]) -> str:
    """A tree that git itself would not make: mode, name, object."""
    content = b"".join(mode.encode() + b" " + name + b"\0" + bytes.fromhex(sha) for mode, name, sha in entries)
    words = ("hash-object", "-t", "tree", "-w", "--stdin", "--literally")
    return bench.repository.git(*words, stdin=content).text


def sent(bench: Bench, tree: str) -> AttemptResult:
    return AttemptResult(
        run_id="r",
        atom="A1",
        attempt=7,
        epoch=0,
        kind="made",
        tree=tree,
        pack=thin_pack(bench.repository, tree, bench.base),
        outcome=Done(summary="done"),
    )


NAMES = [
    b".git",
    b".GIT",
    b".Git",
    b".git ",
    b".git.",
    b"git~1",
    b"GIT~1",
    b".git::$INDEX_ALLOCATION",
    ".g\u200cit".encode(),
    b".",
    b"..",
    b"",
    b"a/b",
    b"a\\..\\.git",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("is_deep", [False, True])
def test_no_name_leads_into_a_git_folder_or_out(bench: Bench, name: bytes, is_deep: bool) -> None:
    tree = raw_tree(bench, ("100644", name, bench.blob()))
    if is_deep:
        tree = raw_tree(bench, ("40000", b"inner", tree))
    with pytest.raises(Unavailable):
        bench.work(sent(bench, tree))


@pytest.mark.parametrize("name", [b".git", b".GIT", b"git~1", b"..", ".g\u200cit".encode()])
def test_nor_does_one_that_was_pushed_without_being_examined(bench: Bench, name: bytes) -> None:
    """With no address of git, a worker pushes into this repository, whose settings may examine nothing."""
    tree = raw_tree(bench, ("40000", b"inner", raw_tree(bench, ("100644", name, bench.blob()))))
    with pytest.raises(Unavailable):
        transfer.receive_tree(bench.repository, b"", tree, bench.base)


@pytest.mark.parametrize("mode", ["40755", "0", "100664", "100600", "100777", "104755", "120777", "170000"])
def test_odd_kinds_of_files_are_refused_or_become_usual_ones(bench: Bench, mode: str) -> None:
    """Git reads no more of a mode than that it is a file, a program, a link, a folder or a submodule."""
    tree = raw_tree(bench, (mode, b"odd", bench.blob()))
    try:
        work = bench.work(sent(bench, tree))
    except Unavailable:
        return
    if isinstance(work, Work):
        listed = bench.repository.git("ls-tree", work.commit or "", "odd").text.split()[0]
        assert listed in ("100644", "100755", "120000")
    else:
        assert isinstance(work, Refusal)


def test_a_submodule_with_its_settings_is_refused(bench: Bench) -> None:
    settings = bench.blob(b'[submodule "x"]\n\tpath = x\n\turl = ext::sh\n')
    tree = bench.tree(f"160000 commit {bench.base}\tx", f"100644 blob {settings}\t.gitmodules")
    with suppress(Unavailable):  # git itself may not like its address
        assert isinstance(bench.work(sent(bench, tree)), Refusal)


def test_a_link_lands_as_a_link_and_is_never_followed(bench: Bench) -> None:
    """As one that an agent leaves here."""
    work = bench.work(sent(bench, bench.tree(f"120000 blob {bench.blob(b'not/there')}\tinside")))
    assert isinstance(work, Work)
    assert bench.repository.git("ls-tree", work.commit or "", "inside").text.startswith("120000")


def test_a_link_in_the_place_of_a_protected_folder_is_refused(bench: Bench) -> None:
    listed = [line for line in bench.repository.git("ls-tree", bench.base).text.splitlines() if "guarded" not in line]
    entries = "\n".join([*listed, f"120000 blob {bench.blob(b'elsewhere')}\tguarded"]) + "\n"
    tree = bench.repository.git("mktree", stdin=entries.encode()).text
    assert isinstance(bench.work(sent(bench, tree)), Refusal)


@pytest.mark.parametrize("name", ["Guarded/file", "GUARDED/FILE"])
def test_names_that_differ_in_case_are_other_files(bench: Bench, name: str) -> None:
    """They land where an agent's would: git keeps both apart. Protected ones stay as they are."""
    folder, _, file = name.partition("/")
    inner = bench.repository.git("mktree", stdin=f"100644 blob {bench.blob()}\t{file}\n".encode()).text
    work = bench.work(sent(bench, bench.tree(f"040000 tree {inner}\t{folder}")))
    commit = work.commit if isinstance(work, Work) else None
    if commit is not None:
        assert bench.repository.git("show", f"{commit}:guarded/file").text == "as it is"


def test_a_bomb_of_trees_is_refused_soon(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few hundred bytes, and ten million paths; with some more, no machine could hold them."""
    monkeypatch.setattr(transfer, "_MOST_LISTED", 1 << 20)
    tree = raw_tree(bench, *(("100644", f"f{n}".encode(), bench.blob()) for n in range(10)))
    for _ in range(6):
        tree = raw_tree(bench, *(("40000", f"d{n}".encode(), tree) for n in range(10)))
    assert len(thin_pack(bench.repository, tree, bench.base)) < 4096
    with pytest.raises(Unavailable, match="more than"):
        bench.work(sent(bench, tree))


def test_a_file_that_only_looks_small_is_refused(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "LARGEST_FILE", 1 << 20)
    tree = bench.tree(f"100644 blob {bench.blob(bytes(2 << 20))}\tzeros")
    assert len(thin_pack(bench.repository, tree, bench.base)) < 8192
    with pytest.raises(Unavailable, match="too large"):
        bench.work(sent(bench, tree))


def test_many_files_that_only_look_small_are_refused(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "MOST_BYTES", 1 << 20)
    blobs = [bench.blob(bytes([n]) * (1 << 18)) for n in range(8)]
    with pytest.raises(Unavailable, match="too large"):
        bench.work(sent(bench, bench.tree(*(f"100644 blob {sha}\tz{n}" for n, sha in enumerate(blobs)))))


@pytest.mark.parametrize("damage", range(12))
def test_a_damaged_pack_is_refused_wherever_it_is_damaged(bench: Bench, damage: int) -> None:
    result = sent(bench, bench.tree(f"100644 blob {bench.blob(b'of this test %d' % damage)}\tdamaged-{damage}"))
    at = damage * len(result.pack) // 12
    broken = bytes([*result.pack[:at], result.pack[at] ^ 0x55, *result.pack[at + 1 :]])
    with pytest.raises(Unavailable):
        bench.work(_with(result, pack=broken))


def test_an_object_of_another_kind_is_no_tree(bench: Bench) -> None:
    for other in (bench.blob(), bench.base, "0" * 40, "HEAD", "--all", "refs/heads/main", f"{bench.base}^{{tree}}"):
        with pytest.raises(Unavailable):
            bench.work(_with(sent(bench, bench.tree()), tree=other, pack=b""))


def _with(result: AttemptResult, **other: object) -> AttemptResult:
    fields = {name: getattr(result, name) for name in result.__struct_fields__}
    return AttemptResult(**{**fields, **other})
