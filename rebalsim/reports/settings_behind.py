"""What a wait hangs on: the settings in force here, a sentence each.

Facts only. What to do about it is advice, and nothing is advised that was not played: that is the
room `advice`.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.analysis import Analysis
from rebalsim.analysis.values import Pause, Phase
from rebalsim.domain.doing import Doing
from rebalsim.domain.timer import Timer
from rebalsim.reports.names import safe
from rebalsim.trace.trace import ConsumerFacts
from rebalsim.words.times import say_duration


@dataclass(frozen=True, slots=True)
class Asked:
    """The phase that the question is about, and the settings of whom it was waiting for."""

    phase: Phase
    pause: Pause
    analysis: Analysis
    settings: ConsumerFacts | None

    @property
    def doing(self) -> Doing:
        return self.phase.facts.doing

    @property
    def timer(self) -> Timer:
        return self.phase.facts.timer

    @property
    def trigger(self) -> str:
        return self.phase.facts.trigger

    @property
    def consumer(self) -> str:
        return self.phase.facts.consumer


def value_here(settings: ConsumerFacts | None, name: str) -> str:
    """` (45.0 s here)`, or nothing where it is not known."""
    value: int = getattr(settings, name) if settings is not None else -1
    return f" ({say_duration(value)} here)" if value >= 0 else ""


def of_brokers(settings: ConsumerFacts | None, what: str) -> str:
    """The brokers' setting where the brokers assign: a group of consumers has one of its own, and a
    Kafka Streams application's another.
    """
    is_streams = settings is not None and settings.is_of_streams
    return f"group.{'streams' if is_streams else 'consumer'}.{what}"


def session(settings: ConsumerFacts | None) -> str:
    if settings is not None and settings.uses_consumer_protocol:
        return (
            "Only the session's end tells of a dead member: "
            f"{of_brokers(settings, 'session.timeout.ms')} "
            f"on the brokers{value_here(settings, 'session_timeout_us')}."
        )
    return (
        "Only the session's end tells of a dead member: "
        f"session.timeout.ms{value_here(settings, 'session_timeout_us')}, as short as your longest "
        "freezes allow."
    )


def heartbeat(settings: ConsumerFacts | None) -> str:
    return (
        f"heartbeat.interval.ms{value_here(settings, 'heartbeat_interval_us')} is how long members "
        "may take to hear of a rebalance."
    )


def outlasted(settings: ConsumerFacts | None) -> str:
    return (
        "A member leaves when its polls are further apart than "
        f"max.poll.interval.ms{value_here(settings, 'max_poll_interval_us')}; max.poll.records is "
        "how much it handles between two."
    )


def no_end_but_the_poll_limit(asked: Asked) -> str:
    """On a handler that is stuck."""
    settings, who = asked.settings, safe(asked.consumer) or "the member"
    if settings is not None and not settings.habits.has_poll_limit:
        return (
            f"{settings.client.split()[0]} has no max.poll.interval.ms: nothing ends a stuck "
            "handler's hold but its own end."
        )
    said = (
        f"Nothing but max.poll.interval.ms{value_here(settings, 'max_poll_interval_us')} ends a "
        "stuck handler's hold."
    )
    if settings is not None and settings.instance_id is not None:
        said += (
            f" {who} is static: even past it nobody is given its partitions before its session "
            "runs out."
        )
    return said


def patience(settings: ConsumerFacts | None) -> str:
    """On the brokers' own with a member that does not join."""
    said = "The brokers wait for who does not join as long as its own rebalance timeout says"
    if settings is None or settings.habits.rebalance_timeout != "max-poll":
        return (
            f"{said}; a shorter one, or shorter batches, bound how long one member keeps the "
            "others waiting."
        )
    return (
        f"{said}, which is max.poll.interval.ms{value_here(settings, 'max_poll_interval_us')}; a "
        "shorter one, or shorter batches (max.poll.records), bound how "
        "long one member keeps the others waiting."
    )


def batches(settings: ConsumerFacts | None) -> str:
    """On a handler that works, or is stuck, while others wait."""
    if settings is not None and not settings.habits.has_poll_limit:
        return (
            "Shorter batches bound how long one member keeps the others waiting: "
            f"{settings.client.split()[0]} has no max.poll.interval.ms."
        )
    limit = value_here(settings, "max_poll_interval_us")
    return (
        f"Shorter batches (max.poll.records) or a shorter max.poll.interval.ms{limit} bound "
        "how long one member keeps the others waiting."
    )


def leave_in_the_log(settings: ConsumerFacts | None) -> str:
    return (
        "A leave is in the group's log only with the next generation: brokers that restart "
        "while nobody else does spare it, or "
        f"a shorter session.timeout.ms{value_here(settings, 'session_timeout_us')}."
    )


def initial_delay(settings: ConsumerFacts | None) -> str:
    return (
        "group.initial.rebalance.delay.ms on the brokers collects the members of a cold "
        "start; it costs that long, once."
    )


def listener(settings: ConsumerFacts | None) -> str:
    return "A quicker rebalance listener would let the others go on sooner."
