"""Real pauses against replayed ones: what counts as found, as right, as invented, and in which
phase they part.
"""

from __future__ import annotations

from builders import trace

from rebalsim.analysis import analyse
from rebalsim.domain.phase import PhaseKind
from rebalsim.verify.replay_accuracy import compare, document, told, total

REAL = "c1+p0,p1@0 c1=1@0 c1!@10 c2<p0,p1@20 c2>@22 c2*p0,p1@23"


def test_the_same_is_right_throughout() -> None:
    accuracy = compare(analyse(trace(REAL)), analyse(trace(REAL)))
    assert (
        accuracy.real,
        accuracy.found,
        accuracy.right,
        accuracy.invented,
        accuracy.same_cause,
    ) == (
        2,
        2,
        2,
        0,
        2,
    )
    restore = accuracy.phases[PhaseKind.RESTORE]
    assert (restore.told, restore.both, restore.right, restore.real_us) == (2, 2, 2, 4_000_000)


def test_a_phase_that_takes_too_long_is_told_apart_from_the_pause() -> None:
    """The callback takes a second longer and the fetch a second less: the pauses are alike, two
    phases are not.
    """
    accuracy = compare(
        analyse(trace(REAL)),
        analyse(trace("c1+p0,p1@0 c1=1@0 c1!@10 c2<p0,p1@20 c2>@22.9 c2*p0,p1@23")),
    )
    assert accuracy.right == 2
    assert (accuracy.phases[PhaseKind.RESTORE].right, accuracy.phases[PhaseKind.FETCH].right) == (
        0,
        0,
    )
    assert (
        accuracy.phases[PhaseKind.DETECTION].right == accuracy.phases[PhaseKind.DETECTION].told == 2
    )
    assert accuracy.phases[PhaseKind.FETCH].errors_us == [900_000, 900_000]


def test_missing_and_invented_pauses() -> None:
    accuracy = compare(
        analyse(trace(REAL)),
        analyse(trace("c1+p0,p1@0 c1=1@0 c1-p0@10 c2+p0@23 c2-p0@40 c1+p0@44")),
    )
    assert (accuracy.real, accuracy.found, accuracy.right, accuracy.invented) == (2, 1, 1, 1)
    assert accuracy.same_cause == 0  # it was a crash, not a revocation


def test_the_ordinary_spacing_of_batches_is_left_out() -> None:
    tiny = "c1+p0@0 c1-p0@10 c2+p0@10.04"
    assert compare(analyse(trace(tiny)), analyse(trace("c1+p0@0"))).real == 0
    assert compare(analyse(trace("c1+p0@0")), analyse(trace(tiny))).invented == 0


def test_many_are_summed_and_told() -> None:
    one = compare(analyse(trace(REAL)), analyse(trace(REAL)))
    whole = total([one, one, compare(analyse(trace(REAL)), analyse(trace("c1+p0,p1@0")))])
    assert (whole.recordings, whole.real, whole.found) == (3, 6, 4)
    lines = told(whole)
    assert lines[0].startswith("3 recordings: 6 pauses, 4 found, 4 of the right length (67 %)")
    assert any(line.startswith("detection") and "100 %" in line for line in lines)
    assert document(whole)["found"] == 4
    assert told(total([]))[0].startswith("0 recordings: 0 pauses")


def test_phases_of_all_pauses_add_up_on_both_sides() -> None:
    real, replayed = (
        analyse(trace(REAL)),
        analyse(trace(REAL.replace("c2<p0,p1@20", "c2<p0,p1@21").replace("@23", "@25"))),
    )
    accuracy = compare(real, replayed)
    assert sum(phase.real_us for phase in accuracy.phases.values()) == sum(
        p.length_us for p in real.pauses
    )
    assert sum(phase.replayed_us for phase in accuracy.phases.values()) == sum(
        p.length_us for p in replayed.pauses
    )
