"""The values that people set a setting to: what a search for a better one turns through."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.advice.case import Case, us_of
from rebalsim.domain.consumer import Consumer
from rebalsim.domain.remedy import Patch

LADDERS: dict[str, tuple[str, ...]] = {
    "session.timeout.ms": ("6s", "10s", "15s", "20s", "30s", "45s", "60s", "90s"),
    "heartbeat.interval.ms": ("500ms", "1s", "2s", "3s", "5s"),
    "max.poll.interval.ms": ("10s", "20s", "30s", "1m", "2m", "5m", "10m"),
    "max.poll.records": ("10", "50", "100", "250", "500", "1000"),
    "auto.commit.interval.ms": ("1s", "5s", "10s"),
    "fetch.max.wait.ms": ("100ms", "500ms"),
}
USUAL = ("session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms", "max.poll.records")
# Of Kafka Connect's workers: the delay first, which is what a restart's pause hangs on.
OF_WORKERS: dict[str, tuple[str, ...]] = {
    "scheduled.rebalance.max.delay.ms": ("0s", "10s", "30s", "1m", "90s", "2m", "3m", "5m"),
    "session.timeout.ms": ("6s", "10s", "20s", "30s"),
    "heartbeat.interval.ms": ("1s", "2s", "3s"),
}
# Under the consumer protocol the brokers decide; what goes below their minimum lowers that, too.
OF_BROKERS: dict[str, tuple[str, ...]] = {
    "group.consumer.heartbeat.interval.ms": ("1s", "2s", "3s", "5s", "10s"),
    "group.consumer.session.timeout.ms": ("10s", "20s", "30s", "45s", "1m"),
    "group.consumer.assignment.interval.ms": ("0s", "500ms", "1s", "2s"),
}


def keys_for(consumer: Consumer) -> tuple[str, ...]:
    """The settings that are turned where nobody says which."""
    if consumer.worker is not None:
        return tuple(OF_WORKERS)
    if consumer.config.uses_consumer_protocol:
        return (*OF_BROKERS, "max.poll.interval.ms", "max.poll.records")
    return USUAL


def steps(case: Case, consumer: Consumer, key: str) -> list[Patch]:
    """The patches to each other value of this setting, from small to large."""
    ladder = OF_BROKERS.get(key) or LADDERS.get(key, ())
    if consumer.worker is not None:
        ladder = OF_WORKERS.get(key, ladder)
    return list(_patches(case, consumer, key, ladder))


def _patches(case: Case, consumer: Consumer, key: str, ladder: tuple[str, ...]) -> Iterator[Patch]:
    beats = 3 * consumer.config.heartbeat_interval_us
    for value in ladder:
        if key == "session.timeout.ms" and us_of(value) < beats:
            continue  # a session shorter than three heartbeats ends by a hiccup
        if key == "heartbeat.interval.ms" and 3 * us_of(value) > consumer.config.session_timeout_us:
            continue
        patch = (
            case.brokers(key, value) if key in OF_BROKERS else case.setting(consumer, key, value)
        )
        if patch is not None:
            yield patch
