"""The example in the guide is an objective that can be agreed on."""

from __future__ import annotations

import re
from pathlib import Path

from aotloop.app.align.draft_file import read_draft
from aotloop.app.align.shape import shape_of

GUIDE = Path(__file__).parents[3] / "docs" / "aligning.md"


def test_the_example_of_an_objective_is_a_valid_one() -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    shape = shape_of(read_draft(example.encode(), "the example"))
    assert shape.gate.missing == ()
    assert shape.gate.warnings == ()
    assert [one.id for one in shape.loop.atoms] == ["A1", "A2", "A3", "A4"]
