"""When a member came in, where its coordinator's log or the beginning of its own is missing."""

from __future__ import annotations

import io
from dataclasses import replace

from rebalsim.incident.align import aligned
from rebalsim.incident.lives import lives_of
from rebalsim.incident.replay import hold
from rebalsim.worlds.logs.observation import GroupStory, observe
from rebalsim.worlds.logs.sources import Source

NINE = 1_767_607_200_000_000  # 2026-01-05 10:00:00 UTC
MS = 1_000
OF = "using the consumer protocol"


def at(ms: int) -> str:
    seconds, rest = divmod(ms, 1_000)
    return f"[2026-01-05 10:00:{seconds:02d},{rest:03d}] INFO "


def broker(ms: int, text: str) -> str:
    head = "[GroupCoordinator id=1 topic=__consumer_offsets partition=0] [GroupId g]"
    return at(ms) + f"{head} {text} (x.Y)"


def client(ms: int, text: str) -> str:
    return at(ms) + f"[Consumer clientId=consumer-g-1, groupId=g] {text} (x.Y)"


def goes(ms: int, who: str, before: str, after: str, epoch: int = 2) -> str:
    return client(ms, f"Member {who} with epoch {epoch} transitioned from {before} to {after}.")


def story_of(**logs: list[str]) -> GroupStory:
    sources = [
        Source(f"{name}.log", f"{name}.log", stream=io.BytesIO("\n".join(lines).encode()))
        for name, lines in logs.items()
    ]
    return observe(sources).groups["g"]


COMES = [
    goes(10_000, "one", "UNSUBSCRIBED", "JOINING", 0),
    client(11_200, "Discovered group coordinator h:9092 (id: 1 rack: null)"),
    goes(11_700, "one", "JOINING", "RECONCILING"),
    client(11_720, "Adding newly assigned partitions: [t-0, t-1]"),
    goes(11_730, "one", "RECONCILING", "ACKNOWLEDGING"),
    goes(11_731, "one", "ACKNOWLEDGING", "STABLE"),
]


def test_without_a_coordinators_log_it_asked_just_before_it_was_answered() -> None:
    [life] = lives_of(story_of(c1=COMES))
    assert life.begin_us == NINE + 10_000 * MS
    assert 0 < NINE + 11_700 * MS - life.joins_us < 10 * MS


def test_one_whose_log_lacks_its_beginning_lives_since_its_coordinator_took_it_in() -> None:
    log = [
        goes(41_000, "two", "STABLE", "RECONCILING"),
        client(41_020, "Revoke previously assigned partitions [t-1]"),
        goes(41_030, "two", "RECONCILING", "ACKNOWLEDGING"),
        goes(41_031, "two", "ACKNOWLEDGING", "STABLE", 3),
    ]
    coordinator = [
        broker(11_000, f"Member one joins the consumer group {OF}."),
        broker(11_000, "Bumped group epoch to 2 with metadata hash 7."),
        broker(15_000, f"Member two joins the consumer group {OF}."),
        broker(15_000, "Bumped group epoch to 3 with metadata hash 7."),
    ]
    lives = {life.voice.name: life for life in lives_of(story_of(c1=COMES, c2=log, b=coordinator))}
    assert lives["c2"].begin_us == NINE + 15_000 * MS
    assert lives["c1"].begin_us == NINE + 10_000 * MS


def test_a_pause_that_nobody_whom_logs_tell_of_ended_is_not_held_against_the_replay() -> None:
    story = story_of(
        c1=[
            *COMES,
            goes(41_000, "one", "STABLE", "RECONCILING"),
            client(41_020, "Revoke previously assigned partitions [t-0, t-1]"),
            client(42_000, "Adding newly assigned partitions: [t-0, t-1]"),
            goes(42_031, "one", "ACKNOWLEDGING", "STABLE", 3),
        ]
    )
    told = [p for p in story.pauses if p.end_us - p.start_us > 500 * MS]
    assert len(told) == 2 and all(p.to is not None for p in told)
    written = aligned(story)
    assert hold(written, told).observed == 2
    assert hold(written, [told[0], replace(told[1], to=None)]).observed == 1
