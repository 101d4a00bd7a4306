"""What surprises people about the consumer protocol: one sentence each, with the instant and who it
was.
"""

from __future__ import annotations

from collections.abc import Callable

from rebalsim.analysis.surprises import Surprise, SurpriseKind, surprises
from rebalsim.domain.instants import SECOND
from rebalsim.reports.settings_behind import of_brokers
from rebalsim.trace.trace import ConsumerFacts, Trace
from rebalsim.words.lists import listed


def tell_surprises(trace: Trace) -> tuple[str, ...]:
    """A sentence for each kind that there is."""
    facts = trace.header.consumers
    return tuple(
        _TELLERS[surprise.kind](surprise, facts.get(surprise.consumer))
        for surprise in surprises(trace)
    )


def _late_detection(s: Surprise, settings: ConsumerFacts | None) -> str:
    since = "the new coordinator had loaded the group" if s.after_failover else "its last heartbeat"
    return (
        f"{s.consumer} was missed at {_at(s.at_us)}, {_span(s.length_us)} after {since}: the "
        f"brokers' {of_brokers(settings, 'session.timeout.ms')} decides that, a client cannot ask "
        "for less, "
        "and 45 s is the least unless the brokers' minimum is lowered."
    )


def _late_pickup(s: Surprise, settings: ConsumerFacts | None) -> str:
    return (
        f"{s.consumer} had to wait at {_at(s.at_us)} for partitions that {_holders(s)} still held. "
        "Nobody tells it when they are free: it gets them with its own next heartbeat, up to "
        f"{_span(s.length_us)} later ({of_brokers(settings, 'heartbeat.interval.ms')})."
    )


def _waited_interval(s: Surprise, settings: ConsumerFacts | None) -> str:
    return (
        f"A new target was due at {_at(s.at_us)} and could not be worked out before "
        f"{_at(s.until_us)}: the brokers wait group.consumer.assignment.interval.ms between two "
        "(since Kafka 4.3), and then for anybody's heartbeat."
    )


def _unreleased_id(s: Surprise, settings: ConsumerFacts | None) -> str:
    came, whose = ("came back", "that was killed") if s.came_back else ("came", "that has it")
    return (
        f"{s.consumer} {came} at {_at(s.at_us)} and was refused: the consumer protocol keeps "
        f"a static id until the session of the one {whose} is "
        "over, where the classic protocol would have put the newcomer in its place."
    )


_TELLERS: dict[SurpriseKind, Callable[[Surprise, ConsumerFacts | None], str]] = {
    SurpriseKind.LATE_DETECTION: _late_detection,
    SurpriseKind.LATE_PICKUP: _late_pickup,
    SurpriseKind.WAITED_INTERVAL: _waited_interval,
    SurpriseKind.UNRELEASED_ID: _unreleased_id,
}


def _holders(s: Surprise) -> str:
    """Who is to let go. A process that was started again may wait for the member that it was
    before.
    """
    others = [name for name in s.others if name != s.consumer]
    if len(others) < len(s.others):
        others.append("the member that it was before")
    return listed(list(dict.fromkeys(others)))


def _at(us: int) -> str:
    minutes, rest = divmod(us, 60 * SECOND)
    return f"{minutes}:{rest / SECOND:06.3f}" if minutes else f"{rest / SECOND:.3f} s"


def _span(us: int) -> str:
    return f"{us / SECOND:g} s"
