from __future__ import annotations

from pathlib import Path

from aotloop.app.align.draft import Draft, DraftAtom
from aotloop.app.align.unfinished import Unfinished, forget, recall, remember
from aotloop.core.model import BaseCase
from aotloop.statefile.store import Store
from aotloop.trust.drafts import forget_draft, keep_draft
from aotloop.trust.folder import record_of


def test_what_was_begun_comes_back_whole_for_its_own_file_only(tmp_path: Path) -> None:
    store, other = Store(str(tmp_path / "a.md")), Store(str(tmp_path / "b.md"))
    draft = Draft(
        goal="Ünïcode: “quotes” -> {braces}\nand lines",
        base_case=BaseCase(type="command", value="true"),
        atoms=(DraftAtom(id="A1", description="x"),),
    )
    remember(store, Unfinished(draft=draft, request="all of it", answers=(("Why?", "because"),)))
    found = recall(store)
    assert found is not None
    assert (found.draft, found.request, found.answers) == (draft, "all of it", (("Why?", "because"),))
    assert recall(other) is None
    forget(store)
    assert recall(store) is None
    forget(store)


def test_a_record_that_cannot_be_read_is_no_draft(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "a.md"))
    record = record_of("unfinished", store.path)
    record.parent.mkdir(parents=True)
    for text in ("", "{}", '{"at": "x", "draft": "gaol: x"}', '{"at": "x", "draft": 3}'):
        record.write_text(text)
        assert recall(store) is None, text


def test_a_draft_of_an_agent_does_not_replace_what_a_person_has_begun(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "a.md"))
    remember(store, Unfinished(draft=Draft(goal="as the person said"), request="all of it"))
    keep_draft(store.path, b"goal: as an agent said")
    found = recall(store)
    assert found is not None
    assert found.draft.goal == "as the person said"
    forget_draft(store.path)
    assert recall(store) == found
