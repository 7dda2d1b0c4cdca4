"""All formats at once."""

from __future__ import annotations

import subprocess
import sys
from typing import get_args

import pytest

from aotloop.app.diagram import Format, draw
from tests.app.diagram.loops import chain, layered, loop_of, nested

FORMATS: tuple[Format, ...] = get_args(Format)
OTHERS = [one for one in FORMATS if one != "svg"]


@pytest.mark.parametrize("format_", FORMATS)
def test_a_loop_without_atoms_can_be_drawn(format_: Format) -> None:
    assert draw(loop_of([]), format_).endswith("\n")


@pytest.mark.parametrize("format_", FORMATS)
def test_a_thousand_atoms_can_be_drawn(format_: Format) -> None:
    assert "A999" in draw(layered(1000), format_)


@pytest.mark.parametrize("format_", FORMATS)
def test_depth_is_no_obstacle(format_: Format) -> None:
    assert "A1199" in draw(chain(1200), format_)
    assert "A1199" in draw(nested(1200), format_)


@pytest.mark.parametrize("format_", OTHERS)
def test_only_svg_loads_the_layout_library(format_: Format) -> None:
    program = (
        "import sys; from tests.app.diagram.loops import sign_in; from aotloop.app.diagram import draw;"
        f"draw(sign_in(), {format_!r}); sys.exit('fast_sugiyama' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
