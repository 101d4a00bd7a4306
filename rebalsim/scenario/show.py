"""A story as meant: every setting with its value and where that came from, and the script as a
timetable. Lines of text, no colour.

Made from the language's table, so a setting that exists is shown. One variant is told in full;
of the others, what they change.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from rebalsim.domain.consumer import Consumer
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.streams import StreamsApp
from rebalsim.scenario.action_words import say_names
from rebalsim.scenario.cluster_language import COSTS
from rebalsim.scenario.common_language import DRAW
from rebalsim.scenario.config_language import BROKER_CONFIG, CLASSIC_ONLY, CONFIG, CONSUMER_ONLY
from rebalsim.scenario.connect_language import WORKER_CONFIG
from rebalsim.scenario.kinds import Written
from rebalsim.scenario.process_language import (
    ASSIGNOR_COST,
    HANDLER,
    LIFE,
    LISTENER,
    STATE,
)
from rebalsim.scenario.profiles import say_client
from rebalsim.scenario.quantities import say_us
from rebalsim.scenario.resolve import Resolver
from rebalsim.scenario.resolve_members import Parts
from rebalsim.scenario.roster import Roster, Seat
from rebalsim.scenario.show_rows import Row, in_table, origin_of, rows_of, where_of, wrapped
from rebalsim.scenario.show_streams import application_rows, instance_rows
from rebalsim.scenario.show_timetable import judged, timetable
from rebalsim.scenario.story import Story
from rebalsim.scenario.topic_language import TOPIC_BLOCK


def show_lines(story: Story, variant: str = "", width: int = 80) -> list[str]:
    """The story in one variant (the first, if none is named), and what the others change."""
    name = variant or story.variants[0]
    scenario, resolver = story.scenario(name), story.resolver(name)
    out = [*_head(story, scenario, width), "", "Script", *timetable(scenario, resolver, width)]
    if scenario.budgets or scenario.expectations:
        out += ["", "Budgets and expectations", *judged(scenario, width)]
    if scenario.notes:
        notes = [line for note in scenario.notes for line in wrapped(note, width, "  ")]
        out += ["", "Notes", *notes]
    if scenario.topics:
        out += ["", "Topics", *in_table(_topic_rows(resolver, scenario), width)]
    for roster in resolver.rosters.values():
        out += ["", *_group_lines(resolver, roster, scenario, width)]
    if scenario.connect:
        out += ["", "Connectors", *in_table(_connector_rows(resolver, scenario), width)]
    out += ["", "Cluster", *in_table(_cluster_rows(resolver, scenario), width)]
    if not variant:
        for other in story.variants[1:]:
            out += ["", *_difference(story, name, other, width)]
    return [line.rstrip() for line in out]


def _head(story: Story, scenario: Scenario, width: int) -> list[str]:
    runs = f"{scenario.runs} runs" if scenario.runs > 1 else "1 run"
    lines = [*textwrap.wrap(scenario.title or story.file, width)]
    if scenario.description:
        lines += [
            line
            for part in scenario.description.strip().splitlines()
            for line in textwrap.wrap(part, width)
        ]
    lines += [
        "",
        f"Kafka {scenario.cluster.kafka} · seed {scenario.seed} · {runs} · horizon "
        f"{say_us(scenario.horizon_us)} · digest {scenario.digest}",
    ]
    return [
        *lines,
        *wrapped(f"Variants: {', '.join(story.heading(v) for v in story.variants)}", width, ""),
        f"Shown: {scenario.heading}",
    ]


def _cluster_rows(resolver: Resolver, scenario: Scenario) -> list[Row]:
    cluster = scenario.cluster
    written: Written | None = resolver.story.get("cluster")
    over = resolver.variant.layer.get("cluster") if resolver.variant.layer is not None else None
    source = written if over is None else over if written is None else _merged(written, over)
    network, layer = cluster.network, resolver.variant.layer
    racks = ", ".join(f"{b.id} in {b.rack}" for b in cluster.brokers if b.rack)
    default = f"Kafka {cluster.kafka}"

    def row(name: str, said: str, key: str = "") -> Row:
        return Row(name, said, origin_of(source, key or name, "default"))

    whose = layer if resolver.variant.kafka else resolver.story
    rows = [
        Row("kafka", cluster.kafka, origin_of(whose, "kafka", "default")),
        row("brokers", f"{len(cluster.brokers)}" + (f": {racks}" if racks else "")),
        row("latency (one way)", DRAW.say(network.latency), "latency"),
        row(
            "cross_rack",
            DRAW.say(network.cross_rack) if network.cross_rack is not None else "no difference",
        ),
        *(
            row(f"link {link.one} – {link.other}", DRAW.say(link.latency), "links")
            for link in network.links
        ),
        row("log_append", DRAW.say(cluster.log_append)),
        row("replication", DRAW.say(cluster.replication)),
    ]
    config = source.get("config") if source is not None else None
    costs = source.get("costs") if source is not None else None
    rows += rows_of(COSTS, scenario.machine.costs, costs, "default", prefix="costs.")
    unknown = (
        ()
        if resolver.broker_profile.has_consumer_protocol
        else tuple(k for k in BROKER_CONFIG.fields if k.startswith("group.consumer."))
    )
    return rows + rows_of(BROKER_CONFIG, cluster.config, config, default, leave_out=unknown)


def _merged(one: Written, other: Written) -> Written:
    from rebalsim.scenario.kinds import merge

    return merge(one, other)


def _connector_rows(resolver: Resolver, scenario: Scenario) -> list[Row]:
    """Each connector in a line: what it is, how many tasks, what they cost."""
    named = resolver.story.get("connect").get("connectors")
    rows = []
    for connector in (c for k in scenario.connect for c in (*k.connectors, *k.later)):
        written: Written = named.values[connector.name]
        tasks = f"{connector.tasks_max} task{'s' if connector.tasks_max != 1 else ''}"
        said = [f"{connector.kind}, {tasks}"]
        if connector.topics:
            said.append(f"reads {', '.join(connector.topics)} as {connector.group}")
        for key in ("connector_start", "start", "stop", "poll", "per_record"):
            if key in written:
                said.append(f"{key} {written.section.fields[key].kind.say(written.get(key))}")
        if written.get("exists") == "later":
            said.append("created later")
        rows.append(
            Row(connector.name, " · ".join(said), where_of(named.node.keys[connector.name]))
        )
    return rows


def _worker_rows(parts: Parts, worker: Consumer) -> list[Row]:
    """A Connect worker's settings and life."""
    settings = parts.written.get("config")
    rows = rows_of(WORKER_CONFIG, worker.worker, settings, f"Kafka {worker.client_version}")
    return rows + rows_of(LIFE, worker.life, parts.written.get("life"), "default", "life: ")


def _topic_rows(resolver: Resolver, scenario: Scenario) -> list[Row]:
    named = resolver.story.get("topics").values
    rows = []
    for topic in scenario.topics:
        written: Written = named[topic.name]
        fields = TOPIC_BLOCK.fields
        said = [f"{topic.partitions} partition{'s' if topic.partitions != 1 else ''}"]
        said.append(fields["rate"].kind.say(written.get("rate")) if "rate" in written else "0/s")
        if "skew" in written:
            said.append(f"skew {fields['skew'].kind.say(written.get('skew'))}")
        said.append(f"{fields['record_size'].kind.say(topic.record_bytes)} a record")
        if topic.backlog:
            said.append(f"backlog {topic.backlog} each")
        if topic.replicas:
            count = len(topic.replicas[0])
            said.append(f"{count} replica{'s' if count > 1 else ''}")
        if not topic.has_leader_epochs:
            said.append("no leader epochs")
        if not topic.exists_from_start:
            said.append("created later")
        node = resolver.story.get("topics").node.entries[topic.name]
        rows.append(
            Row(
                topic.name,
                " · ".join(said),
                node.source.label
                or f"line {resolver.story.get('topics').node.keys[topic.name].line}",
            )
        )
    return rows


# ------------------------------------------------------------------------------------------- groups


def _consumers(scenario: Scenario) -> dict[str, Consumer]:
    return {c.name: c for g in scenario.groups for c in g.consumers}


def _as_meant(row: Row, default: str, parts: Parts, consumer: Consumer, variant: str) -> Row:
    """What a member's setting is for it, and what decided that."""
    settings: Written | None = parts.written.get("config")
    if row.name == "group.instance.id" and parts.instance_id is not None:
        row = Row(row.name, parts.instance_id, row.origin)
    if row.origin != default:
        return row
    if row.name == "enable.auto.commit" and not consumer.config.enable_auto_commit:
        return Row(row.name, row.value, "from handler.commit")
    is_of_variant = row.name in ("group.protocol", "partition.assignment.strategy")
    if is_of_variant and settings is not None and row.name in settings.values:
        return Row(row.name, row.value, f"variant {variant}")
    return row


def _app_of(scenario: Scenario, group: str) -> StreamsApp | None:
    return next((g.streams for g in scenario.groups if g.name == group), None)


def _app_rows(roster: Roster, scenario: Scenario) -> list[Row]:
    """Of a Kafka Streams application what all of its instances share; none of another group."""
    app = _app_of(scenario, roster.group)
    topics = {topic.name: topic.partitions for topic in scenario.topics}
    return [] if app is None else application_rows(app, roster.streams, topics)


def _member_rows(parts: Parts, consumer: Consumer, scenario: Scenario) -> list[Row]:
    if consumer.worker is not None:
        return _worker_rows(parts, consumer)
    default = f"{say_client(consumer.client)} {consumer.client_version}"
    variant, app = scenario.variant, _app_of(scenario, consumer.group)
    if app is not None:
        rows = instance_rows(consumer, app, parts.written, default)
        return [_as_meant(row, default, parts, consumer, variant) for row in rows]
    written = parts.written
    settings: Written | None = written.get("config")
    is_consumer = consumer.config.uses_consumer_protocol
    leave_out = CLASSIC_ONLY if is_consumer else CONSUMER_ONLY
    if not consumer.habits.has_poll_limit:
        leave_out = (*leave_out, "max.poll.interval.ms")
    if not consumer.habits.has_rebalance_timeout:
        leave_out = (*leave_out, "rebalance.timeout.ms")
    named = "topics" if consumer.pattern is None else "pattern"
    client = f"{consumer.client} {consumer.client_version}"
    subscribed = consumer.pattern or ", ".join(consumer.topics)
    rows = [
        Row("client", client, origin_of(written, "client", "default")),
        Row(named, subscribed, origin_of(written, named, "default")),
    ]
    for row in rows_of(CONFIG, consumer.config, settings, default, leave_out=leave_out):
        rows.append(_as_meant(row, default, parts, consumer, variant))
    for section, thing in (
        (HANDLER, consumer.handler),
        (LISTENER, consumer.listener),
        (STATE, consumer.state),
        (LIFE, consumer.life),
        (ASSIGNOR_COST, consumer.assignor_cost),
    ):
        rows += rows_of(
            section, thing, written.get(section.name), "default", prefix=f"{section.name}."
        )
    return rows


def _group_lines(resolver: Resolver, roster: Roster, scenario: Scenario, width: int) -> list[str]:
    """What all members share, then for each kind of member what it has otherwise."""
    consumers = _consumers(scenario)
    kinds: dict[Parts, list[Seat]] = {}
    present = [s for s in roster.seats.values() if s.name in consumers]
    for seat in present:
        parts = _parts_at_start(resolver, roster, seat)
        kinds.setdefault(parts, []).append(seat)
    title = (
        f"Group {roster.group}: {say_names([s.name for s in present])}"
        if present
        else f"Group {roster.group}: empty at the start"
    )
    if not kinds:
        return [title]
    ordered = sorted(kinds.items(), key=lambda kind: -len(kind[1]))
    lines = [*wrapped(title, width, "")]
    common = _member_rows(ordered[0][0], consumers[ordered[0][1][0].name], scenario)
    lines += in_table([*common, *_app_rows(roster, scenario)], width)
    lines += _start_lines(present, consumers, width)
    shared = {(r.name, r.value) for r in common}
    for parts, seats in ordered[1:]:
        rows = [
            r
            for r in _member_rows(parts, consumers[seats[0].name], scenario)
            if (r.name, r.value) not in shared
        ]
        if rows:
            lines += wrapped(f"otherwise for {say_names([s.name for s in seats])}:", width, "  ")
            lines += in_table(rows, width, "    ")
    return lines


def _parts_at_start(resolver: Resolver, roster: Roster, seat: Seat) -> Parts:
    """Before anything is deployed."""
    return resolver.parts_of(
        roster,
        Seat(
            seat.name,
            seat.number,
            seat.process,
            seat.pod,
            seat.within,
            seat.rack,
            seat.layers,
            seat.node,
        ),
    )


def _start_lines(seats: list[Seat], consumers: dict[str, Consumer], width: int) -> list[str]:
    starting = [consumers[s.name] for s in seats]
    static = [c.config.group_instance_id for c in starting if c.config.group_instance_id]
    racks = [f"{c.name} in {c.rack}" for c in starting if c.rack]
    in_process: dict[str, list[str]] = {}
    for seat in seats:
        if seat.process:
            in_process.setdefault(seat.process, []).append(seat.name)
    processes = [f"{p}: {say_names(names)}" for p, names in in_process.items()]
    said = {
        "static ids": say_names(static) if static else "",
        "racks": ", ".join(racks[:12]) + (" …" if len(racks) > 12 else ""),
        "processes": "; ".join(processes[:8]) + (" …" if len(processes) > 8 else ""),
    }
    told = [f"{what}: {text}" for what, text in said.items() if text]
    return [line for each in told for line in wrapped(each, width, "  ")]


# ----------------------------------------------------------------------------------- other variants


def _new_rows(old: Iterable[Row], new: Iterable[Row]) -> dict[tuple[str, str], Row]:
    """The rows that were not there with this value, by name and value."""
    known = {(r.name, r.value) for r in old}
    return {(r.name, r.value): r for r in new if (r.name, r.value) not in known}


def _difference(story: Story, base: str, other: str, width: int) -> list[str]:
    one, two = story.scenario(base), story.scenario(other)
    first, second = story.resolver(base), story.resolver(other)
    rows: dict[tuple[str, str], Row] = {}
    before, after = _consumers(one), _consumers(two)
    for roster in second.rosters.values():
        rows |= _new_rows(_app_rows(first.rosters[roster.group], one), _app_rows(roster, two))
        for seat in roster.seats.values():
            if seat.name not in before or seat.name not in after:
                continue
            old_roster = first.rosters[roster.group]
            parts = _parts_at_start(first, old_roster, old_roster.seats[seat.name])
            old = _member_rows(parts, before[seat.name], one)
            new = _member_rows(_parts_at_start(second, roster, seat), after[seat.name], two)
            for key, row in _new_rows(old, new).items():
                rows.setdefault(key, row)
    if one.cluster != two.cluster:
        rows |= _new_rows(_cluster_rows(first, one), _cluster_rows(second, two))
    if one.topics != two.topics:
        rows |= _new_rows(_topic_rows(first, one), _topic_rows(second, two))
    title = f"In {two.heading}" + (":" if rows else ": the same settings")
    layer = second.variant.layer
    why = layer.get("why") if layer is not None else None
    lines = [
        *wrapped(title, width, ""),
        *(wrapped(f"({why})", width, "  ") if why else []),
        *in_table(rows.values(), width),
    ]
    new_notes = [n for n in two.notes if n not in one.notes]
    return lines + [line for note in new_notes for line in wrapped(note, width, "  ")]
