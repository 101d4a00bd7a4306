"""When a listener has returned is printed nowhere: it is bounded by what comes soon after, or by nothing."""

from __future__ import annotations

from reading_logs import observed
from test_stories_in_logs import client, joined

from rebalsim.analysis import analyse
from rebalsim.trace import events as ev
from rebalsim.worlds.logs.to_trace import trace_of


def ends(lines: list[str]) -> list[tuple[str, int]]:
    """(callback, ms that it took) of each."""
    events = trace_of(list(observed(c1=lines).groups.values())).events
    begins = [e for e in events if isinstance(e, ev.CallbackBegan)]
    over = [e for e in events if isinstance(e, ev.CallbackEnded)]
    return [(b.callback, (e.at_us - b.at_us) // 1_000) for b, e in zip(begins, over, strict=True)]


def epochs(ms: int, text: str) -> str:
    return client(ms, text)


def test_an_assignment_ends_with_the_first_position_and_is_not_drawn_out_by_what_comes_later() -> (
    None
):
    start = [client(1_000, "(Re-)joining group"), joined(1_010, 1, 1)]
    given = client(1_030, "Adding newly assigned partitions: [t-0, t-1]")
    position = client(
        1_090, "Setting offset for partition t-0 to the committed offset FetchPosition{offset=7}"
    )
    revoked = client(62_000, "Revoke previously assigned partitions [t-0, t-1]")
    joins = client(62_400, "(Re-)joining group")
    assert ends([*start, given, position, revoked, joins]) == [("assigned", 60), ("revoked", 400)]
    assert ends([*start, given, revoked, joins]) == [("assigned", 0), ("revoked", 400)]


def test_of_one_poll_that_calls_twice_the_first_ends_where_the_second_begins() -> None:
    told = [
        client(1_000, "(Re-)joining group"),
        joined(1_010, 1, 1),
        client(1_030, "Adding newly assigned partitions: [t-0, t-1]"),
        client(9_000, "(Re-)joining group"),
        joined(9_010, 2, 1),
        client(9_020, "Revoke previously assigned partitions [t-0]"),
        client(9_320, "Adding newly assigned partitions: []"),
    ]
    assert ends(told) == [("assigned", 0), ("revoked", 300), ("assigned", 0)]


def test_partitions_that_stayed_where_they_were_did_not_stand_still() -> None:
    """A member of the consumer protocol that keeps a partition while it gives up another: minutes pass
    until its next line.
    """
    told = [
        client(1_000, "Subscribed to topic(s): t"),
        client(
            2_000,
            "Member JKmqPqa4R5S0uFvcXm6wEw transitioned from JOINING to RECONCILING at epoch 1.",
        ),
        client(2_010, "Adding newly assigned partitions: [t-0, t-1]"),
        client(60_000, "Revoke previously assigned partitions [t-1]"),
        client(60_050, "Adding newly assigned partitions: []"),
        client(400_000, "Adding newly assigned partitions: [t-1]"),
    ]
    found = analyse(trace_of(list(observed(c1=told).groups.values()))).pauses
    assert [(str(p.partition), (p.ended_us - p.started_us) // 1_000) for p in found] == [
        ("t-1", 340_000)
    ]
