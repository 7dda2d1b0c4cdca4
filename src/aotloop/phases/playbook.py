"""The playbook: the purpose of each phase, and how to do it well; for an agent that knows only this project."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from aotloop.core.phases.model import Phase


class Play(msgspec.Struct, frozen=True, kw_only=True):
    """`guidance` fills in `{…}`: feature, plan, tests, review, progress, promise, and the artifact's place."""

    title: str
    does: str
    artifact: str
    """The usual place of its artifact."""
    only_writes: bool = False
    """The agent writes the artifact, and changes nothing else."""


_FORMAT_OF_PLAN = """\
Steps are a task list, one line each, that others can do without having read anything else:
- [ ] S1: what is to be done, in which files (`src/login.py`), and how one sees that it works
- [ ] S2: … (depends on S1)
- [ ] S3: … (alternative: storage)
Steps that do not depend on each other are done at the same time, so say `(depends on S1, S2)` where they do. Steps
with the same `(alternative: name)` are different ways to the same end; the first is tried first, and one is
enough."""

_FORMAT_OF_FINDINGS = """\
One line for each finding, in a task list, with the place and what is wrong there:
- [ ] `src/login.py:40`: a wrong password is logged in clear text
Severe ones first. If there is nothing to find, the file says `No findings.` and what was looked at."""

PLAYBOOK: Mapping[Phase, Play] = MappingProxyType(
    {
        "brainstorm": Play(
            title="Brainstorm",
            does="""\
Find out what this feature should be. Read the project first: what it is for, how it is built, what it already has
that comes near. Then write a document with:
- the problem, and which users have it;
- two to four ways to solve it that really differ, each with what it costs, what it risks and where in the project
  it would go;
- the way you choose, and why the others lose;
- what is out of scope, and questions that only a person can answer, each with the answer you assume until then.
Write no code.""",
            artifact="docs/brainstorms/{stem}.md",
            only_writes=True,
        ),
        "plan": Play(
            title="Plan",
            does=f"""\
Write a plan by which others can build this feature{{from_brainstorm}}. Look at every file it will touch; do not
guess their names. It holds:
- the behaviour that is wanted, as sentences one could test, with the odd cases (nothing there, too much, wrong,
  twice, at the same time);
- which files are made or changed, and what in them;
- what could go wrong, and how one would notice;
- the steps.
{_FORMAT_OF_PLAN}
Write no code.""",
            artifact="docs/plans/{stem}.md",
            only_writes=True,
        ),
        "spec_test": Play(
            title="Acceptance tests",
            does="""\
Write the acceptance tests of this feature, from what the plan ({plan}) wants and not from how it will be built.
Nothing of the feature is built yet, and you build nothing.
- Test what a user of it sees: call it as they would, and look at what comes back. One test for each sentence of
  wanted behaviour, odd cases included.
- They must run now, and fail, each because the feature is missing: import what does not exist yet inside of the
  tests, so that they can be read. Run them, and see each one fail for that reason.
- The agent that builds the feature may not change them. So leave open what does not matter (names of inner functions,
  wording of messages), and make each failure say what was expected.
- All of it in one file, which needs nothing but what the project has.
{run_with}""",
            artifact="tests/acceptance/{test_stem}_test.py",
            only_writes=True,
        ),
        "deepen": Play(
            title="Deepen the plan",
            does=f"""\
Make the plan ({{plan}}) better before anything is built: read it as an engineer who must do it tomorrow and
knows nothing else. Look into the code for what it takes for granted; look up how the libraries it uses are called
today. Add what is missing: cases, dangers to data and security, what has to stay compatible,
an order of steps that keeps everything working. Correct what is wrong; make steps that are too big smaller.
The acceptance tests ({{tests}}) stay as they are.
{_FORMAT_OF_PLAN}
Write no code.""",
            artifact="{plan}",
            only_writes=True,
        ),
        "work": Play(
            title="Work",
            does="""\
Build the feature as the plan ({plan}) says, until the acceptance tests ({tests}) pass. You may not change them. Go
step by step; run the tests after each, and the project's other tests before you end. Where the plan turns out to be
wrong, do what is right and say so.
Read {progress} first, if it is there: what stands in it was tried, and did not work.
{run_with}""",
            artifact="",
        ),
        "review": Play(
            title="Review",
            does=f"""\
Review what was built for this feature, as an engineer who did not build it and must maintain it. `git log -p`
shows it, the newest first. Look for: behaviour that the plan ({{plan}}) wants and that is not there; odd cases that
break; dangers to data or security; things that will be hard to
understand or to change; tests that pass with any code; what is left over. Try what you suspect
before you write it down. Do not report matters of taste.
{_FORMAT_OF_FINDINGS}
Change no other file.""",
            artifact="docs/reviews/{stem}.md",
            only_writes=True,
        ),
        "fix": Play(
            title="Fix",
            does="""\
Resolve what the review found: every line of {review} that begins with `- [ ]`. Repair the cause. If possible,
add a test that fails without the repair. When one is resolved, make its box `[x]`, and add how. What should
stay as it is gets `[x]` and at its end `(accepted: why)`, and there
has to be a reason that convinces. Remove no line. The acceptance tests ({tests}) stay as they are, and pass.""",
            artifact="{review}",
        ),
        "re_review": Play(
            title="Review again",
            does="""\
Look whether what the review ({review}) found is resolved: for each line with `[x]`, look at the code or try it.
What is not resolved gets `[ ]` again, with what is still wrong. A reason that does not
convince does not count. Damage by a repair is a new finding, a new line with
`[ ]`. Remove no line. If all is well, say below the list what you looked at, and when.
Change no other file.""",
            artifact="{review}",
            only_writes=True,
        ),
        "compound": Play(
            title="Write down what was learnt",
            does="""\
Write down what this feature taught, for the next agent or person here: problems that cost time, with how to recognize
them and what solved them; decisions, and what they were made from; what the next feature can build on. Read
{progress} and `git log`. Short, with names of files. Not what was done, but
what one would like to have known. Where the project's documentation or its list of changes should speak of the
feature, see to that, too.""",
            artifact="docs/solutions/{stem}.md",
        ),
        "test": Play(
            title="Test",
            does="""\
Find out whether all of it works: run the acceptance tests ({tests}), the project's whole test suite and its other
checks (types, style), and use the feature once as a user would. Repair what is broken, but never change the
acceptance tests. Then write a report: what was run, with the very
commands; what came out, in numbers; what was tried by hand; what was repaired; what was not tested.
{run_with}""",
            artifact="docs/reports/{stem}.md",
        ),
        "ship": Play(
            title="Ship",
            does="""\
Make it ready to be handed over: nothing is left over (debug output, commented code, useless files), the
documentation is true, and there are release notes: what users get, what changes for them, what to know before
upgrading. The acceptance tests ({tests}) pass.
When all of that is so, and only then, {promise_place} <promise>{promise}</promise>. It is checked: every receipt,
every artifact, and the tests.
{run_with}""",
            artifact="docs/releases/{stem}.md",
        ),
    }
)
