"""The terminal's report: right in any width, with and without colour, in plain ASCII, zoomed."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from builders import trace
from told import bounced, hostile, one, story

from rebalsim.domain.verdict import Outcome
from rebalsim.one_run import run_once
from rebalsim.reports import to_terminal
from rebalsim.reports.names import ascii_of
from rebalsim.reports.report import BudgetResult, Report, Spread, VariantReport
from rebalsim.reports.view import View
from rebalsim.scenario.load import story_of

ANSI = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
@pytest.mark.parametrize("name", ["scale-out", "troubles"])
def test_no_line_of_the_picture_is_wider_than_the_terminal(name: str, width: int) -> None:
    text = to_terminal.picture_of(story(name), View(width=width))
    assert max(map(len, text.split("\n"))) <= max(width, 52)


@pytest.mark.parametrize("width", [80, 200])
@pytest.mark.parametrize("name", ["scale-out", "troubles"])
def test_no_line_at_all_is_wider_than_the_terminal(name: str, width: int) -> None:
    assert (
        max(len(line) for line in to_terminal.render(story(name), View(width=width)).split("\n"))
        <= width
    )


def test_colour_changes_nothing_but_colour() -> None:
    report = story("troubles")
    plain, coloured = (
        to_terminal.render(report, View()),
        to_terminal.render(report, View(is_coloured=True)),
    )
    assert "\x1b" not in plain and "\x1b[" in coloured
    assert [line.rstrip() for line in ANSI.sub("", coloured).split("\n")] == plain.split("\n")


def test_ascii_is_ascii_and_says_the_same() -> None:
    report = story("troubles")
    text = to_terminal.render(report, View(is_ascii=True))
    assert text.isascii()
    rich = to_terminal.render(report, View())
    assert len(text.split("\n")) >= len(rich.split("\n")) - 3
    assert "D#" in text and "20.1 s stuck x5" in text


def test_the_picture_folds_and_says_how_many() -> None:
    text = to_terminal.picture_of(one(bounced(1_000, 10, 2, shift_us=1)), View(width=120))
    assert len(text.split("\n")) < 120
    folded = sum(int(n.replace(",", "")) for n in re.findall(r"\+([\d,]+) like this", text))
    shown = len(re.findall(r"^  orders-\d+ ", text, re.M)) + len(
        re.findall(r"^  orders-…", text, re.M)
    )
    left = re.search(r"and ([\d,]+) partitions? that stood still less", text)
    assert folded + shown + (int(left[1].replace(",", "")) if left else 0) == 1_000


def test_owners_stand_in_their_bars() -> None:
    text = to_terminal.picture_of(one(trace("c0+p0@0 c0-p0@40 c1+p0@50")), View(width=100))
    bar = next(line for line in text.split("\n") if line.startswith("  t-0"))
    assert re.search(r"━c0━+.*━c1━", bar)


def test_zoom_shows_less() -> None:
    report = story("troubles")
    near = to_terminal.render(report, View(from_us=25_000_000, until_us=45_000_000))
    assert "30 s" in near and "2:00" not in near.split("What stood")[0]
    assert (
        "c1 crashed" in near
        and "hang-2" not in near.split("What stood")[1].split("seconds and reb")[0]
    )
    only = to_terminal.render(report, View(partitions=("orders-4",)))
    assert re.findall(r"^  (orders-\d+)", only, re.M) == ["orders-4", "orders-4"]
    assert "orders-0" not in only.split("What stood")[0]
    by_pattern = to_terminal.picture_of(report, View(partitions=("orders-[67]",)))
    assert "orders-6" in by_pattern and "orders-1" not in by_pattern
    held = to_terminal.picture_of(report, View(members=("c0",)))
    assert "orders-0" in held


def test_a_quiet_trace_says_so() -> None:
    text = to_terminal.render(one(trace("c0+p0@0")), View())
    assert "No partition stood still." in text


def test_an_empty_trace_is_told_too() -> None:
    text = to_terminal.render(one(trace("", until=1)), View())
    assert "no partition to show" in text


def test_an_open_pause_is_said_to_be_open() -> None:
    text = to_terminal.render(one(trace("c0+p0@0 c0!@40", until=60)), View())
    assert "still does" in text and "20.0 s" in text


def test_budgets_stand_with_their_line() -> None:
    report = story("scale-out")
    failed = BudgetResult(
        "longest_pause <= 1s",
        "cooperative",
        Outcome.FAIL,
        "3.01 s",
        "1 s",
        "orders-2 stood still.",
        "error",
        "s.yaml",
        28,
    )
    told = to_terminal.render(
        Report(
            report.title,
            report.variants,
            budgets=(failed, BudgetResult("rebalances <= 2", "eager", Outcome.PASS, "1")),
        ),
        View(),
    )
    assert (
        "✗ cooperative: 3.01 s against longest_pause <= 1s  (line 28)" in told
        and "✓ eager: 1 against rebalances <= 2" in told
    )
    assert "    orders-2 stood still." in told


def test_the_spread_over_seeds_is_told() -> None:
    report = story("scale-out")
    spread = {"longest_pause": Spread(1, 2_000_000, 3_000_000, 4_000_000, 20, 20)}
    eager = VariantReport("eager", report.variants[0].analysis, spread=spread)
    text = to_terminal.render(Report("t", (eager,)), View(width=120))
    assert "2.00 s (p95 3.00 s, max 4.00 s)" in text and "over 20 seeds" in text


def test_what_is_held_against_each_other_is_the_middle_of_the_seeds_that_is_shown() -> None:
    """The first seed of one variant is an outlier: neither the mark nor the sentence goes by it."""
    report = story("scale-out")
    eager, cooperative = report.variants
    low = {
        "longest_pause": Spread(1e6, 1e6, 1e6, 1e6, 20, 20),
        "partition_seconds": Spread(2e6, 2e6, 2e6, 2e6, 20, 20),
    }
    high = {
        "longest_pause": Spread(9e6, 9e6, 9e6, 9e6, 20, 20),
        "partition_seconds": Spread(9e6, 9e6, 9e6, 9e6, 20, 20),
    }
    text = " ".join(
        to_terminal.render(
            replace(
                report, variants=(replace(eager, spread=high), replace(cooperative, spread=low))
            ),
            View(120),
        ).split()
    )
    assert "longest pause 9.00 s 1.00 s *" in text
    assert "Take cooperative: longest pause 1.00 s (eager 9.00 s)." in text


def test_hostile_names_neither_move_the_cursor_nor_break_lines() -> None:
    for view in (View(), View(width=200), View(is_ascii=True)):
        text = to_terminal.render(hostile(), view)
        assert "\x1b" not in text and "\u202e" not in text
        assert "\\x1b" in text and "\\u202e" in text
        assert all(character == "\n" or character.isprintable() for character in text)


def test_ascii_twins() -> None:
    assert ascii_of("t-0 … t-3 → 3 µs · ≤") == "t-0 ... t-3 -> 3 us | <="
    assert ascii_of("ключ") == "\\u043a\\u043b\\u044e\\u0447"


def test_a_backlog_that_is_there_all_along_is_not_said_to_have_been_caught_up_at_once() -> None:
    text = (
        b"topics: {orders: {partitions: 4, rate: 10/s, backlog: 100000}}\n"
        b"group: {members: 2, handler: 10ms, config: {auto.offset.reset: earliest}}\nhorizon: 2m\n"
    )
    behind = story_of(text, "backlog")
    eager = run_once(behind.check().scenario("eager"), 1)
    rows = to_terminal.render(
        Report("a backlog", (VariantReport("eager", eager.analysis),)), View(width=100)
    ).splitlines()
    assert [row.split("  ")[-1].strip() for row in rows if row.startswith("time to catch up")] == [
        "not within 2 m"
    ]


def test_who_never_caught_up_is_not_marked_as_the_quickest() -> None:
    """Nobody stood still, and yet records wait in the end: that is no catching up in 0 s."""
    spec = (
        "topics: {t: {partitions: 2, rate: 10/s, backlog: %d}}\ngroup: {members: 1, handler: "
        "20ms, config: {auto.offset.reset: earliest}}\n"
        "replay: [eager]\nhorizon: 1m\n"
    )
    late, done = (
        VariantReport(
            name,
            run_once(story_of((spec % backlog).encode(), "s").check().scenario("eager")).analysis,
        )
        for name, backlog in (("late", 50_000), ("done", 0))
    )
    line = next(
        row
        for row in to_terminal.render(Report("t", (late, done)), View(width=100)).splitlines()
        if row.startswith("time to catch up")
    )
    assert "not within 1 m " in line and line.rstrip().endswith("*") and line.count("*") == 1
