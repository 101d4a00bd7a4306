"""Half of the logs is missing: what went to a member that nobody hears did not stand still."""

from __future__ import annotations

from reading_logs import observed
from test_stories_in_logs import U, broker, client, joined

from rebalsim.analysis import analyse
from rebalsim.worlds.logs.observation import GroupStory
from rebalsim.worlds.logs.to_trace import trace_of

OTHER = f"consumer-g-2-{U}2"
COMES = [
    broker(
        30_000,
        f"Dynamic member with unknown member id joins group g in Stable state. Created a new member id {OTHER} "
        "and requesting the member to rejoin with this id.",
    ),
    broker(
        30_010,
        "Preparing to rebalance group g in state PreparingRebalance with old generation 1 "
        f"(reason: Adding new member {OTHER} with group instance id null).",
    ),
    broker(32_000, "Stabilized group g generation 2 with 2 members."),
    broker(32_005, f"Assignment received from leader {OTHER} for group g for generation 2."),
]
HEARD = [
    client(1_000, "(Re-)joining group"),
    joined(4_010, 1, 1),
    client(4_030, "Adding newly assigned partitions: [t-0, t-1]"),
    client(31_990, "Revoke previously assigned partitions [t-0, t-1]"),
    client(31_995, "(Re-)joining group"),
    joined(32_001, 2, 1),
    client(32_010, "Adding newly assigned partitions: [t-0]"),
    client(300_000, "Revoke previously assigned partitions [t-0]"),
]


def pauses_of(story: GroupStory) -> list[tuple[str, int, int, bool]]:
    """(partition, from, to in ms after 10:00, whether a heard one took it) of each."""
    day = 86_400_000
    return [
        (
            p.partition,
            p.start_us // 1_000 % day - 36_000_000,
            p.end_us // 1_000 % day - 36_000_000,
            p.to is not None,
        )
        for p in story.pauses
        if p.start_us % (day * 1_000) < 36_200_000_000
    ]


def test_what_nobody_heard_takes_up_went_to_the_one_without_a_log() -> None:
    story = observed(broker=COMES, c1=HEARD).groups["g"]
    assert pauses_of(story) == [("t-0", 31_990, 32_010, True), ("t-1", 31_990, 32_005, False)]
    trace = trace_of([story])
    assert trace.header.consumers["no-log"].group == "g"
    lost = {
        str(p.partition): p.ended_us - p.started_us for p in analyse(trace).pauses if not p.is_open
    }
    assert lost == {"t-0": 20_000, "t-1": 15_000}


def test_where_every_member_is_heard_it_stands_still_until_the_logs_end() -> None:
    named = [line.replace(OTHER, f"consumer-g-1-{U}1") for line in COMES]
    story = observed(broker=named, c1=HEARD).groups["g"]
    assert [(p.partition, p.end_us < 0) for p in story.pauses][:2] == [
        ("t-0", False),
        ("t-1", True),
    ]


def test_who_gives_up_what_no_line_gave_it_had_it_all_along() -> None:
    """The first half of the second one's log is missing, too: what it gives up was its own."""
    second = [
        line.replace("consumer-g-1", "consumer-g-2")
        for line in (
            client(90_000, "Revoke previously assigned partitions [t-1]"),
            client(90_005, "(Re-)joining group"),
            client(92_000, "Adding newly assigned partitions: [t-1]"),
        )
    ]
    story = observed(broker=COMES, c1=HEARD, c2=second).groups["g"]
    assert pauses_of(story) == [
        ("t-0", 31_990, 32_010, True),
        ("t-1", 31_990, 32_005, False),
        ("t-1", 90_000, 92_000, True),
    ]
