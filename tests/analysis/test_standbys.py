"""How far standbys were, and how long tasks had none that was caught up."""

from __future__ import annotations

from rebalsim.analysis.standbys import cold_stretches, warm_stretches
from rebalsim.analysis.values import Copy
from rebalsim.domain.ids import Partition
from rebalsim.reports.timeline import tracks

P = Partition("orders", 0)


def copy(who: str, started: int, caught_up: int | None, ended: int) -> Copy:
    return Copy("0_0", who, False, 10, started, ended, caught_up)


def test_two_copies_are_warm_as_long_as_one_of_them_is() -> None:
    copies = [copy("a", 0, 10, 50), copy("b", 20, 40, 90), copy("c", 60, None, 95)]
    assert warm_stretches(copies) == [(10, 90)]


def test_a_task_is_cold_from_the_loss_of_its_last_warm_copy_to_the_next() -> None:
    copies = [copy("a", 0, 10, 50), copy("b", 55, 80, 90)]
    assert cold_stretches({P: copies}, 100) == {P: [(50, 80), (90, 100)]}


def test_before_the_first_one_it_lost_nothing() -> None:
    assert cold_stretches({P: [copy("a", 30, None, 100)]}, 100) == {P: []}


def test_copies_share_a_line_one_after_the_other() -> None:
    one, two, beside = copy("a", 0, 1, 10), copy("b", 10, 11, 20), copy("c", 5, 6, 30)
    assert tracks([beside, two, one]) == [[one, two], [beside]]
