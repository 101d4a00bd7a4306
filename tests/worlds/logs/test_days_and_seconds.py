"""A coordinator's log that leaves out the day, or what is below a second."""

from __future__ import annotations

import re

from reading_logs import observed
from test_stories_in_logs import U, broker, client, joined

from rebalsim.worlds.logs.observation import Observation

M = f"consumer-g-1-{U}1"
CLIENT = [
    client(1_000, "(Re-)joining group"),
    client(4_620, "Request joining group due to: need to re-join with the given member-id: " + M),
    client(4_625, "(Re-)joining group"),
    joined(7_640, 1, 1),
    client(7_660, "Adding newly assigned partitions: [t-0]"),
]
BROKER = [
    broker(
        4_610,
        "Dynamic member with unknown member id joins group g in Empty state. Created a new "
        f"member id {M} and requesting the member to rejoin with this id.",
    ),
    broker(
        4_630,
        "Preparing to rebalance group g in state PreparingRebalance with old generation 0 (reason: "
        f"Adding new member {M} with group instance id null).",
    ),
    broker(
        4_630,
        f"Pending dynamic member with id {M} joins group g in PreparingRebalance state. Adding to "
        "the group now.",
    ),
    broker(7_630, "Stabilized group g generation 1 with 1 members."),
    broker(7_650, f"Assignment received from leader {M} for group g for generation 1."),
]
GIVEN_US = 1_767_607_207_660_000  # 2026-01-05 10:00:07,660 UTC


def given_us(found: Observation) -> int:
    (voice,) = found.groups["g"].voices
    return next(f.at_us for f in voice.facts if f.what == "assigned")


def test_a_coordinator_without_dates_has_its_clients_day() -> None:
    """Whenever its file was copied."""
    undated = [re.sub(r"^\[2026-01-05 (\S+),(\d+)\]", r"\1.\2", line) for line in BROKER]
    found = observed(broker=undated, c1=CLIENT)
    assert given_us(found) == GIVEN_US
    assert found.groups["g"].rounds[0].begin_us == GIVEN_US - 3_030_000
    assert [c.ahead_us for c in found.clocks.values()] == [0, 0]


def test_whole_seconds_of_a_coordinator_set_no_clock() -> None:
    """It wrote down 10:00:04 at 10:00:04,610: whoever asked before that is not ahead of it."""
    coarse = [re.sub(r",\d{3}\]", "]", line) for line in BROKER]
    found = observed(broker=coarse, c1=CLIENT)
    assert given_us(found) == GIVEN_US
    assert [c.ahead_us for c in found.clocks.values()] == [0, 0]


def test_a_line_broken_in_two_has_the_day_of_its_first_half_behind_a_prefix_without_one() -> None:
    """Syslog's time has no year; java.util.logging's second line no time at all."""
    broken = []
    for line in BROKER:
        second = line[18:20]
        broken += [
            f"Jan  5 10:00:{second} node kafka[812]: Jan 5, 2026 10:00:{second} AM x.Y info",
            f"Jan  5 10:00:{second} node kafka[812]: INFO: {line.partition('INFO ')[2]}",
        ]
    found = observed(broker=broken, c1=CLIENT)
    assert given_us(found) == GIVEN_US
    assert found.groups["g"].rounds[0].begin_us == GIVEN_US - 3_660_000
