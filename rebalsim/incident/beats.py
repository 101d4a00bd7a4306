"""When members' heartbeats left, as far as logs show it.

How long a rebalance waits for a member hangs on where it stood between two heartbeats when it began. No
settings tell that, and a real one's phase drifts by every delay of its machine; but a log tells when
a beat brought news, and a coordinator which beat was the last it heard. A beat before the rebalance, whole
intervals before that moment, is written into the script.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rebalsim.incident.lives import Life
from rebalsim.worlds.logs.facts import OF_EPOCHS, Fact, FactKind
from rebalsim.worlds.logs.measured import (
    ACKNOWLEDGED,
    USUAL_MS,
    beat_ms,
    classic_beat_ms,
    news_of,
)
from rebalsim.worlds.logs.observation import GroupStory
from rebalsim.worlds.logs.rounds import Round
from rebalsim.worlds.logs.stops import StopKind
from rebalsim.worlds.logs.triggers import TriggerKind
from rebalsim.worlds.logs.voices import Voice

NEW_MS = 5_000  # the brokers' default for the consumer protocol
ANSWER_US = 3_000  # from a beat's leaving to its answer's being read
NOTICED_US = 1_000_000  # from a session's end to what is made of it
SILENT = (StopKind.KILLED, StopKind.FROZEN)
CLEAR_US = 15_000
LATE_US = 150_000  # so late a beat may be on a busy machine
_ACTS = (FactKind.REVOKED, FactKind.ASKING, FactKind.LOST)
_SETTLED = (FactKind.JOINED, FactKind.SYNCED, FactKind.ASSIGNED)


@dataclass(frozen=True, slots=True, order=True)
class Beat:
    """From `at_us` on a life's next heartbeat is `in_us` away, and leaves `late_us` late."""

    at_us: int
    life: str
    in_us: int = 0
    late_us: int = 0


def beats_of(story: GroupStory, lives: Sequence[Life]) -> list[Beat]:
    """Every beat that is known, in order."""
    new_ms = beat_ms(story) or NEW_MS
    usual_ms = classic_beat_ms(story) or USUAL_MS
    found: set[Beat] = set()
    for life in lives:
        is_new = is_of_consumer_protocol(life.voice, story)
        every = interval_us(life.voice, new_ms if is_new else 0, usual_ms)
        before = _of_news(life, every) if is_new else _of_rounds(life, story.rounds, every)
        gone = min(
            (b.at_us for b in life.blows if b.what in ("crash", "leave")), default=life.end_us
        )
        mine = (*before, *((at, 0) for at in _last_ones(story, life, every)))
        found |= {
            Beat(at, life.name, min(us, every), max(0, us - every))
            for at, us in mine
            if life.begin_us < at < gone
        }
    return sorted(found)


def is_of_consumer_protocol(voice: Voice, story: GroupStory) -> bool:
    """Whether its client says so, or its group knows nothing else."""
    is_told = any(f.what in OF_EPOCHS for f in voice.facts)
    return is_told or (bool(story.rounds) and all(r.is_epoch for r in story.rounds))


def interval_us(voice: Voice, new_ms: int, usual_ms: int) -> int:
    """From one beat to the next, as it is set; `new_ms` under the consumer protocol, `usual_ms` where
    none is told.
    """
    if new_ms:
        return new_ms * 1_000
    told = voice.settled("heartbeat.interval.ms")
    return (told if told > 0 else usual_ms) * 1_000


def _of_rounds(life: Life, rounds: Sequence[Round], every: int) -> Iterator[tuple[int, int]]:
    """Classic protocol: the first beat since a rebalance began brings the news of it."""
    facts = [f for f in life.voice.facts if life.begin_us <= f.at_us < life.end_us]
    for r in rounds:
        if r.is_epoch or life.began(r):
            continue
        heard = _heard_us(life, facts, r)
        settled = [f.at_us for f in facts if f.what in _SETTLED and f.at_us < r.begin_us]
        if heard < 0 or not settled:
            continue
        at = max(settled[-1] + 1_000, r.begin_us - CLEAR_US)
        beat = max(heard - ANSWER_US, r.begin_us + CLEAR_US)
        if beat - at < 3 * every:
            yield at, beat - at


def _heard_us(life: Life, facts: Sequence[Fact], r: Round) -> int:
    """When it heard of the rebalance; where its client prints no such line, when it acted on it."""
    until = r.joined_us if r.joined_us >= 0 else r.over_us
    if until < 0 or not life.begin_us < r.begin_us <= until < life.end_us:
        return -1
    heard = (f.at_us for f in facts if f.what == FactKind.HEARD and r.begin_us <= f.at_us <= until)
    found = next(heard, -1)
    if found >= 0:
        return max(found, _asked_us(life, facts, r, found, until))
    if any(f.what == FactKind.HEARD for f in facts):
        return found
    if r.late_how == "joined" and r.late_member in life.voice.ids:
        return max(r.begin_us, until - ANSWER_US)
    step = life.voice.stream.step_us
    acted = (
        f.at_us
        for f in facts
        if f.what in _ACTS
        and r.begin_us - step < f.at_us < until + step
        and f.at_us > life.joins_us
    )
    found = next(acted, -1)
    return min(max(found, r.begin_us), until - ANSWER_US) if found >= 0 else -1


def _asked_us(life: Life, facts: Sequence[Fact], r: Round, heard_us: int, until_us: int) -> int:
    """When one that gave nothing up after it had heard asked to join, or came if it came last: until then
    its thread was at something else, a commit for instance, and nothing of it stood still; −1 where it
    was called to give something up first.
    """
    acted = (f for f in facts if f.what in _ACTS and heard_us <= f.at_us <= until_us)
    first = next(acted, None)
    if first is None or first.what != FactKind.ASKING:
        return -1
    is_last = r.late_how == "joined" and r.late_member in life.voice.ids
    return (until_us if is_last else first.at_us) - ANSWER_US


def _of_news(life: Life, every: int) -> Iterator[tuple[int, int]]:
    """Consumer protocol: news may come in several beats, so from the one before each. That the
    application polls no more is seen when a beat is due.
    """
    for settled, news in news_of(life.voice.facts):
        if life.begin_us <= settled and news < life.end_us:
            beat = news - ANSWER_US
            if beat - every > settled + LATE_US:
                yield beat - every, 0
            else:
                yield settled + 1_000, beat - settled - 1_000


def _last_ones(story: GroupStory, life: Life, every: int) -> Iterator[int]:
    """The last beat before each silence that ended its session."""
    session = life.voice.settled("session.timeout.ms") * 1_000
    if is_of_consumer_protocol(life.voice, story):
        session = new_session_us(story, every)
    elif session <= 0:
        session = guessed_session_us(story, every)
    for stop in story.stops:
        mine = stop.voice is life.voice and life.begin_us < stop.at_us <= life.end_us
        if mine and stop.how in SILENT and session > 0:
            yield stop.noticed_us - session - ANSWER_US // 3


def guessed_session_us(story: GroupStory, every: int) -> int:
    """The session timeout of a classic group of which no log tells it: the least silence that ended
    one, in whole seconds; −1 where none did.
    """
    ended = {r.begin_us for r in story.rounds if r.trigger.kind == TriggerKind.SESSION_TIMEOUT}
    silent = [
        s.noticed_us - s.at_us
        for s in story.stops
        if s.how in SILENT and any(abs(s.noticed_us - us) <= NOTICED_US for us in ended)
    ]
    if not silent:
        return -1
    return max(6, -(-(min(silent) + every // 2) // 1_000_000)) * 1_000_000


def new_session_us(story: GroupStory, every: int) -> int:
    """The consumer protocol's session timeout, which only brokers know; −1 where nobody fell silent.

    It ended so long after a beat, and beats left whole intervals after the last one that a log tells:
    of the lengths that this leaves, the least that holds the silence as estimated, in whole seconds.
    """
    found = []
    for stop in story.stops:
        if stop.how not in SILENT or stop.noticed_us <= stop.at_us:
            continue
        acked = [
            f.at_us for f in stop.voice.facts if f.why in ACKNOWLEDGED and f.at_us < stop.at_us
        ]
        about = stop.noticed_us - stop.at_us
        left = (stop.noticed_us - acked[-1]) % every if acked else about % every
        found.append(left + every * -((left - about) // every))
    return max(6, round(min(found) / 1e6)) * 1_000_000 if found else -1
