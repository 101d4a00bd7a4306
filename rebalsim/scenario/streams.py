"""A Kafka Streams application as written → as meant: sub-topologies, stores, repartition topics, and
what cannot be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from rebalsim.domain.client import BrokerConfig
from rebalsim.domain.consumer import AssignorCost, Consumer, Handler, Listener, State
from rebalsim.domain.instants import MINUTE
from rebalsim.domain.scenario import Cluster, Topic
from rebalsim.domain.streams import (
    StreamsApp,
    StreamsConfig,
    StreamsPart,
    StreamsPunctuator,
    StreamsStore,
)
from rebalsim.scenario.kinds import Written, build, merge
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.quantities import say_us
from rebalsim.scenario.source import shorten
from rebalsim.scenario.streams_language import BEFORE_COOPERATIVE, OF_ALL, STREAMS_CONFIG
from rebalsim.scenario.variants import Variant
from rebalsim.words.nearest import or_nearest

MAX_TASKS = 50_000
MOST_TRANSACTION_US = 15 * MINUTE  # the brokers' transaction.max.timeout.ms


class Asked(Protocol):
    """Whoever resolves the story, as far as an application needs it."""

    out: Problems
    story: Written
    variant: Variant
    topics: dict[str, Topic]
    cluster: Cluster
    notes: dict[str, None]


def app_of(asked: Asked, group: Written, instances: Sequence[Consumer]) -> StreamsApp | None:
    """The application that this group is, if it is one."""
    layer = asked.variant.layer
    written = written_app(asked, group)
    if written is None:
        if layer is not None and "streams" in layer:
            asked.out.add(
                layer.at["streams"],
                "streams: stands in a variant, but no group is a Streams application — write "
                "streams: below the group, too",
            )
        return None
    settings = written.get("config")
    config = _with_brokers_own(build(StreamsConfig, settings), settings, asked.cluster.config)
    parts = tuple(_parts(asked, written))
    made = _repartition_topics(asked, parts)
    _check(asked, group, written, parts, config, made)
    _check_tags(asked, written, config, instances)
    return build(
        StreamsApp,
        written,
        parts=parts,
        config=config,
        repartition_topics=tuple(made.items()),
        per_record=build(Handler, _of_group(asked, group, "handler")).per_record,
    )


def _of_group(asked: Asked, group: Written, key: str) -> Written | None:
    """What is written of the group there, the variant's word over its own."""
    written: Written | None = group.get(key)
    over = asked.variant.layer.get(key) if asked.variant.layer is not None else None
    return written if over is None else over if written is None else merge(written, over)


def written_app(asked: Asked, group: Written) -> Written | None:
    """What is written of the application, the variant's word over the group's."""
    written: Written | None = group.get("streams")
    over = asked.variant.layer.get("streams") if asked.variant.layer is not None else None
    return written if written is None or over is None else merge(written, over)


def deployed_config(
    asked: Asked, app: Written | None, deploys: Sequence[Written]
) -> StreamsConfig | None:
    """What instances come back with after these deploys, or None where none of them says."""
    said = [each for each in deploys if "streams" in each]
    if not said:
        return None
    if app is None:
        what = "streams: stands in a deploy, but this group is no Streams application"
        asked.out.add(said[-1].at["streams"], f"{what} — write streams: below the group, too")
        return None
    config: Written | None = app.get("config")
    _check_successors_of_old(asked, app, said)
    for each in said:
        layer: Written = each.get("streams")
        for key in layer.at:
            if key in OF_ALL or key.startswith(("rack.aware.", "streams.")):
                where = "under the group's streams: config:, or in a variant's"
                what = f"{key} is one for all instances while a story lasts — write it {where}"
                asked.out.add(layer.at[key], what)
        config = layer if config is None else merge(config, layer)
    return _with_brokers_own(build(StreamsConfig, config), config, asked.cluster.config)


def _with_brokers_own(
    config: StreamsConfig, written: Written | None, brokers: BrokerConfig
) -> StreamsConfig:
    """A streams group that does not say otherwise has what its brokers have: `streams.KEY` is the
    brokers' `group.streams.KEY`.
    """
    targets = [
        field.target
        for key, field in STREAMS_CONFIG.fields.items()
        if key.startswith("streams.") and (written is None or key not in written)
    ]
    return replace(config, **{each: getattr(brokers, f"group_{each}") for each in targets})


def _check_successors_of_old(asked: Asked, app: Written, said: Sequence[Written]) -> None:
    """Clients of 2.3 are followed by later ones that behave as they do, or by none."""
    first: Written = said[0].get("streams")
    if app.get("clients") == "eager" and first.get("upgrade.from") not in BEFORE_COOPERATIVE:
        asked.out.add(
            said[0].at["streams"],
            "Clients of 2.3 and later ones have no protocol in common until these are told so — "
            'write upgrade.from: "2.3" in the first deploy, and null in the second',
        )


def _parts(asked: Asked, written: Written) -> list[StreamsPart]:
    listed = written.get("topology")
    if listed is None:
        return [StreamsPart((name,)) for name in asked.topics]
    parts = []
    number = 0
    for block in listed:
        if not isinstance(block, Written) or "sources" not in block:
            continue
        stores = []
        for store in (block.get("store"), *block.get("stores", ())):
            if isinstance(store, Written):
                stores.append(_store(asked, store, number))
                number += 1
        parts.append(
            StreamsPart(
                tuple(block.get("sources")),
                tuple(stores),
                tuple(block.get("writes_to", ())),
                bool(block.get("joins", False)),
                block.get("per_record"),
                tuple(
                    build(StreamsPunctuator, each)
                    for each in block.get("punctuators", ())
                    if isinstance(each, Written) and "every" in each
                ),
            )
        )
    return parts


def _store(asked: Asked, written: Written, number: int) -> StreamsStore:
    record_bytes = int(written.get("record_bytes", 100))
    if "size" in written and "records" in written:
        asked.out.add(
            written.at["records"],
            "Both size and records are here, and one follows from the other — leave one out",
        )
    records = written.get("records")
    if records is None:
        records = int(written.get("size", 0)) // record_bytes
    return StreamsStore(
        written.get("name", f"store-{number}"),
        int(records),
        record_bytes,
        float(written.get("writes", 1.0)),
        bool(written.get("in_memory", False)),
    )


def _repartition_topics(asked: Asked, parts: tuple[StreamsPart, ...]) -> dict[str, int]:
    """Their partitions: the most among the sources of whoever writes to them; but one that is joined
    has as many as what it is joined with (CopartitionedTopicsEnforcer).
    """
    counts = {name: topic.partitions for name, topic in asked.topics.items()}
    wanted = [name for part in parts for name in part.writes_to if name not in counts]
    made: dict[str, int] = {}
    for _ in range(len(wanted) + 1):
        known = {**counts, **made}
        for name in wanted:
            of = [
                known[source]
                for part in parts
                if name in part.writes_to
                for source in part.sources
                if source in known
            ]
            if of:
                made[name] = max(of)
    for part in parts:
        mine = [name for name in part.sources if name in made] if part.joins else []
        fixed = [counts[name] for name in part.sources if name in counts]
        made.update(dict.fromkeys(mine, max(fixed or [made[name] for name in mine], default=0)))
    return made


def _check_sources(
    asked: Asked, part: StreamsPart, block: Written, counts: Mapping[str, int]
) -> None:
    for name in (name for name in part.sources if name not in counts):
        asked.out.add(
            block.at["sources"],
            f"There is no topic '{shorten(name)}', and nobody writes to it — "
            f"{or_nearest(name, list(counts))}",
        )
    sizes = {name: counts[name] for name in part.sources if name in counts}
    if part.joins and len(set(sizes.values())) > 1:
        told = ", ".join(f"{name}: {count}" for name, count in sorted(sizes.items()))
        asked.out.add(
            block.at["sources"],
            f"Topics not co-partitioned: [{told}] — joined topics need as many partitions; "
            "Kafka Streams does not start",
        )


def _check_sharing(asked: Asked, parts: Sequence[StreamsPart], blocks: Sequence[Written]) -> None:
    """What reads the same topic is connected by it: one sub-topology, and no two."""
    read: set[str] = set()
    for part, block in zip(parts, blocks):
        again = next((name for name in part.sources if name in read), None)
        if again is not None:
            asked.out.add(
                block.at["sources"],
                f"Topic {shorten(again)} has already been registered by another source — "
                "sub-topologies that read the same topic are one: list their stores under stores:",
            )
        read.update(part.sources)


def _check_circles(asked: Asked, parts: Sequence[StreamsPart], blocks: Sequence[Written]) -> None:
    """Each record that is read is written on once: in a circle it would be for ever."""
    for part, block in zip(parts, blocks):
        behind = dict.fromkeys(part.writes_to)
        for _ in parts:
            further = [p.writes_to for p in parts if not behind.keys().isdisjoint(p.sources)]
            behind.update(dict.fromkeys(name for names in further for name in names))
        back = next((name for name in behind if name in part.sources), None)
        if back is not None:
            asked.out.add(
                block.at["writes_to"],
                f"What is read from {shorten(back)} comes back to it, and every record would be "
                "written again for ever — take it out of sources or out of writes_to",
            )
            return


def _check(
    asked: Asked,
    group: Written,
    written: Written,
    parts: tuple[StreamsPart, ...],
    config: StreamsConfig,
    made: Mapping[str, int],
) -> None:
    counts = {**{name: topic.partitions for name, topic in asked.topics.items()}, **made}
    blocks = [block for block in written.get("topology", ()) if isinstance(block, Written)]
    for part, block in zip(parts, blocks):
        _check_sources(asked, part, block, counts)
    _check_sharing(asked, parts, blocks)
    _check_circles(asked, parts, blocks)
    names = [store.name for part in parts for store in part.stores]
    twice = next((name for at, name in enumerate(names) if name in names[:at]), None)
    if twice is not None:
        asked.out.add(written.node, f"There are two stores named {twice} — give one another name")
    tasks = sum(max((counts.get(n, 0) for n in part.sources), default=0) for part in parts)
    if tasks > MAX_TASKS:
        asked.out.add(
            written.node, f"The application has {tasks:,} tasks — write at most {MAX_TASKS:,}"
        )
    _check_protocol(asked, group, written, config)


def _check_protocol(asked: Asked, group: Written, written: Written, config: StreamsConfig) -> None:
    """What Kafka refuses, or does not heed."""
    if written.get("clients") == "eager" and config.uses_streams_protocol:
        asked.out.add(
            written.at["clients"],
            "Clients of 2.3 do not speak the streams protocol — leave group.protocol out",
        )
    consumers = group.get("config")
    if consumers is not None and consumers.get("group.protocol") == "consumer":
        asked.out.add(
            consumers.at["group.protocol"],
            "Kafka Streams does not speak the consumer protocol — write group.protocol: streams "
            "under streams: config:, or leave it out",
        )
    if config.is_exactly_once:
        _check_transactions(asked, written, config)
    if config.is_exactly_once and written.get("clients") == "eager":
        asked.out.add(
            _place(written, "processing.guarantee"),
            "Clients of 2.3 do not know exactly_once_v2, and do not start — write at_least_once, or "
            "leave clients: eager out",
        )
    if config.uses_streams_protocol:
        _check_static(asked, consumers)
        _check_bounds(asked, written, config)
    settings: Any = written.get("config")
    if config.uses_streams_protocol and settings is not None:
        for key in (
            "num.standby.replicas",
            "acceptable.recovery.lag",
            "max.warmup.replicas",
            "probing.rebalance.interval.ms",
            "task.assignor.class",
        ):
            if key in settings:
                asked.notes[
                    f"{key} has no bearing under the streams protocol"
                    + (
                        ": the group's streams.num.standby.replicas has."
                        if key == "num.standby.replicas"
                        else "."
                    )
                ] = None


def _check_tags(
    asked: Asked, written: Written, config: StreamsConfig, instances: Sequence[Consumer]
) -> None:
    """Each instance has the tags in which standbys shall differ; its rack is one here."""
    for tag in config.rack_tags:
        who = next((i.name for i in instances if tag not in ("rack", *dict(i.tags))), None)
        if who is not None:
            asked.out.add(
                _place(written, "rack.aware.assignment.tags"),
                f"rack.aware.assignment.tags has {tag}, and {who} has no client.tag.{tag}: it does "
                f"not start — write client.tag: {{{tag}: …}} for each member, or [rack], which is "
                "where it runs",
            )
            return


def _check_transactions(asked: Asked, written: Written, config: StreamsConfig) -> None:
    """What neither Kafka Streams nor the brokers accept of transactions."""
    limit_us = config.transaction_timeout_us
    if config.commits_every_us > limit_us:
        asked.out.add(
            _place(written, "commit.interval.ms"),
            f"Transaction timeout {say_us(limit_us)} was set lower than streams commit interval "
            f"{say_us(config.commits_every_us)}: each transaction would time out, and Kafka Streams "
            "does not start — write a shorter commit.interval.ms, or a longer transaction.timeout.ms",
        )
    if limit_us > MOST_TRANSACTION_US:
        asked.out.add(
            _place(written, "transaction.timeout.ms"),
            f"transaction.timeout.ms {say_us(limit_us)} is refused: the brokers' "
            f"transaction.max.timeout.ms is {say_us(MOST_TRANSACTION_US)} — write at most that",
        )


def _check_bounds(asked: Asked, written: Written, config: StreamsConfig) -> None:
    """A group's own settings lie within the brokers' bounds, or the brokers refuse them. What it has
    from the brokers, they have checked.
    """
    brokers = asked.cluster.config
    own: Any = written.get("config") or {}
    for what, value, least, most in (
        (
            "session.timeout.ms",
            config.streams_session_timeout_us,
            brokers.group_streams_min_session_timeout_us,
            brokers.group_streams_max_session_timeout_us,
        ),
        (
            "heartbeat.interval.ms",
            config.streams_heartbeat_interval_us,
            brokers.group_streams_min_heartbeat_interval_us,
            brokers.group_streams_max_heartbeat_interval_us,
        ),
        (
            "assignment.interval.ms",
            config.streams_assignment_interval_us,
            brokers.group_streams_min_assignment_interval_us,
            brokers.group_streams_max_assignment_interval_us,
        ),
    ):
        if f"streams.{what}" in own and not least <= value <= most:
            bound, limit = ("min", least) if value < least else ("max", most)
            asked.out.add(
                _place(written, f"streams.{what}"),
                f"streams.{what} {say_us(value)} is refused: the brokers' group.streams.{bound}."
                f"{what} is {say_us(limit)} — stay within it, or write another one under cluster: "
                "config:",
            )
    most_standbys = brokers.group_streams_max_standby_replicas
    is_own = "streams.num.standby.replicas" in own
    if is_own and config.streams_num_standby_replicas > most_standbys:
        asked.out.add(
            _place(written, "streams.num.standby.replicas"),
            f"streams.num.standby.replicas {config.streams_num_standby_replicas} is refused: the "
            f"brokers' group.streams.max.standby.replicas is {most_standbys} — write at most that, "
            "or another one under cluster: config:",
        )
    if config.is_eager:
        asked.out.add(
            _place(written, "upgrade.from"),
            "Clients that can be told of 2.3 do not speak the streams protocol — leave upgrade.from "
            "or group.protocol out",
        )


def _place(written: Written, key: str) -> Any:
    """Where the key stands below config:, or the application where another layer has it."""
    settings: Written | None = written.get("config")
    at = settings.at.get(key) if settings is not None else None
    return written.node if at is None else at


def _check_static(asked: Asked, consumers: Written | None) -> None:
    layer = asked.variant.layer
    over: Written | None = layer.get("config") if layer is not None else None
    said = over if consumers is None else merge(consumers, over)
    if said is not None and said.get("group.instance.id") is not None:
        asked.out.add(
            said.at["group.instance.id"],
            "The streams protocol has no static members up to Kafka 4.3, and a client that is told "
            "so does not start — leave group.instance.id out, or write group.protocol: classic",
        )


def heading_of(app: StreamsApp) -> str:
    """Who deals the tasks."""
    if app.config.uses_streams_protocol:
        return "streams protocol"
    if app.is_old:
        return "Streams 2.3"
    sticky = "Sticky" in app.config.task_assignor_class
    dealt = "Streams, sticky" if sticky else "Streams, high availability"
    return f"{dealt}, eager" if app.config.is_eager else dealt


_NOT_OF_STREAMS = {
    "listener": "The rebalance listener of a Kafka Streams application is Kafka Streams' own — leave "
    "listener out",
    "state": "A Kafka Streams application keeps its state in stores — write store: below a "
    "sub-topology of streams: topology:",
    "assignor_cost": "Kafka Streams deals tasks by its own assignor — leave assignor_cost out",
}
_SET_BY_STREAMS = (
    "partition.assignment.strategy",
    "enable.auto.commit",
    "auto.commit.interval.ms",
)


def warn_of_consumers_own(asked: Asked, group: Written) -> None:
    """What is written for consumers, and has no bearing where they are Kafka Streams'."""
    for key, why in _NOT_OF_STREAMS.items():
        if key in group.at:
            asked.out.warn(group.at[key], why)
    handler: Written | None = group.get("handler")
    for key, at in handler.at.items() if handler is not None else ():
        if key != "per_record":
            asked.out.warn(
                at,
                f"handler: {key} has no bearing on a Kafka Streams application, whose threads poll "
                "and commit by Kafka Streams' own settings — leave it out",
            )
    settings: Written | None = group.get("config")
    for key in _SET_BY_STREAMS:
        if settings is not None and key in settings.at:
            asked.out.warn(
                settings.at[key],
                f"{key} of a consumer within Kafka Streams is ignored: it sets that itself — leave it "
                "out",
            )


def as_stream_thread(consumer: Consumer) -> Consumer:
    """What Kafka Streams sets for the consumers inside it, which have no handler and no listener of
    the application's.
    """
    config = replace(
        consumer.config,
        partition_assignment_strategy=("cooperative-sticky",),
        max_poll_records=1000,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    return replace(
        consumer,
        config=config,
        handler=Handler(),
        listener=Listener(),
        state=State(),
        assignor_cost=AssignorCost(),
    )
