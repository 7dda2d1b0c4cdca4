"""tasks.json of task-master: `{"tasks": […]}`, or by tags `{"master": {"tasks": […]}}`.

A subtask `2` of `5` is called 5.2. It shares its parent's dependencies, and the parent waits for it. In the
dependencies of a subtask, a number without a dot means a sibling, if there is one. If a parent is done, cancelled or
deferred, all its subtasks are too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from aotloop.importers.plan import Piece, Plan, invalid, paragraphs, plan_of
from aotloop.text.sanitize import plain
from aotloop.text.shorten import PHRASE, short_line

Label = str | int | float

DONE = ("done", "completed")
ASIDE = ("cancelled", "canceled", "deferred")
DEFAULT_TAG = "master"


class Entry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    id: Label
    title: str | None = None
    description: str | None = None
    details: str | None = None
    test_strategy: str | None = None
    status: str | None = None
    dependencies: tuple[Label, ...] | None = None


class Task(Entry, frozen=True, kw_only=True, rename="camel"):
    subtasks: tuple[Entry, ...] | None = None


class About(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    description: str | None = None
    project_name: str | None = None


class Tag(msgspec.Struct, frozen=True, kw_only=True):
    tasks: tuple[Task, ...]
    metadata: About | None = None
    meta: About | None = None


def is_taskmaster(found: Any) -> bool:
    return isinstance(found, dict) and ("tasks" in found or any(map(_is_tag, found.values())))


def read_taskmaster(found: Any, name: str, tag: str | None) -> Plan:
    chosen = _chosen(found, name, tag)
    try:
        read = msgspec.convert(found if chosen is None else found[chosen], Tag)
    except msgspec.ValidationError as error:
        raise invalid(
            name, f"{error}{f' (of the tag {short_line(chosen, PHRASE)})' if chosen is not None else ''}"
        ) from None
    about = read.metadata or read.meta or About()
    return plan_of(
        [piece for number, task in enumerate(read.tasks) for piece in _pieces(number, task, name)],
        name=name,
        title=plain(about.project_name or ""),
        background=plain(about.description or ""),
    )


def _is_tag(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("tasks"), list)


def _chosen(found: dict[str, Any], name: str, wanted: str | None) -> str | None:
    """None: the file has no tags."""
    tags = [tag for tag, value in found.items() if _is_tag(value)]
    if "tasks" in found and not _is_tag(found["tasks"]):
        if wanted is not None:
            raise invalid(name, f"it has no tags, so there is no {short_line(wanted, PHRASE)}", "Leave --tag out.")
        return None
    listed = ", ".join(map(short_line, tags[:20]))
    if wanted is not None and wanted not in tags:
        raise invalid(name, f"there is no tag {short_line(wanted, PHRASE)}", f"There are: {listed}.")
    if wanted is not None or len(tags) == 1:
        return wanted or tags[0]
    if DEFAULT_TAG in tags:
        return DEFAULT_TAG
    raise invalid(name, f"it has several tags: {listed}", "Say which one with --tag.")


def _pieces(number: int, task: Task, name: str) -> Iterator[Piece]:
    place, label = f"tasks[{number}]", _label(task.id)
    needs = tuple(map(_label, task.dependencies or ()))
    siblings = {_label(subtask.id): f"{label}.{_label(subtask.id)}" for subtask in task.subtasks or ()}
    inherited = _standing(task)
    for position, subtask in enumerate(task.subtasks or ()):
        own = [siblings.get(needed, needed) for needed in map(_label, subtask.dependencies or ())]
        yield _piece(
            subtask,
            name,
            label=siblings[_label(subtask.id)],
            place=f"{place}.subtasks[{position}]",
            needs=(*own, *needs),
            standing=inherited or _standing(subtask),
        )
    yield _piece(task, name, label=label, place=place, needs=(*needs, *siblings.values()), standing=inherited)


def _piece(entry: Entry, name: str, *, label: str, place: str, needs: tuple[str, ...], standing: str | None) -> Piece:
    title = plain(entry.title or "") or plain(entry.description or "")
    if not title:
        raise invalid(name, f"{place}: it has neither a title nor a description")
    strategy = plain(entry.test_strategy or "")
    return Piece(
        label=label,
        place=place,
        text=paragraphs(
            f"{label}: {title}",
            entry.description if entry.title and entry.description else "",
            entry.details or "",
            f"How to test it: {strategy}" if strategy else "",
        ),
        needs=needs,
        done=standing in DONE,
        aside=standing if standing in ASIDE else None,
        criteria=(strategy,) if strategy else (),
    )


def _standing(entry: Entry) -> str | None:
    """Only a status that takes the task out of the plan; any other status means work to do."""
    word = (entry.status or "").strip().lower()
    return word if word in (*DONE, *ASIDE) else None


def _label(value: Label) -> str:
    return short_line(str(value), PHRASE)
