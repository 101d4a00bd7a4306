"""The values that people set a setting to: what a search for a better one turns through."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.advice.case import Case, field_of, us_of
from rebalsim.domain.consumer import Consumer
from rebalsim.domain.remedy import Patch
from rebalsim.domain.streams import StreamsApp
from rebalsim.scenario.quantities import say_us

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
# Of Kafka Streams: what the clients say, and under the streams protocol the group.
OF_STREAMS: dict[str, tuple[str, ...]] = {
    "num.standby.replicas": ("0", "1", "2"),
    "acceptable.recovery.lag": ("100", "1000", "10000", "100000"),
    "max.warmup.replicas": ("1", "2", "4", "8"),
    "probing.rebalance.interval.ms": ("1m", "2m", "5m", "10m"),
    "num.stream.threads": ("1", "2", "4"),
    "streams.num.standby.replicas": ("0", "1", "2"),
    "streams.session.timeout.ms": ("45s", "1m"),
    "streams.heartbeat.interval.ms": ("5s", "10s", "15s"),
}
NOT_FIRST = ("num.stream.threads",)  # of these only those that are asked for: threads cost cores


def keys_for(consumer: Consumer, app: StreamsApp | None = None) -> tuple[str, ...]:
    """The settings that are turned where nobody says which."""
    if app is not None:
        return _keys_of_streams(app)
    if consumer.worker is not None:
        return tuple(OF_WORKERS)
    if consumer.config.uses_consumer_protocol:
        return (*OF_BROKERS, "max.poll.interval.ms", "max.poll.records")
    return USUAL


def _keys_of_streams(app: StreamsApp) -> tuple[str, ...]:
    of_group = [key for key in OF_STREAMS if key.startswith("streams.")]
    if app.config.uses_streams_protocol:
        return (*of_group, "max.poll.interval.ms")
    of_clients = [key for key in OF_STREAMS if key not in of_group and key not in NOT_FIRST]
    return (*of_clients, "session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms")


def application_of(case: Case, consumer: Consumer) -> StreamsApp | None:
    """The Kafka Streams application whose instance this is."""
    return next((g.streams for g in case.scenario.groups if g.name == consumer.group), None)


def _of_streams(case: Case, consumer: Consumer, app: StreamsApp, key: str) -> Iterator[Patch]:
    now = getattr(app.config, field_of(key))
    before = say_us(now) if key.endswith(".ms") else str(now)
    for value in OF_STREAMS[key]:
        if us_of(value) != now if key.endswith(".ms") else value != before:
            yield case.group_key(consumer, f"streams.config.{key}", before, value, key)


def steps(case: Case, consumer: Consumer, key: str) -> list[Patch]:
    """The patches to each other value of this setting, from small to large."""
    app = application_of(case, consumer)
    if key in OF_STREAMS:
        return [] if app is None else list(_of_streams(case, consumer, app, key))
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
