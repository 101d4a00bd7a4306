"""Who came last to a barrier: named as far as the lines prove it, and no farther."""

from __future__ import annotations

from reading_logs import observed
from test_stories_in_logs import U, broker

from rebalsim.worlds.logs.rounds import Round

START = "Preparing to rebalance group g in state PreparingRebalance with old generation"


def member(who: int) -> str:
    return f"consumer-g-1-{U}{who}"


def joins(ms: int, who: int, generation: int, others: int) -> list[str]:
    """One joins at `ms`, and after two seconds the barrier falls, with so many others at it."""
    return [
        broker(
            ms,
            f"{START} {generation - 1} (reason: Adding new member {member(who)} with group instance "
            "id null; client reason: not provided).",
        ),
        broker(
            ms,
            f"Pending dynamic member with id {member(who)} joins group g in PreparingRebalance "
            "state. Adding to the group now.",
        ),
        broker(
            ms + 2_000, f"Stabilized group g generation {generation} with {others + 1} members."
        ),
    ]


def last_round(logs: list[str]) -> Round:
    return observed(broker=logs).groups["g"].rounds[-1]


def test_of_two_the_one_who_was_there_is_who_the_barrier_waited_for() -> None:
    found = last_round([*joins(1_000, 1, 1, 0), *joins(10_000, 2, 2, 1)])
    assert (found.late_member, found.late_us) == (member(1), 2_000_000)


def test_of_three_nobody_is_named_where_no_line_tells_of_two() -> None:
    found = last_round([*joins(1_000, 1, 1, 0), *joins(10_000, 2, 2, 1), *joins(20_000, 3, 3, 2)])
    assert (found.late_member, found.late_us) == ("", -1)


def test_nobody_is_named_where_the_log_begins_after_the_group() -> None:
    found = last_round(joins(10_000, 2, 2, 1))
    assert (found.late_member, found.late_us) == ("", -1)


def test_who_has_left_is_not_waited_for() -> None:
    left = f"[Group g] Member {member(2)} has left group through explicit `LeaveGroup` request; x"
    found = last_round(
        [
            *joins(1_000, 1, 1, 0),
            *joins(10_000, 2, 2, 1),
            broker(15_000, left.replace("; x", "; client reason: not provided")),
            *joins(20_000, 3, 3, 1),
        ]
    )
    assert found.late_member == member(1)
