"""Intervals onto columns: what fills most of a column wins it, no pause vanishes, equal rows
fold.
"""

from __future__ import annotations

import random

import pytest
from builders import trace
from told import bounced, one, story

from rebalsim.analysis import analyse
from rebalsim.reports.palette import BRIEF, CONSUMING, LOOKS, UNOWNED
from rebalsim.reports.ruler import place, place_clipped, step_of, ticks
from rebalsim.reports.timeline import Window, choose, fill, fold, lay_out, runs
from rebalsim.words.times import say_instant

QUIET = (UNOWNED, CONSUMING)


def laid(
    pieces: list[tuple[int, int, str]], until: int = 100, columns: int = 10, start: int = 0
) -> str:
    return fill(pieces, Window(start, until, columns), QUIET, BRIEF)


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([(0, 100, "=")], "=========="),
        ([(0, 30, "="), (30, 60, "B"), (60, 100, "=")], "===BBB===="),
        ([(0, 34, "="), (34, 36, "B"), (36, 100, "=")], "===!======"),  # two of ten: a nick
        ([(0, 34, "="), (34, 39, "B"), (39, 100, "=")], "===B======"),  # half of the column wins it
        ([(0, 30, "="), (30, 33, "n"), (33, 40, "B"), (40, 100, "=")], "===B======"),
        ([(20, 100, "=")], "  ========"),
        ([(0, 25, "="), (25, 26, "B"), (26, 27, "="), (27, 28, "F"), (28, 100, "=")], "==!======="),
    ],
)
def test_fill(pieces: list[tuple[int, int, str]], expected: str) -> None:
    assert laid(pieces) == expected


def test_fill_shows_a_part_of_the_run() -> None:
    assert (
        laid([(0, 30, "="), (30, 60, "B"), (60, 100, "=")], start=20, until=60, columns=4) == "=BBB"
    )


def test_no_pause_vanishes_whatever_the_width() -> None:
    chance = random.Random(7)
    for _ in range(300):
        length, columns = chance.randint(1, 10_000), chance.randint(1, 200)
        started = chance.randint(0, length - 1)
        ended = chance.randint(started + 1, length)
        pieces = [
            p
            for p in ((0, started, "="), (started, ended, "B"), (ended, length, "="))
            if p[1] > p[0]
        ]
        window = Window(0, length, columns)
        codes = fill(pieces, window, QUIET, BRIEF)
        assert len(codes) == columns
        if columns <= length:
            touched = range(window.column(started), window.column(ended - 1) + 1)
            assert all(codes[c] in "B!" for c in touched)
            assert all(codes[c] == "=" for c in range(columns) if c not in touched)


def test_columns_and_instants_agree() -> None:
    window = Window(17, 10_017, 73)
    for column in range(73):
        assert window.column(window.start_us(column)) == column
        assert window.column(window.start_us(column + 1) - 1) == column


def test_a_part_of_the_lanes_is_laid_out_as_all_of_them_are() -> None:
    """Lanes say by their place among all which one they are like; among some of them that place
    is another.
    """
    analysis = analyse(trace("c0+p0@0 c0+p1,p2@10 c0-p0@50 c0+p0@60"))
    assert [lane.like for lane in analysis.lanes] == [0, 1, 1]
    window = Window(0, analysis.horizon_us, 50)
    whole = {row.lane.partition: row.codes for row in lay_out(analysis.lanes, window)}
    for part in (analysis.lanes[1:], analysis.lanes[2:], analysis.lanes[::-1]):
        assert {row.lane.partition: row.codes for row in lay_out(part, window)} == {
            lane.partition: whole[lane.partition] for lane in part
        }


def test_rows_fold_by_bar_and_owner() -> None:
    report = one(trace("c0+p0,p1@0 c1+p2@0 c0-p0,p1@50 c1-p2@50 c0+p0,p1@60 c1+p2@60"))
    rows = fold(lay_out(report.variants[0].analysis.lanes, Window(0, 100_000_000, 20)))
    assert [(str(r.lane.partition), [str(x.partition) for x in r.alike]) for r in rows] == [
        ("t-0", ["t-1"]),
        ("t-2", []),
    ]


def test_many_owners_fold_by_their_pauses_alone() -> None:
    words = " ".join(
        f"c{i}{what}p{i}@{at}" for what, at in (("+", 0), ("-", 50), ("+", 60)) for i in range(20)
    )
    rows = fold(lay_out(one(trace(words)).variants[0].analysis.lanes, Window(0, 100_000_000, 20)))
    assert len(rows) == 1 and len(rows[0].alike) == 19


def test_those_that_stood_still_longest_are_chosen_in_their_order() -> None:
    analysis = analyse(bounced(20, 4, 3, shift_us=100_000))
    rows = fold(lay_out(analysis.lanes, Window(0, analysis.horizon_us, 2_000)))
    shown = choose(rows, 5)
    assert len(shown) == 5
    assert min(r.paused_us for r in shown) >= sorted(r.paused_us for r in rows)[-5]
    assert [r.lane.partition for r in shown] == sorted(r.lane.partition for r in shown)


def test_every_column_agrees_with_the_analysis() -> None:
    analysis = story("troubles").variants[0].analysis
    window = Window(0, analysis.horizon_us, 240)
    for row in lay_out(analysis.lanes, window):
        for column, code in enumerate(row.codes):
            middle = (window.start_us(column) + window.start_us(column + 1)) // 2
            stood = [
                p
                for p in row.lane.pauses
                if p.started_us < window.start_us(column + 1)
                and p.ended_us > window.start_us(column)
            ]
            assert (code in "!" or code in {look.letter for look in LOOKS.values()}) == bool(
                stood
            ), (row.lane.partition, column)
            whole = [
                p
                for p in stood
                if p.started_us <= window.start_us(column)
                and p.ended_us >= window.start_us(column + 1)
            ]
            if (
                whole
                and len(
                    {
                        x.kind
                        for x in whole[0].phases
                        if x.started_us < window.start_us(column + 1)
                        and x.ended_us > window.start_us(column)
                    }
                )
                == 1
            ):
                phase = next(x for x in whole[0].phases if x.started_us <= middle < x.ended_us)
                assert code == LOOKS[phase.kind].letter


def test_letters_are_all_different() -> None:
    letters = [look.letter for look in LOOKS.values()]
    assert len(dict.fromkeys(letters)) == len(letters) and not {CONSUMING, UNOWNED, BRIEF} & set(
        letters
    )


def test_runs() -> None:
    assert runs("==BB=") == [(0, 2, "="), (2, 2, "B"), (4, 1, "=")]
    assert runs("") == []


def test_ticks_are_round_and_not_too_many() -> None:
    assert step_of(120_000_000, 6) == 30_000_000
    assert [label for _, label in ticks(Window(0, 120_000_000, 60), 10)] == [
        "0 s",
        "30 s",
        "1:00",
        "1:30",
    ]
    assert [label for _, label in ticks(Window(61_000_000, 61_010_000, 40), 10)] == [
        "1:01.000",
        "1:01.005",
    ]


@pytest.mark.parametrize(
    ("us", "precision", "said"),
    [
        (0, 1_000_000, "0 s"),
        (41_500_000, 1_000, "41.500 s"),
        (65_250_000, 1_000, "1:05.250"),
        (7_200_000_000, 1_000_000, "2:00:00"),
        (1, 1, "0.000001 s"),
    ],
)
def test_instants(us: int, precision: int, said: str) -> None:
    assert say_instant(us, precision) == said


def test_labels_never_overlap() -> None:
    assert place([(0, "aaaa"), (2, "bb"), (6, "cc")], 10) == ["aaaa  cc", "  bb"]
    assert place([(8, "vlong")], 10, flips=True) == ["    longv"]
    assert place([(0, "aa1"), (1, "aa2"), (9, "bb")], 12, most_rows=1, ranks=[0, 1, 0]) == [
        "aa1  +1 more"
    ]
    assert place(
        [(0, "aaaa"), (2, "aaab"), (6, "cc")], 20, most_rows=1, ranks=[0, 1, 0], flips=True
    ) == ["aaaa  cc     +1 more"]
    assert place([(0, "aaaa")] * 5, 20, most_rows=2) == ["aaaa", "aaaa         +3 more"]


def test_labels_are_clipped_for_the_sake_of_other_deeds_and_not_of_repeats() -> None:
    bounces = [(4 * i, f"▼restart processor-{i}") for i in range(6)]
    rows = place_clipped(
        [*bounces, (30, "▼the handler hangs for 2m")],
        60,
        [0, 1, 2, 3, 4, 5, 0],
        (40, 24, 16),
        False,
    )
    assert (
        "".join(rows).count("▼the handler hangs for 2m") == 1
        and "▼restart processor-0" in rows[0]
        and rows[-1].endswith("more")
    )
    tight = place_clipped(
        [(0, "▼" + "a" * 30), (1, "▼" + "b" * 30), (2, "▼" + "c" * 30), (26, "▼later")],
        50,
        [0] * 4,
        (40, 24, 16),
        False,
    )
    assert tight[0] == "▼" + "a" * 22 + "…" + "  ▼later"


def test_nobody_consumes_what_the_dead_held() -> None:
    """Nothing is known to come to p1, so that it does not stand still; but nobody has it either."""
    lane = analyse(trace("c1+p0@0 c1<p1@0 c1>@0 c1!@5", rate=None)).lanes[1]
    assert [(segment.what, segment.consumer, segment.ended_us) for segment in lane.segments] == [
        ("consuming", "c1", 5_000_000),
        ("unowned", "", 100_000_000),
    ]
