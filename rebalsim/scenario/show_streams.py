"""A Kafka Streams application in rows, as show prints it: its sub-topologies with their tasks and
stores, its settings, and what an instance has beside them.
"""

from __future__ import annotations

from dataclasses import replace

from rebalsim.domain.consumer import Consumer
from rebalsim.domain.draws import NOTHING
from rebalsim.domain.streams import (
    StreamsApp,
    StreamsConfig,
    StreamsPart,
    StreamsPunctuator,
    StreamsStore,
)
from rebalsim.scenario.config_language import CLASSIC_ONLY, CONFIG
from rebalsim.scenario.draw_kinds import say_draw
from rebalsim.scenario.kinds import Written
from rebalsim.scenario.process_language import LIFE
from rebalsim.scenario.quantities import say_bytes, say_us
from rebalsim.scenario.show_rows import Row, origin_of, rows_of
from rebalsim.scenario.streams_language import OF_ALL, STREAMS, STREAMS_CONFIG

USUAL = "Kafka Streams"
OF_INSTANCES = (
    "group.instance.id",
    "session.timeout.ms",
    "heartbeat.interval.ms",
    "max.poll.interval.ms",
    "metadata.max.age.ms",
    "client.rack",
)  # of the consumers' settings those that have a bearing on tasks


def application_rows(app: StreamsApp, written: Written | None, topics: dict[str, int]) -> list[Row]:
    """What all instances share."""
    config = replace(app.config, commit_interval_us=app.config.commits_every_us)
    settings: Written | None = written.get("config") if written is not None else None
    parts = [
        Row(f"sub-topology {number}", _said(part, app, topics), origin_of(written, "topology", ""))
        for number, part in enumerate(app.parts)
    ]
    said = rows_of(STREAMS_CONFIG, config, settings, USUAL, leave_out=_unheeded(config))
    return [
        *parts,
        *rows_of(STREAMS, app, written, "default"),
        *(
            Row(row.name, row.value, "the brokers'")
            if row.name.startswith("streams.") and row.origin == USUAL
            else row
            for row in said
        ),
    ]


def instance_rows(consumer: Consumer, app: StreamsApp, written: Written, default: str) -> list[Row]:
    """An instance's own: of a consumer's settings those that have a bearing on its tasks."""
    heeded = [key for key in OF_INSTANCES if key not in _brokers_own(app)]
    left_out = tuple(key for key in CONFIG.fields if key not in heeded)
    client = "Kafka Streams 2.3" if app.is_old else "Kafka Streams 4.3"
    return [
        Row("client", client, origin_of(written, "client", "default")),
        *rows_of(CONFIG, consumer.config, written.get("config"), default, leave_out=left_out),
        *(
            Row(f"client.tag.{key}", tag, origin_of(written, "client.tag", "default"))
            for key, tag in consumer.tags
        ),
        *rows_of(LIFE, consumer.life, written.get("life"), "default", prefix="life."),
    ]


def _brokers_own(app: StreamsApp) -> tuple[str, ...]:
    """What the group has under the streams protocol, and no client."""
    return (*CLASSIC_ONLY, "group.instance.id") if app.config.uses_streams_protocol else ()


def _unheeded(config: StreamsConfig) -> tuple[str, ...]:
    """Settings of the other protocol, or of another guarantee."""
    keys = STREAMS_CONFIG.fields
    of_classic = (*OF_ALL, "upgrade.from", *(key for key in keys if key.startswith("rack.aware.")))
    of_streams = tuple(key for key in keys if key.startswith("streams."))
    unheeded = of_classic if config.uses_streams_protocol else of_streams
    return unheeded if config.is_exactly_once else (*unheeded, "transaction.timeout.ms")


def _said(part: StreamsPart, app: StreamsApp, topics: dict[str, int]) -> str:
    """What it reads and joins, how many tasks that makes, and what it stores and writes."""
    counts = {**topics, **dict(app.repartition_topics)}
    tasks = max((counts.get(name, 0) for name in part.sources), default=0)
    reads = "joins" if part.joins else "reads"
    told = [
        f"{reads} {', '.join(part.sources)}: {tasks} task{'s' if tasks != 1 else ''}",
        *(_store(store) for store in part.stores),
    ]
    if not part.stores:
        told.append("no state")
    if part.writes_to:
        told.append(f"writes to {', '.join(part.writes_to)}")
    cost = app.per_record if part.per_record is None else part.per_record
    if cost != NOTHING:
        told.append(f"{say_draw(cost)} a record")
    told += [_punctuator(each) for each in part.punctuators]
    return " · ".join(told)


def _punctuator(each: StreamsPunctuator) -> str:
    said = f"punctuated every {say_us(each.every_us)}"
    time = " of stream time" if each.by == "stream-time" else ""
    return f"{said}{time} for {say_draw(each.takes)} a task"


def _store(store: StreamsStore) -> str:
    where = " in memory" if store.in_memory else ""
    size = say_bytes(store.records * store.record_bytes)
    return f"{store.name} {size}{where} ({store.records:,} changelog records)"
