"""Settings in the files that will hurt, as they stand: one function a rule, each with its why."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rebalsim.worlds import hurts_of_pods
from rebalsim.worlds.understood import Consumer, Understood
from rebalsim.worlds.values import Hurt, Value
from rebalsim.worlds.words import whole

Rule = Callable[[Consumer, Understood], Iterator[Hurt]]


def hurts_of(made: Understood) -> list[Hurt]:
    """Everything that will hurt, the gravest rules first."""
    found = [h for c in made.consumers for h in c.reading.hurts]
    for rule in RULES:
        for consumer in made.consumers:
            found += rule(consumer, made)
    for scaling in made.scalings:
        found += scaling.hurts
    found += _scaled_beside(made)
    seen: dict[tuple[str, str], Hurt] = {}
    for hurt in found:
        seen.setdefault((hurt.what, hurt.why), hurt)
    return list(seen.values())


def _ms(consumer: Consumer, name: str) -> tuple[int | None, str]:
    value = consumer.settings.get(name)
    return (whole(value.value), value.source) if value and value.known else (None, "")


def _stated(value: Value | None) -> bool:
    return value is not None and value.known and value.sure in ("stated", "inferred")


def _seconds(ms: int) -> str:
    if ms % 60_000 == 0 and ms >= 60_000:
        return f"{ms // 60_000} min"
    return f"{ms // 1000} s" if ms % 1000 == 0 else f"{ms} ms"


def _slow_handler(consumer: Consumer, made: Understood) -> Iterator[Hurt]:
    handler = consumer.reading.handler_ms
    if handler is None or not handler.known or not handler.value:
        return
    records = _ms(consumer, "max.poll.records")[0] or 500
    most = _ms(consumer, "max.poll.interval.ms")[0] or 300_000
    if handler.value * records > most:
        yield Hurt(
            f"a handler of {_seconds(handler.value)} a record",
            f"{records} records a poll take {_seconds(handler.value * records)}, and "
            f"max.poll.interval.ms is {_seconds(most)}: a full batch throws the member out, and every "
            "rebalance waits for the batch in hand",
            handler.source,
        )


def _instance_id(consumer: Consumer, made: Understood) -> Iterator[Hurt]:
    instance = consumer.instance
    if not instance.known or instance.value is None:
        return
    if "{" not in str(instance.value):
        yield Hurt(
            f"group.instance.id {instance.value}: a constant, the same static instance in every pod",
            "with two members each fences the other, in turn, for ever",
            instance.source,
        )
    elif str(consumer.workload or "").startswith("Deployment/") and "{pod}" in str(instance.value):
        yield Hurt(
            "group.instance.id from a Deployment's pod name",
            "static in name only: every new pod has a new name, and the old one's session must run "
            "out before its partitions move",
            instance.source,
        )


def _group_is_pod(consumer: Consumer, made: Understood) -> Iterator[Hurt]:
    if consumer.group.known and "{pod}" in str(consumer.group.value):
        yield Hurt(
            "group id = pod name",
            "each pod is a group of its own and reads everything: no rebalances, and more pods do not "
            "share the work",
            consumer.group.source,
        )


def _partitions(consumer: Consumer, made: Understood) -> Iterator[Hurt]:
    """More members than partitions, also where an autoscaler may make them."""
    if not consumer.topics.known:
        return
    told = [made.topics.get(t, {}).get("partitions") for t in consumer.topics.value]
    counts = [v.value for v in told if v is not None and v.known]
    if not counts or len(counts) < len(told):
        return
    most = _most_members(consumer, made)
    partitions = max(counts)
    if most is not None and most > partitions:
        yield Hurt(
            f"{partitions} partition{'s' if partitions > 1 else ''}, up to {most} members (replicas)",
            "the members beyond that are idle, and each of their comings and goings still rebalances "
            "the ones that work",
            consumer.where,
        )


def _most_members(consumer: Consumer, made: Understood) -> int | None:
    each = consumer.members.value if consumer.members.known else 1
    count = consumer.replicas.value if consumer.replicas and consumer.replicas.known else None
    for scaling in made.scalings:
        if scaling.target and scaling.max.known and scaling.target in str(consumer.workload):
            allowed = scaling.triggers and any(
                t.allow_idle.value is not True for t in scaling.triggers
            )
            count = count if allowed else max(count or 0, scaling.max.value)
    return count * each if count is not None else None


def _heartbeat(consumer: Consumer, made: Understood) -> Iterator[Hurt]:
    beat, where = _ms(consumer, "heartbeat.interval.ms")
    if beat is not None and beat >= 8000:
        yield Hurt(
            f"heartbeat.interval.ms={beat}",
            f"members hear of every rebalance up to {_seconds(beat)} late, and a partition that moves "
            "under cooperative waits as long",
            where,
        )


def _session(consumer: Consumer, made: Understood) -> Iterator[Hurt]:
    session, where = _ms(consumer, "session.timeout.ms")
    if session is None or not _stated(consumer.settings["session.timeout.ms"]):
        return
    is_static = consumer.instance.known and consumer.instance.value is not None
    if session <= 10_000:
        yield Hurt(
            f"session.timeout.ms={session}",
            f"a default of before 3.0: a pause of {_seconds(session)} of the process puts its member "
            "out" + (", and a static member must be back within it" if is_static else ""),
            where,
        )
    elif session >= 120_000:
        yield Hurt(
            f"session.timeout.ms={session}{' for static members' if is_static else ''}",
            f"a member that dies{' for good' if is_static else ''} keeps its partitions for "
            f"{_seconds(session)}",
            where,
        )


def _poll_interval(consumer: Consumer, made: Understood) -> Iterator[Hurt]:
    most, where = _ms(consumer, "max.poll.interval.ms")
    if most is not None and most > 600_000:
        yield Hurt(
            f"max.poll.interval.ms={most}",
            f"a stuck member holds its partitions, and every rebalance, for {_seconds(most)}",
            where,
        )


def _assignors(consumer: Consumer, made: Understood) -> Iterator[Hurt]:
    value = consumer.settings.get("partition.assignment.strategy")
    if not _stated(value) or value is None:
        return
    names = value.value if isinstance(value.value, list) else [value.value]
    eager = [n for n in names if n in ("range", "roundrobin", "sticky")]
    if eager and names[0] in eager:
        yield Hurt(
            f"partition.assignment.strategy={', '.join(map(str, names))}",
            f"{names[0]} is eager: every partition stops at every rebalance",
            value.source,
        )


def _short_requests(consumer: Consumer, made: Understood) -> Iterator[Hurt]:
    for name in ("request.timeout.ms", "default.api.timeout.ms"):
        ms, where = _ms(consumer, name)
        if ms is not None and ms < 5000:
            yield Hurt(
                f"{name}={ms}",
                "commits and look-ups fail while a coordinator is slow or moves, after "
                f"{_seconds(ms)}",
                where,
            )


def _big_fetches(consumer: Consumer, made: Understood) -> Iterator[Hurt]:
    least, where = _ms(consumer, "fetch.min.bytes")
    wait = _ms(consumer, "fetch.max.wait.ms")[0] or 500
    if least is not None and least > 1_000_000 and wait >= 1000:
        yield Hurt(
            f"fetch.min.bytes={least} with fetch.max.wait.ms={wait}",
            f"where little arrives every fetch waits {_seconds(wait)}: so do the first records after "
            "each assignment",
            where,
        )


def _unknown_settings(consumer: Consumer, made: Understood) -> Iterator[Hurt]:
    for name in consumer.reading.unknown_keys:
        meant = _meant(name)
        if meant and name in consumer.settings:
            yield Hurt(
                f"{name}",
                f"no setting of this client: {meant} is meant, and its default stays in force",
                consumer.settings[name].source,
            )


def _meant(name: str) -> str | None:
    from rebalsim.worlds.kafka_names import NAMES

    pieces = name.split(".")
    for start in range(1, len(pieces)):
        if ".".join(pieces[start:]) in NAMES:
            return ".".join(pieces[start:])
    return None


def _streams_leave(consumer: Consumer, made: Understood) -> Iterator[Hurt]:
    if consumer.client.value == "streams" and not (
        consumer.instance.known and consumer.instance.value
    ):
        yield Hurt(
            "Kafka Streams leaves silently",
            "it sends no LeaveGroup on close under the classic protocol: each stopped pod is noticed "
            "only when its session has run out",
            consumer.where,
        )


def _protocol(consumer: Consumer, made: Understood) -> Iterator[Hurt]:
    protocol = consumer.settings.get("group.protocol")
    if not protocol or str(protocol.value).lower() != "consumer":
        return
    for name in ("session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy"):
        if name in consumer.settings and _stated(consumer.settings[name]):
            yield Hurt(
                f"{name} beside group.protocol=consumer",
                "the Java client refuses it at start: the brokers' group.consumer.* rule there",
                consumer.settings[name].source,
            )


def _librdkafka_keys(consumer: Consumer, made: Understood) -> Iterator[Hurt]:
    if consumer.client.value == "librdkafka" and "max.poll.records" in consumer.settings:
        yield Hurt(
            "max.poll.records",
            "not a setting of librdkafka's ordinary consumer: it refuses to start, or takes no notice",
            consumer.settings["max.poll.records"].source,
        )


def _zookeeper(consumer: Consumer, made: Understood) -> Iterator[Hurt]:
    from rebalsim.worlds.asks import is_refused

    if is_refused(consumer):
        yield Hurt(
            "zookeeper.connect without bootstrap.servers",
            "the consumer of before 0.9: no broker of today serves it",
            consumer.settings["zookeeper.connect"].source,
        )


def _scaled_beside(made: Understood) -> Iterator[Hurt]:
    """A scaler that looks at another group or topic than the client it scales."""
    for scaling in made.scalings:
        for consumer in made.consumers:
            if not (scaling.target and scaling.target in str(consumer.workload or "")):
                continue
            for trigger in scaling.triggers:
                if trigger.group and consumer.group.known and trigger.group != consumer.group.value:
                    yield Hurt(
                        f"the scaler looks at group {trigger.group}, the client is in "
                        f"{consumer.group.value}",
                        "its lag is another group's",
                        scaling.where,
                    )
                topics = consumer.topics.value if consumer.topics.known else None
                if trigger.topic and topics and trigger.topic not in topics:
                    yield Hurt(
                        f"the scaler looks at topic {trigger.topic}, the client reads "
                        f"{', '.join(topics)}",
                        "its lag is another topic's",
                        scaling.where,
                    )


RULES: tuple[Rule, ...] = (
    _zookeeper,
    hurts_of_pods.shell,
    hurts_of_pods.no_grace,
    hurts_of_pods.short_grace,
    _slow_handler,
    _instance_id,
    _group_is_pod,
    _partitions,
    _protocol,
    _unknown_settings,
    _heartbeat,
    _session,
    _poll_interval,
    _assignors,
    _short_requests,
    _big_fetches,
    _librdkafka_keys,
    hurts_of_pods.stateful_one,
    hurts_of_pods.recreate,
    hurts_of_pods.probe,
    hurts_of_pods.http_probe,
    hurts_of_pods.one_by_one,
    _streams_leave,
)
