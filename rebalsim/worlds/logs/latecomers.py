"""Who came last to a barrier, and who was slow to give up its partitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rebalsim.worlds.logs.facts import MAKES_A_MEMBER, Fact, FactKind, between
from rebalsim.worlds.logs.roll_calls import roll_calls
from rebalsim.worlds.logs.rounds import Round
from rebalsim.worlds.logs.triggers import TriggerKind
from rebalsim.worlds.logs.voices import Voice

ENDS_US = 250_000  # a barrier falls within so long after the last JoinGroup
AT_ONCE_US = 8_000  # and mostly within so little
CLOSE_US = 1_000  # as exact as a log's time is
LEAVES_US = 400_000
BUSY_US = 150_000
HURRIED_US = 100_000  # by which a line may come after the end that members' states tell
FAR_US = 60_000_000  # of a rebalance tells no line that is farther from it
FOREVER_US = 1 << 62
NEAR_US = (
    2_000_000  # an answer without a generation belongs to the barrier that fell so shortly before
)
# triggers whose member stands at the barrier from the beginning
_BY_COMING = (
    TriggerKind.JOIN,
    TriggerKind.FOLLOW_UP,
    TriggerKind.REJOIN,
    TriggerKind.TOPIC_CHANGE,
    TriggerKind.SUBSCRIPTION,
    TriggerKind.STATIC_REJOIN,
)


def name_latecomers(
    rounds: Sequence[Round], coordinator: Sequence[Fact], voices: Sequence[Voice]
) -> None:
    """Fill in who held each rebalance up, as far as any line tells."""
    there = roll_calls(rounds, coordinator)
    for number, this in enumerate(rounds):
        following = rounds[number + 1].begin_us if number + 1 < len(rounds) else None
        if this.is_epoch:
            _gave_up_last(this, following, voices)
        elif this.joined_us >= 0:
            _came_last(this, coordinator, voices, there[number])


def _came_last(
    this: Round, coordinator: Sequence[Fact], voices: Sequence[Voice], there: frozenset[str]
) -> None:
    joined = this.joined_us
    came = _told_to_come(this, coordinator)
    asked = [found for voice in voices if (found := _asked(voice, this)) is not None]
    last = _last_to_come(this, came, asked)
    if last is not None and joined - last.asked_us <= ENDS_US:
        _late(this, last.member, last.asked_us, "joined")
        return
    gone = [
        f
        for f in between(coordinator, this.begin_us, joined + 10_000)
        if f.group == this.group
        and f.what in (FactKind.LEFT, FactKind.FAILED, FactKind.REMOVED, FactKind.UNBORN)
        and this.begin_us + 20_000 < f.at_us <= joined + 10_000
        and (f.what != FactKind.LEFT or f.at_us >= joined - LEAVES_US)
        and f.member != this.trigger.member
    ]
    if gone:
        _late(this, gone[-1].member, joined, gone[-1].what)
    elif this.removed:
        _late(this, this.removed[-1], joined, "removed")
    else:
        _late_by_what_is_left(this, last, {*came, *(a.member for a in asked)}, there)


def _late_by_what_is_left(
    this: Round, last: Arrival | None, told: set[str], there: frozenset[str]
) -> None:
    """The barrier waited on after the last of whom a line tells that he came: for the only one of whom
    none does, or for one of several, who is not known.
    """
    if this.trigger.kind in _BY_COMING:
        told.add(this.trigger.member)
    left = there - told
    if len(left) == 1:
        _late(this, next(iter(left)), this.joined_us, "joined")
    elif last is not None and (len(told) >= this.members or this.members < 0):
        _late(this, last.member, last.asked_us, "joined")


@dataclass(slots=True)
class Arrival:
    """A JoinGroup: when it left (or came, where the coordinator says so), and when it was answered."""

    asked_us: int
    answered_us: int
    member: str


def _told_to_come(this: Round, coordinator: Sequence[Fact]) -> dict[str, Arrival]:
    """Those of whom the coordinator says when they came."""
    return {
        f.member: Arrival(f.at_us, f.at_us, f.member)
        for f in between(coordinator, this.begin_us - BUSY_US, this.joined_us + 60_000)
        if f.what == FactKind.ADDED and f.group == this.group
    }


def _last_to_come(
    this: Round, came: dict[str, Arrival], asked: Sequence[Arrival]
) -> Arrival | None:
    """Whose JoinGroup came last. The barrier falls at once when it comes: one of which the coordinator
    says that it came earlier was not the last, if there is one of which it says nothing. Of two that
    left at about the same time, the one that was answered later is likely to have come later: a
    process that is slow at the one is slow at the other.
    """
    asked = [a for a in asked if a.member not in came]
    last = max(came.values(), key=lambda a: a.asked_us, default=None)
    if last is not None and (not asked or this.joined_us - last.asked_us <= AT_ONCE_US):
        later = [a for a in asked if a.asked_us > last.asked_us]
        if not later:
            return last
    if not asked:
        return last
    latest = max(a.asked_us for a in asked)
    if last is not None and latest < last.asked_us - ENDS_US:
        return last
    close = [a for a in asked if a.asked_us >= latest - CLOSE_US]
    return max(close, key=lambda a: (a.answered_us, a.asked_us, a.member))


def _late(this: Round, member: str, at_us: int, how: str) -> None:
    this.late_member, this.late_us, this.late_how = member, max(0, at_us - this.begin_us), how


def _asked(voice: Voice, this: Round) -> Arrival | None:
    """When this consumer's JoinGroup for the round left, and under which id."""
    asked, generation = -1, -1
    step = voice.stream.step_us if voice.stream.step_us >= 1_000_000 else 0
    near = between(voice.facts, this.begin_us - FAR_US, this.joined_us + FAR_US)
    for f in near:
        if f.what == FactKind.ASKING and f.at_us <= this.joined_us + 60_000:
            asked = min(f.at_us + step, this.joined_us) if step else f.at_us
            continue
        if f.what == FactKind.JOINED:
            generation = f.generation
        if _took_part(f, this, asked, generation):
            fits = asked >= this.begin_us - 400_000
            return Arrival(asked, f.at_us, f.member or voice.id_at(f.at_us)) if fits else None
    return None


def _took_part(f: Fact, this: Round, asked: int, generation: int) -> bool:
    """`generation`: which one the member has joined last, where its client says so."""
    if f.what not in MAKES_A_MEMBER:
        return False
    if generation >= 0:
        return generation == this.generation
    return asked >= 0 and -NEAR_US // 2 < f.at_us - this.joined_us < NEAR_US


def _gave_up_last(this: Round, following: int | None, voices: Sequence[Voice]) -> None:
    """The last who took its partitions back before the next epoch: others wait for them."""
    latest: tuple[int, str] | None = None
    limit = this.end_us if this.end_us >= 0 else following
    until = FOREVER_US if limit is None else limit
    if this.end_us >= 0:
        until += HURRIED_US
    for voice in voices:
        for f in between(voice.facts, this.begin_us, until):
            gives = f.what == FactKind.REVOKED and f.partitions
            if gives and (latest is None or f.at_us > latest[0]):
                latest = (f.at_us, voice.id_at(f.at_us))
    if latest is not None:
        _late(this, latest[1], latest[0], "gave-up")
