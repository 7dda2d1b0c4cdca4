"""What an agent must know about its atom. The agent asks for it, in the folder in which it works.

So neither the results of other atoms nor earlier failures pass through the context of the coordinator.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from aotloop.agents.prompts.attempt_prompt import CAPS
from aotloop.agents.prompts.check_words import check_words
from aotloop.core.checks.checklist import check_of
from aotloop.core.context import Context, context_of
from aotloop.core.graph.work_graph import Graph
from aotloop.core.model import Loop
from aotloop.errors import AotError
from aotloop.git.head import git_dir_of, head_commit
from aotloop.git.worktrees.foreign import claim
from aotloop.statefile.locate import project_root
from aotloop.text.shorten import cut


def atom_briefing(loop: Loop, state_file: str, atom_id: str) -> dict[str, Any]:
    """For the agent that works in the current folder. Raises AotError if there is no such atom."""
    graph = Graph(loop)
    if atom_id not in graph.atoms:
        raise AotError(f"there is no atom {atom_id!r}", hint="read_state.py --brief names those that may start.")
    briefing = {
        **_objective(loop),
        **_atom(context_of(graph, atom_id)),
        **_folder(project_root(state_file), state_file),
    }
    return {key: value for key, value in briefing.items() if value not in (None, [], {}, (), "")}


def _objective(loop: Loop) -> dict[str, Any]:
    objective = loop.objective
    return {
        "goal": cut(objective.goal, CAPS["objective"]),
        "done_when": cut(objective.definition_of_done, CAPS["objective"]),
        "protect": list(objective.protect),
    }


def _atom(context: Context) -> dict[str, Any]:
    atom = context.atom
    check = check_of(atom, context.objective.base_case)
    return {
        "atom": atom.id,
        "description": cut(atom.description, CAPS["description"]),
        "run": atom.run,
        "decided_by": None if check is None else cut("\n".join(check_words(check)), CAPS["check"]).split("\n"),
        "touches": list(atom.touches),
        "builds_on": _results(context),
        "failed_before": [cut(failure, CAPS["failure"]) for failure in context.failures],
        "findings": None if atom.findings is None else cut(atom.findings, CAPS["findings"]),
        "part_holds": atom.partial,
        "may_be_decomposed": context.may_split,
    }


def _results(context: Context) -> dict[str, Any]:
    shown = list(context.results.items())[: CAPS["results"]]
    return {
        name: {
            "summary": cut(result.summary, CAPS["result"]),
            "artifacts": list(result.artifacts[: CAPS["artifacts"]]),
        }
        for name, result in shown
    }


def _folder(root: str, state_file: str) -> dict[str, Any]:
    """Where the agent works. Its own worktree may begin at an old commit, and `aot clean` can remove it."""
    wanted, here = head_commit(root), str(Path.cwd())
    own, common = git_dir_of(here), git_dir_of(root)
    is_own = None not in (own, common) and os.path.realpath(str(own)) != os.path.realpath(str(common))
    if is_own:
        claim(str(own), state_file)
    facts: dict[str, Any] = {"project": root, "integration_head": wanted, "own_worktree": is_own}
    if is_own and wanted is not None and head_commit(here) != wanted:
        facts["first_run"] = f"git reset --hard {wanted}"
    return facts
