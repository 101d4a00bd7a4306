"""When a consumer could no longer deliver though no listener was called: it was killed, froze, was
stuck in a handler, or closed without a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rebalsim.worlds.logs.coarse_times import is_coarse
from rebalsim.worlds.logs.dialects import dialect
from rebalsim.worlds.logs.facts import MAKES_A_MEMBER, OF_EPOCHS, Fact, FactKind
from rebalsim.worlds.logs.rounds import Round
from rebalsim.worlds.logs.triggers import TriggerKind
from rebalsim.worlds.logs.voices import Voice

LONG_CLOSE_US = 5_000_000
DEFAULT_POLL_MS = 300_000
# what only a process says that was there before, and what one says that begins anew
OLD_LIFE = (
    FactKind.LOST,
    FactKind.THROWN_OUT,
    FactKind.RESET,
    FactKind.REVOKED,
    FactKind.REJOINING,
    FactKind.BACK,
)
NEW_LIFE = (FactKind.STARTED, FactKind.NAMED, FactKind.JOINED, FactKind.ASSIGNED)


class StopKind(StrEnum):
    """How a consumer came to deliver nothing without a call of its listener."""

    KILLED = "killed"
    DIED = "died"  # it closed without a word of its partitions
    FROZEN = "frozen"
    HUNG = "hung"  # in a handler


@dataclass(slots=True)
class Stop:
    """From `at_us` on the consumer delivers nothing."""

    at_us: int
    voice: Voice
    how: StopKind
    noticed_us: int
    holds_on: bool  # it still believes that it holds its partitions


def stops_of(
    voice: Voice, coordinator: Sequence[Fact], rounds: Sequence[Round], poll_us: int = -1
) -> list[Stop]:
    """Every such moment of one consumer, in order. `poll_us`: its group's max.poll.interval.ms, where its
    own log does not tell it.
    """
    ids = set(voice.ids)
    found = [_hung(voice, f, poll_us) for f in voice.facts if f.what == FactKind.POLL_EXPIRED]
    failed = [f for f in coordinator if f.what == FactKind.FAILED and f.member in ids]
    found += [_silenced(voice, f) for f in failed]
    for f in coordinator:
        if f.what in (FactKind.REMOVED, FactKind.STUCK) and f.member in ids:
            found += _overdue(voice, f, rounds)
    found += _closed(voice, [s.noticed_us for s in found if s.how == StopKind.KILLED], rounds)
    if not failed:
        found += _fell_silent(voice, rounds)
    return sorted(found, key=lambda s: s.at_us)


def _hung(voice: Voice, f: Fact, poll_us: int) -> Stop:
    limit = f.amount if f.amount > 0 else voice.settled("max.poll.interval.ms")
    if limit > 0:
        return Stop(f.at_us - limit * 1_000, voice, StopKind.HUNG, f.at_us, True)
    if poll_us > 0:
        return Stop(f.at_us - poll_us, voice, StopKind.HUNG, f.at_us, True)
    since = max(f.at_us - DEFAULT_POLL_MS * 1_000, _called_us(voice, f))
    return Stop((since + f.at_us) // 2, voice, StopKind.HUNG, f.at_us, True)


def poll_limit_us(voices: Sequence[Voice]) -> int:
    """max.poll.interval.ms of a group of which no log tells it: no longer than from a call of a listener,
    which comes out of a poll(), to the expiry that followed; −1 where too few followed a call for the
    shortest of these times to be near to it.
    """
    found = []
    for voice in voices:
        for f in voice.facts:
            if f.what == FactKind.POLL_EXPIRED and (called := _called_us(voice, f)) > 0:
                found.append(f.at_us - called)
    return min(found) if len(found) > 1 else -1


def _called_us(voice: Voice, f: Fact) -> int:
    """When its listener was called last before this; 0 where it never was."""
    before = [
        x.at_us
        for x in voice.facts
        if x.what in (FactKind.ASSIGNED, FactKind.REVOKED) and x.at_us < f.at_us
    ]
    return before[-1] if before else 0


def _silenced(voice: Voice, f: Fact) -> Stop:
    """Its session ran out: it had been silent for so long; dead, unless it speaks again."""
    until = _life_of(voice, f.member)
    said = [x.at_us for x in voice.facts if x.at_us < until]
    before = [at for at in said if at <= f.at_us - 500_000]
    last = before[-1] if before else 0
    told = _told_session_us(voice)
    if told > 0:  # some time between its last heartbeat and the next one
        beat = max(0, voice.settled("heartbeat.interval.ms")) * 1_000
        at = max(f.at_us - told + beat // 2, last)
    else:  # somewhere between its last line and its end: the middle, or what its client's default says
        at = max(f.at_us - session_ms(voice) * 1_000, (last + f.at_us) // 2)
    at = min(at, f.at_us, until - 1)
    lives = _speaks_again(voice, f.at_us - 200_000, until)
    return Stop(at, voice, StopKind.FROZEN if lives else StopKind.KILLED, f.at_us, lives)


def _speaks_again(voice: Voice, since: int, until: int) -> bool:
    """The same process goes on: it learns that it was thrown out."""
    for x in voice.facts:
        if since < x.at_us < until:
            if x.what in OLD_LIFE:
                return True
            if x.what in NEW_LIFE:
                return False
    return False


def _life_of(voice: Voice, member: str) -> int:
    """When the process that had this member id was followed by another one."""
    is_seen = False
    for x in voice.facts:
        is_seen = is_seen or x.member == member
        if is_seen and x.what == FactKind.STARTED:
            return x.at_us
    return 1 << 62


def _told_session_us(voice: Voice) -> int:
    return voice.settled("session.timeout.ms") * 1_000 if _is_classic(voice) else -1


def _is_classic(voice: Voice) -> bool:
    return not any(f.what in OF_EPOCHS for f in voice.facts)


def session_ms(voice: Voice) -> int:
    """Its session timeout, by its settings or its client's default."""
    told = voice.settled("session.timeout.ms")
    if told > 0:
        return told
    return dialect(voice.dialect).session_ms


def _overdue(voice: Voice, f: Fact, rounds: Sequence[Round]) -> list[Stop]:
    """It did not come to the barrier, or did not give up its partitions, in time."""
    before = [r.begin_us for r in rounds if r.begin_us <= f.at_us]
    return [Stop(before[-1] if before else f.at_us, voice, StopKind.HUNG, f.at_us, True)]


def _closed(voice: Voice, known_us: Sequence[int], rounds: Sequence[Round]) -> list[Stop]:
    """Closed (without a listener being called), or begun anew without having closed. `known_us`: when
    its coordinator had noticed a death.
    """
    found = []
    last: Fact | None = None
    is_closed = has_lived = False
    for f in voice.facts:
        if f.what == FactKind.CLOSED:
            at = _left_us(voice, f.at_us, rounds)
            found.append(Stop(at, voice, StopKind.DIED, at, False))
            is_closed = True
        elif f.what == FactKind.STARTED and last is not None and has_lived and not is_closed:
            if not any(last.at_us <= us <= f.at_us + 60_000_000 for us in known_us):
                found.append(
                    Stop(min(last.at_us + 1, f.at_us), voice, StopKind.KILLED, f.at_us, False)
                )
        elif f.what in MAKES_A_MEMBER:
            is_closed = False
        has_lived = has_lived or f.what in (
            FactKind.ASKING,
            FactKind.JOINED,
            FactKind.ASSIGNED,
            FactKind.STATE,
            FactKind.NAMED,
        )
        last = f
    return found


def _left_us(voice: Voice, closed_us: int, rounds: Sequence[Round]) -> int:
    """When its coordinator heard that it leaves: from then on at the latest it delivers nothing. A
    client may say that it has closed some time after, or in the same second of a coarse log.
    """
    until = closed_us + (voice.stream.step_us if is_coarse(voice) else 0)
    heard = (
        r.begin_us
        for r in rounds
        if r.trigger.kind == TriggerKind.LEAVE
        and closed_us - LONG_CLOSE_US <= r.begin_us <= until
        and voice.id_at(r.begin_us) == r.trigger.member
    )
    return next(heard, closed_us)


def _fell_silent(voice: Voice, rounds: Sequence[Round]) -> list[Stop]:
    """Without a coordinator's word: the clients' own rounds say whose session ran out."""
    ids = set(voice.ids)
    found = []
    for r in rounds:
        if (
            r.is_guessed
            and r.trigger.kind == TriggerKind.SESSION_TIMEOUT
            and r.trigger.member in ids
        ):
            before = [f.at_us for f in voice.facts if f.at_us < r.begin_us - 500_000]
            since = before[-1] if before else 0
            told = _told_session_us(voice)
            length = told if told > 0 else session_ms(voice) * 1_000
            at = max(r.begin_us - length, since if told > 0 else (since + r.begin_us) // 2)
            found.append(Stop(at, voice, StopKind.KILLED, r.begin_us, False))
    return found
