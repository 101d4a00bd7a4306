"""When a consumer group's rebalance was over: no coordinator says so at INFO, its members' states do."""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.domain.kafka_states import ON_THEIR_WAY, KafkaClientState
from rebalsim.worlds.logs.facts import FactKind
from rebalsim.worlds.logs.rounds import Round
from rebalsim.worlds.logs.voices import Voice

LONGEST_US = 20_000_000
HEARD_WITHIN_US = (
    5_000_000  # the default heartbeat interval: until then somebody may not have heard
)


def end_epochs(rounds: Sequence[Round], voices: Sequence[Voice]) -> None:
    """The last member's return to STABLE, where it came before the next epoch."""
    for number, this in enumerate(rounds):
        if not this.is_epoch or this.end_us >= 0:
            continue
        until = rounds[number + 1].begin_us if number + 1 < len(rounds) else 1 << 62
        end = _settled(this.begin_us, until, voices)
        if end >= 0:
            this.end_us, this.over_us = end, -1


def _settled(begin_us: int, until_us: int, voices: Sequence[Voice]) -> int:
    """The last transition before the next epoch; −1 where somebody was still at it then."""
    last = -1
    for voice in voices:
        has_states = any(f.what == FactKind.STATE for f in voice.facts)
        state, at = "", -1
        for f in voice.facts:
            if f.at_us >= until_us:
                break
            if f.what == FactKind.STATE:
                state, at = f.why.rpartition(">")[2], f.at_us
            elif f.what == FactKind.ASSIGNED and not has_states:
                at, state = f.at_us, KafkaClientState.STABLE
        if state in ON_THEIR_WAY:
            return -1
        if begin_us <= at <= begin_us + LONGEST_US and state == KafkaClientState.STABLE:
            last = max(last, at)
    if last < 0:
        last = begin_us
    late = max(last, begin_us + HEARD_WITHIN_US // 2)
    return late if late < until_us else -1
