"""prd.json: user stories with acceptance criteria, as used by Ralph-style loops.

    {"project", "branchName", "description", "userStories": [{"id", "title", "description", "acceptanceCriteria",
     "priority", "passes", "notes", "dependencies"}]}

or only the list, in which a story may have `steps` instead of criteria. A lower priority number comes first; it is an
order and no dependency. `passes: true` means done.
"""

from __future__ import annotations

from typing import Any

import msgspec

from aotloop.importers.plan import Piece, Plan, bulleted, invalid, paragraphs, plan_of
from aotloop.text.sanitize import plain
from aotloop.text.shorten import PHRASE, short_line

Label = str | int | float


class Story(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    id: Label | None = None
    title: str | None = None
    description: str | None = None
    acceptance_criteria: tuple[str, ...] | str | None = None
    steps: tuple[str, ...] | str | None = None
    priority: float | str | None = None
    passes: bool | None = None
    notes: str | None = None
    dependencies: tuple[Label, ...] | None = None
    depends_on: tuple[Label, ...] | None = None

    @property
    def criteria(self) -> tuple[str, ...]:
        texts = self.acceptance_criteria if self.acceptance_criteria is not None else self.steps
        lines = (texts,) if isinstance(texts, str) else texts or ()
        return tuple(filter(None, map(plain, lines)))


class Document(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    user_stories: tuple[Story, ...]
    project: str | None = None
    project_name: str | None = None
    feature: str | None = None
    description: str | None = None
    branch_name: str | None = None


def is_prd(found: Any) -> bool:
    return isinstance(found, list) or (isinstance(found, dict) and "userStories" in found)


def read_prd(found: Any, name: str) -> Plan:
    try:
        if isinstance(found, list):
            document = Document(user_stories=msgspec.convert(found, tuple[Story, ...]))
        else:
            document = msgspec.convert(found, Document)
    except msgspec.ValidationError as error:
        raise invalid(name, str(error)) from None
    pieces = [_piece(number, story, name) for number, story in enumerate(document.user_stories)]
    order = sorted(range(len(pieces)), key=lambda index: _rank(document.user_stories[index]))
    title = document.description or document.feature or document.project or document.project_name or ""
    branch = document.branch_name
    return plan_of(
        [pieces[index] for index in order],
        name=name,
        title=plain(title),
        background=plain(f"Project: {document.project}") if document.project and document.description else "",
        warnings=[f"branchName is not taken over; `aot run --branch {short_line(branch, PHRASE)}` works on it"]
        if branch
        else (),
    )


def _piece(number: int, story: Story, name: str) -> Piece:
    place = f"userStories[{number}]"
    title = plain(story.title or "") or plain(story.description or "")
    if not title:
        raise invalid(name, f"{place}: it has neither a title nor a description")
    label = short_line(str(story.id), PHRASE) if story.id is not None else place
    needs = (*(story.dependencies or ()), *(story.depends_on or ()))
    return Piece(
        label=label,
        place=place,
        text=paragraphs(
            f"{label}: {title}" if story.id is not None else title,
            story.description if story.title and story.description else "",
            bulleted("Acceptance criteria:", story.criteria),
            f"Notes: {story.notes}" if story.notes else "",
        ),
        needs=tuple(short_line(str(label), PHRASE) for label in needs),
        done=bool(story.passes),
        criteria=story.criteria,
    )


def _rank(story: Story) -> float:
    """A story without a number keeps its place after those that have one."""
    return story.priority if isinstance(story.priority, int | float) else float("inf")
