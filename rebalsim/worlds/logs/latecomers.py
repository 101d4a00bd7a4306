"""Who came last to a barrier, and who was slow to give up its partitions."""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.worlds.logs.facts import Fact
from rebalsim.worlds.logs.rounds import Round
from rebalsim.worlds.logs.voices import Voice

ENDS_US = 250_000  # a barrier falls within so long after the last JoinGroup
LEAVES_US = 400_000
BUSY_US = 150_000
NEAR_US = (
    2_000_000  # an answer without a generation belongs to the barrier that fell so shortly before
)


def name_latecomers(
    rounds: Sequence[Round], coordinator: Sequence[Fact], voices: Sequence[Voice]
) -> None:
    """Fill in who held each rebalance up, as far as any line tells."""
    for number, this in enumerate(rounds):
        following = rounds[number + 1].begin_us if number + 1 < len(rounds) else None
        if this.is_epoch:
            _gave_up_last(this, following, voices)
        elif this.joined_us >= 0:
            _came_last(this, coordinator, voices)


def _came_last(this: Round, coordinator: Sequence[Fact], voices: Sequence[Voice]) -> None:
    joined = this.joined_us
    arrivals = [
        (f.at_us, f.member, "joined")
        for f in coordinator
        if f.what == "added" and f.group == this.group and _within(f.at_us, this)
    ]
    arrivals += [found for voice in voices if (found := _asked(voice, this)) is not None]
    last = max(arrivals, default=None)
    if last is not None and joined - last[0] <= ENDS_US:
        _late(this, last[1], last[0], "joined")
        return
    gone = [
        f
        for f in coordinator
        if f.group == this.group
        and f.what in ("left", "failed", "removed", "unborn")
        and this.begin_us + 20_000 < f.at_us <= joined + 10_000
        and (f.what != "left" or f.at_us >= joined - LEAVES_US)
        and f.member != this.trigger.member
    ]
    if gone:
        _late(this, gone[-1].member, joined, gone[-1].what)
    elif this.removed:
        _late(this, this.removed[-1], joined, "removed")
    elif last is not None:
        _late(this, last[1], last[0], "joined")


def _late(this: Round, member: str, at_us: int, how: str) -> None:
    this.late_member, this.late_us, this.late_how = member, max(0, at_us - this.begin_us), how


def _within(at_us: int, this: Round) -> bool:
    return this.begin_us - BUSY_US <= at_us <= this.joined_us + 60_000


def _asked(voice: Voice, this: Round) -> tuple[int, str, str] | None:
    """When this consumer's JoinGroup for the round left, and under which id."""
    asked = -1
    step = voice.stream.step_us if voice.stream.step_us >= 1_000_000 else 0
    for f in voice.facts:
        if f.what == "asking" and f.at_us <= this.joined_us + 60_000:
            asked = min(f.at_us + step, this.joined_us) if step else f.at_us
        elif _took_part(f, this, asked):
            fits = asked >= this.begin_us - 400_000
            return (asked, f.member or voice.id_at(f.at_us), "joined") if fits else None
    return None


def _took_part(f: Fact, this: Round, asked: int) -> bool:
    if f.what not in ("joined", "assigned"):
        return False
    if f.generation >= 0:
        return f.generation == this.generation
    return asked >= 0 and -NEAR_US // 2 < f.at_us - this.joined_us < NEAR_US


def _gave_up_last(this: Round, following: int | None, voices: Sequence[Voice]) -> None:
    """The last who took its partitions back before the next epoch: others wait for them."""
    latest: tuple[int, str] | None = None
    limit = this.end_us if this.end_us >= 0 else following
    for voice in voices:
        for f in voice.facts:
            gives = f.what == "revoked" and f.partitions
            if (
                not gives
                or f.at_us < this.begin_us
                or (limit is not None and f.at_us > limit + 100_000)
            ):
                continue
            if latest is None or f.at_us > latest[0]:
                latest = (f.at_us, voice.id_at(f.at_us))
    if latest is not None:
        _late(this, latest[1], latest[0], "gave-up")
