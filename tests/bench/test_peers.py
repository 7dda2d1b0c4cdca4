"""The side-by-side benchmark with those who are always there; the others are installed and measured by hand."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from bench.bars import Bar, Panel, bars
from bench.peers import replacing, resuming, starting, steps, table
from bench.peers.__main__ import ABSENT, chosen, machine, measure, plot
from bench.peers.contenders import CONTENDERS, OURS, Contender
from bench.peers.driving import NotMeasuredError, answered
from bench.peers.environments import NotThereError, make_ready
from bench.peers.rows import Report, Row, ratio

NOWHERE = Path("/nonexistent")
HERE = [one for one in CONTENDERS if one.environment is None]
TINY = steps.Extent(steps=(6,), rounds=1, resumed=6, many=12, fewer=6, starts=1)


@cache
def rows_of_steps() -> tuple[Row, ...]:
    return tuple(steps.rows(HERE, NOWHERE, TINY))


def a_report(*rows: Row) -> Report:
    return Report(machine=machine(), rows=rows)


def a_row(contender: str, value: float | None, work: str = "chain of 6", note: str = "") -> Row:
    group = steps.TITLES["functions"]
    return Row(group=group, work=work, contender=contender, unit="ms", version="1", value=value, note=note)


# --- measuring ---------------------------------------------------------------------------------------------------


def test_we_and_make_do_every_kind_of_steps() -> None:
    found = {(row.group, row.work, row.contender) for row in rows_of_steps() if row.value}
    works = ("chain of 6", "fan-out of 6")
    functions = {(steps.TITLES["functions"], work, OURS) for work in works}
    commands = {(steps.TITLES["commands"], work, name) for work in works for name in (OURS, "GNU make")}
    assert found == functions | commands
    assert all(row.version for row in rows_of_steps())


def test_after_a_kill_only_the_step_that_it_hit_is_done_again() -> None:
    rows = list(resuming.rows(HERE, NOWHERE, TINY))
    again = {(row.contender, row.work): row.value for row in rows if row.unit == "steps"}
    assert again == {
        (OURS, "functions: steps done again"): 1,
        (OURS, "commands: steps done again"): 1,
        ("GNU make", "commands: steps done again"): 1,
    }


def test_every_update_of_a_chain_is_compared_with_replacements() -> None:
    rows = list(replacing.rows((6,)))
    assert [row.contender for row in rows] == [OURS, replacing.RENAMED, replacing.SYNCED]
    assert {row.rounds for row in rows} == {7}  # the beginning, and every step
    assert all(row.value for row in rows)


def test_start_up_is_measured_of_what_is_there() -> None:
    rows = {(row.contender, row.work): row for row in starting.rows(HERE, NOWHERE, 1)}
    assert {work for name, work in rows if name == OURS} == {starting.VERSION, starting.OUTLOOK, starting.HOOK}
    assert all(row.value for row in rows.values())


def test_memory_is_that_of_the_work() -> None:
    ours = next(one for one in HERE if one.name == OURS)
    assert answered(ours, NOWHERE, "fan", 12, 30).peak_mib > 5
    make = next(one for one in HERE if one.name == "GNU make")
    assert 0 < answered(make, NOWHERE, "fan-commands", 12, 30).peak_mib < 20


# --- who cannot be measured --------------------------------------------------------------------------------------


def test_a_peer_that_is_missing_is_a_row_and_no_abort(tmp_path: Path) -> None:
    nobody = Contender(name="nobody", driver="nobody", keeps="", works=(), program="no-such-program-anywhere")
    rows = measure([nobody], tmp_path, steps.Extent(steps=(), rounds=0, many=1, fewer=1, starts=1))
    first = next(iter(rows))
    assert (first.group, first.value) == (ABSENT, None)
    assert first.note == "not measured: there is no no-such-program-anywhere on this machine"


def test_a_peer_that_cannot_be_installed_says_so_without_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    luigi = next(one for one in CONTENDERS if one.name == "Luigi")
    with pytest.raises(NotThereError, match=r"^it could not be installed$"):
        make_ready(luigi, tmp_path / "cache")


def test_a_driver_that_fails_costs_its_own_row_only() -> None:
    broken = Contender(name="broken", driver="no_such_driver", keeps="")
    ours = next(one for one in HERE if one.name == OURS)
    rows = {row.contender: row for row in steps.rows([broken, ours], NOWHERE, TINY) if row.work == "chain of 6"}
    assert rows["broken"].value is None
    assert rows["broken"].note.startswith("not measured: ")
    assert rows[OURS].value


def test_a_driver_that_takes_too_long_is_ended() -> None:
    ours = next(one for one in HERE if one.name == OURS)
    with pytest.raises(NotMeasuredError, match="not done in 0 s"):
        answered(ours, NOWHERE, "chain", 5000, 0.2)


def test_every_peer_is_pinned_and_no_pin_names_a_place() -> None:
    for one in CONTENDERS:
        if one.environment is None:
            continue
        pins = one.constraints.read_text().splitlines()
        assert all(pin.count("==") == 1 and "/" not in pin and "@" not in pin for pin in pins)
        assert {package.replace("_", "-") for package in one.packages} <= {pin.split("==")[0] for pin in pins}


def test_only_chooses_and_ours_is_always_among_them() -> None:
    assert [one.name for one in chosen(["dbos"])] == [OURS, "DBOS"]
    with pytest.raises(SystemExit, match="no contender is called airflow"):
        chosen(["airflow"])


# --- what is shown -----------------------------------------------------------------------------------------------


def test_a_ratio_above_one_says_that_we_are_ahead() -> None:
    rows = [a_row(OURS, 2.0), a_row("slow", 5.0), a_row("lost", None), a_row("other work", 5.0, "fan-out of 6")]
    assert [ratio(row, rows) for row in rows] == [1.0, 2.5, None, None]


def test_the_table_says_what_was_not_measured_and_why() -> None:
    note = "not measured: it could not be installed"
    report = a_report(a_row(OURS, 2.0), a_row("slow", 5.0), a_row("lost", None, note=note))
    shown = table.text(report)
    assert "5.00 (2.50x)" in shown
    assert "lost, chain of 6: not measured: it could not be installed" in shown
    page = table.markdown(report)
    assert "| slow 1 | 5.00 (2.50x) |" in page
    assert "- lost, chain of 6: not measured" in page


def test_a_page_is_rewritten_between_its_markers_only() -> None:
    page = f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n"
    fresh = table.between_markers(page, "new\n")
    assert fresh == f"before\n{table.BEGIN}\nnew\n{table.END}\nafter\n"
    assert table.between_markers(fresh, "new\n") == fresh
    with pytest.raises(ValueError, match="has no lines"):
        table.between_markers("nothing", "new\n")


def test_the_plot_has_a_bar_for_every_figure_and_longer_ones_for_larger() -> None:
    svg = ET.fromstring(plot(a_report(a_row(OURS, 0.5), a_row("a < b", 5.0), a_row("lost", None))))
    widths = [float(bar.attrib["width"]) for bar in svg.iter("{http://www.w3.org/2000/svg}rect")]
    assert len(widths) == 2
    assert widths[0] < widths[1]


def test_bars_share_one_scale() -> None:
    drawn = bars([Panel(title=name, bars=[Bar(label="x", value=3.0)]) for name in ("one", "two")], unit="ms")
    found = ET.fromstring(drawn).iter("{http://www.w3.org/2000/svg}rect")
    assert len({bar.attrib["width"] for bar in found}) == 1
