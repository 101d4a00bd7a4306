"""A member that hears of a rebalance and is at something else before it asks to join."""

from __future__ import annotations

import io

from rebalsim.incident.beats import ANSWER_US, Beat, beats_of
from rebalsim.incident.lives import lives_of
from rebalsim.worlds.logs.observation import observe
from rebalsim.worlds.logs.sources import Source

U = "576da3a1-e5fd-420c-9a03-505dabad078"
SECOND = 1_000_000
NINE = 1_767_607_200 * SECOND  # 2026-01-05 10:00:00 UTC
START = "Preparing to rebalance group g in state PreparingRebalance with old generation"


def at(ms: int) -> str:
    seconds, rest = divmod(ms, 1_000)
    return f"[2026-01-05 10:00:{seconds:02d},{rest:03d}] INFO "


def broker(ms: int, text: str) -> str:
    return at(ms) + f"[GroupCoordinator id=1 topic=__consumer_offsets partition=0] {text} (x.Y)"


def client(ms: int, text: str) -> str:
    return at(ms) + f"[Consumer clientId=consumer-g-1, groupId=g] {text} (x.Y)"


def joined(ms: int, generation: int, who: int) -> str:
    member = f"memberId='consumer-g-1-{U}{who}', protocol='cooperative-sticky'"
    return client(
        ms,
        "Successfully joined group with generation "
        f"Generation{{generationId={generation}, {member}}}",
    )


def beats_of_the_first(between: list[str]) -> list[Beat]:
    """The first member hears of the second at 32.0 s, and asks at 32.5 s; it is awaited."""
    new = f"Adding new member consumer-g-1-{U}2 with group instance id null"
    logs = {
        "c1": [
            client(1_000, "(Re-)joining group"),
            joined(4_000, 1, 1),
            client(4_030, "Adding newly assigned partitions: [t-0, t-1]"),
            client(32_000, "Request joining group due to: group is already rebalancing"),
            *between,
            client(32_500, "(Re-)joining group"),
            joined(32_520, 2, 1),
            client(32_560, "Adding newly assigned partitions: []"),
        ],
        "c2": [
            client(30_000, "(Re-)joining group"),
            joined(32_520, 2, 2),
            client(32_560, "Adding newly assigned partitions: [t-2]"),
        ],
        "broker": [
            broker(1_001, f"{START} 0 (reason: Adding new member consumer-g-1-{U}1)."),
            broker(4_000, "Stabilized group g generation 1 with 1 members."),
            broker(4_010, "Assignment received from leader x for group g for generation 1."),
            broker(30_001, f"{START} 1 (reason: {new})."),
            broker(32_510, "Stabilized group g generation 2 with 2 members."),
            broker(32_530, "Assignment received from leader x for group g for generation 2."),
        ],
    }
    sources = [
        Source(f"{name}.log", f"{name}.log", stream=io.BytesIO("\n".join(lines).encode()))
        for name, lines in logs.items()
    ]
    story = observe(sources).groups["g"]
    lives = lives_of(story)
    first = min(lives, key=lambda life: life.begin_us)
    return [beat for beat in beats_of(story, lives) if beat.life == first.name]


def leaves_us(beat: Beat) -> int:
    return beat.at_us + beat.in_us + beat.late_us - NINE


def test_its_beat_leaves_when_it_came_to_ask() -> None:
    """Nothing of it stood still meanwhile: it was waited for until its request came, at 32.51 s."""
    (beat,) = beats_of_the_first([])
    assert leaves_us(beat) == 32_510_000 - 2 * ANSWER_US


def test_one_that_gives_partitions_up_first_does_so_when_it_heard() -> None:
    (beat,) = beats_of_the_first([client(32_010, "Revoke previously assigned partitions [t-1]")])
    assert leaves_us(beat) == 32_000_000 - ANSWER_US
