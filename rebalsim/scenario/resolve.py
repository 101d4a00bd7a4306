"""As written → as meant: one variant of a story as a `Scenario`, with every default filled in, and
everything that cannot be.

For each consumer the layers are laid upon each other: the group's template, the group, the
member's template, the member, its override, the variant, and what the script has deployed by
then. Equal stacks of layers are resolved once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from rebalsim.domain.budget import Budget, Expectation
from rebalsim.domain.client import BrokerConfig, ClientConfig
from rebalsim.domain.connect import ConnectCluster
from rebalsim.domain.consumer import AssignorCost, Consumer, Cost, Handler, Listener, State
from rebalsim.domain.draws import NOTHING, Draw, constantly
from rebalsim.domain.instants import DAY
from rebalsim.domain.machine import Machine
from rebalsim.domain.pattern import matcher_of
from rebalsim.domain.pods import Life
from rebalsim.domain.scenario import (
    Broker,
    Cluster,
    Group,
    Link,
    Network,
    Scenario,
    Topic,
)
from rebalsim.domain.script import Action, RandomFault
from rebalsim.domain.script_shift import longest_heartbeat, room_of
from rebalsim.scenario.arrival_rates import rate_steps, steps_of, zipf
from rebalsim.scenario.common_language import MAX_CONSUMERS, MAX_PARTITIONS
from rebalsim.scenario.config_language import CLASSIC_ONLY, CONFIG, CONSUMER_ONLY
from rebalsim.scenario.connect import cluster_of, sink_config, worker_parts
from rebalsim.scenario.document import Mapping, Node
from rebalsim.scenario.kinds import Written, build, merge
from rebalsim.scenario.member_checks import INSTEAD, POLL_LIMIT, STRATEGY, MemberChecks, place_in
from rebalsim.scenario.member_language import CONNECT
from rebalsim.scenario.own_code import common_protocol
from rebalsim.scenario.patterns import bad_pattern
from rebalsim.scenario.pods import slowed
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.profiles import (
    BROKERS,
    CLIENTS,
    DEFAULT_CLIENT,
    DEFAULT_KAFKA,
    BrokerProfile,
    ClientProfile,
    broker_profile,
    client_profile,
    first_with_consumer_protocol,
)
from rebalsim.scenario.quantities import say_us
from rebalsim.scenario.roster import Roster, Seat, fill
from rebalsim.scenario.source import shorten
from rebalsim.scenario.starts import why_cold
from rebalsim.scenario.streams import (
    app_of,
    as_stream_thread,
    heading_of,
    written_app,
)
from rebalsim.scenario.variants import Variant
from rebalsim.words.nearest import nearest, or_nearest

ReadScript = Callable[
    ["Resolver", Sequence[Group], int], tuple[tuple[Action, ...], tuple[RandomFault, ...]]
]


class Parts:
    """What consumers with equal layers have in common."""

    __slots__ = (
        "client_id",
        "client_rack",
        "config",
        "instance_id",
        "rest",
        "starts_at",
        "written",
    )

    def __init__(
        self, config: dict[str, Any], rest: dict[str, Any], starts_at: Draw | None, written: Written
    ) -> None:
        self.instance_id: str | None = config.get("group_instance_id")
        self.client_id: str = config.get("client_id", "")
        self.client_rack: str = config.get("client_rack", "")
        self.config = config
        self.rest = rest
        self.starts_at = starts_at
        self.written = written


class Resolver:
    """Resolves one variant of a story. Problems are collected; the scenario is only good where
    there are none.
    """

    def __init__(self, story: Written, variant: Variant, code_from: str, out: Problems) -> None:
        self.story = story
        self.variant = variant
        self.code_from = code_from
        self.out = out
        self.notes: dict[str, None] = {}
        self.parts: dict[
            tuple[Written | None, ...], Parts
        ] = {}  # by stack of layers; a block equals only itself
        self.rosters: dict[str, Roster] = {}
        self.seats: dict[str, Seat] = {}
        self.topics: dict[str, Topic] = {}
        self.templates: dict[str, Written] = (
            story.get("templates").values if "templates" in story else {}
        )
        # the overlay plays a story of upgrades with what they lead to, from the beginning
        self.is_at_goal = False
        self.broker_profile = self.brokers_now = (
            self._kafka()
        )  # the latter follows the script's upgrades
        self.cluster = Cluster()
        self.connect: tuple[ConnectCluster, ...] = ()

    # ------------------------------------------------------------------------------------ the whole

    def scenario(
        self,
        budgets: tuple[Budget, ...],
        expectations: tuple[Expectation, ...],
        digest: str,
        file: str,
        read_script: ReadScript,
    ) -> Scenario:
        """The whole; the script is read last, for it speaks of what the rest names."""
        self.cluster = self._cluster()
        self.checks = MemberChecks(self.out, self.story, self.variant, self.cluster, self.code_from)
        self.topics = self._topics()
        groups = self._groups()
        horizon_us = self.story.get("horizon", Scenario.__dataclass_fields__["horizon_us"].default)
        actions, faults = read_script(self, groups, horizon_us)
        self._check_links()
        made = build(
            Scenario,
            self.story,
            variant=self.variant.name,
            heading=self._heading(groups),
            cluster=self.cluster,
            machine=self._machine(),
            topics=tuple(self.topics.values()),
            groups=groups,
            connect=self.connect,
            script=actions,
            random_faults=faults,
            budgets=budgets,
            expectations=expectations,
            digest=digest,
            file=file,
            code_from=self.code_from,
            notes=tuple(self.notes),
            description=str(self.story.get("description", "")).strip(),
        )
        if made.start == "settled" and (why := why_cold(made)):
            self.out.add(
                self.story.at["start"],
                f"{why} — write start: cold, or have the script's join start whoever comes later",
            )
        if self.story.get("heartbeat_phase") == "as-written":
            return made
        return replace(made, shift_within_us=min(longest_heartbeat(made), room_of(made)))

    def _heading(self, groups: tuple[Group, ...]) -> str:
        said: dict[str, None] = {}
        for group in groups:
            if group.streams is not None:
                said[heading_of(group.streams)] = None
                continue
            for consumer in group.consumers:
                config = consumer.config
                if consumer.worker is not None:
                    said[consumer.worker.connect_protocol] = None
                elif config.group_protocol == "consumer":
                    said[
                        config.group_remote_assignor
                        or self.cluster.config.group_consumer_assignors[0]
                    ] = None
                elif self.variant.base in ("eager", "cooperative"):
                    said[config.partition_assignment_strategy[0]] = None
                else:
                    said["+".join(config.partition_assignment_strategy)] = None
        names = list(said)
        listed = ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
        return f"{self.variant.name} ({listed})" if listed else self.variant.name

    # ---------------------------------------------------------------------------------- the cluster

    def _kafka(self) -> BrokerProfile:
        found = broker_profile(self.variant.kafka or self.story.get("kafka", DEFAULT_KAFKA))
        if isinstance(found, str):
            self.out.add(self._kafka_at() or self.story.node, found)
            return BROKERS[DEFAULT_KAFKA]
        if (
            self.variant.base == "consumer"
            and not self.variant.kafka
            and not found.has_consumer_protocol
            and (goal := self._goal()) is not None
        ):
            self.is_at_goal = True
            self.notes[
                f'kafka: "{found.version}" is played as {goal.version}, to which the script '
                "upgrades: brokers have the consumer protocol since "
                "4.0."
            ] = None
            return goal
        return found

    def _goal(self) -> BrokerProfile | None:
        """Of a story that upgrades its brokers so far that they have the consumer protocol: what
        they come to first.
        """
        upgrades = (
            broker_profile(action.get("broker_upgrade").get("to"))
            for action in self.story.get("script", ())
            if "broker_upgrade" in action
        )
        return next(
            (
                found
                for found in upgrades
                if not isinstance(found, str) and found.has_consumer_protocol
            ),
            None,
        )

    def _kafka_at(self) -> Node | None:
        """Where the brokers' version is written."""
        layer = self.variant.layer
        return (
            layer.at.get("kafka")
            if layer is not None and self.variant.kafka
            else self.story.at.get("kafka")
        )

    def _cluster(self) -> Cluster:
        written: Written | None = self.story.get("cluster")
        over: Written | None = (
            self.variant.layer.get("cluster") if self.variant.layer is not None else None
        )
        if written is None:
            written = over
        elif over is not None:
            written = merge(written, over)
        if written is None:
            return Cluster(
                kafka=self.broker_profile.version,
                config=self.broker_profile.config,
                habits=self.broker_profile.habits,
            )
        brokers = tuple(Broker(number, rack) for number, rack in written.get("brokers", ((0, ""),)))
        if racks := written.get("racks"):
            brokers = tuple(
                Broker(b.id, b.rack or racks[i % len(racks)]) for i, b in enumerate(brokers)
            )
        config = self.broker_profile.config
        if "config" in written:
            settings = written.get("config")
            values = {settings.section.fields[k].target: v for k, v in settings.values.items()}
            selector = values.get("replica_selector_class", "")
            if selector and "." not in selector:
                values["replica_selector_class"] = f"org.apache.kafka.common.replica.{selector}"
            config = _with(BrokerConfig, config, values)
            self._check_brokers(config, settings)
            self._check_known_to_brokers(settings)
        links = tuple(
            Link(link.get("between")[0], link.get("between")[1], link.get("latency"))
            for link in written.get("links", ())
            if not link.is_bad
        )
        latency = written.get("latency")
        network = (
            Network(latency=latency, cross_rack=written.get("cross_rack"), links=links)
            if latency is not None
            else Network(cross_rack=written.get("cross_rack"), links=links)
        )
        return Cluster(
            kafka=self.broker_profile.version,
            brokers=brokers,
            config=config,
            network=network,
            log_append=written.get("log_append", _CLUSTER_DEFAULT.log_append),
            replication=written.get("replication", _CLUSTER_DEFAULT.replication),
            habits=self.broker_profile.habits,
        )

    def _machine(self) -> Machine:
        """What the brokers' machines take for a request, if the story says so."""
        machine = Machine()
        for layer in (self.story, self.variant.layer):
            cluster = layer.get("cluster") if layer is not None else None
            costs = cluster.get("costs") if cluster is not None else None
            if costs is not None:
                said = {costs.section.fields[k].target: v for k, v in costs.values.items()}
                machine = replace(machine, costs=replace(machine.costs, **said))
        return machine

    def _check_brokers(self, config: BrokerConfig, written: Written) -> None:
        """The brokers' own checks at their start."""
        c = config
        bounds = (
            (
                ("group.", "session.timeout.ms"),
                (c.group_min_session_timeout_us, None, c.group_max_session_timeout_us),
            ),
            (
                ("group.consumer.", "session.timeout.ms"),
                (
                    c.group_consumer_min_session_timeout_us,
                    c.group_consumer_session_timeout_us,
                    c.group_consumer_max_session_timeout_us,
                ),
            ),
            (
                ("group.consumer.", "heartbeat.interval.ms"),
                (
                    c.group_consumer_min_heartbeat_interval_us,
                    c.group_consumer_heartbeat_interval_us,
                    c.group_consumer_max_heartbeat_interval_us,
                ),
            ),
            (
                ("group.consumer.", "assignment.interval.ms"),
                (
                    c.group_consumer_min_assignment_interval_us,
                    c.group_consumer_assignment_interval_us,
                    c.group_consumer_max_assignment_interval_us,
                ),
            ),
        )
        for key, values in bounds:
            self._check_bounds(written, key, values)
        beat, session = c.group_consumer_heartbeat_interval_us, c.group_consumer_session_timeout_us
        if beat >= session:
            keys = ("group.consumer.heartbeat.interval.ms", "group.consumer.session.timeout.ms")
            self.out.add(
                place_in(written, *keys),
                f"{keys[0]} {say_us(beat)} is not below {keys[1]} {say_us(session)} — make it a "
                "third of it",
            )

    def _check_bounds(
        self, written: Written, named: tuple[str, str], values: tuple[int, int | None, int]
    ) -> None:
        """A setting of the brokers lies within its bounds, which are in order."""
        key = "".join(named)
        least_key, most_key = (f"{named[0]}{side}.{named[1]}" for side in ("min", "max"))
        least, value, most = values
        if least > most:
            self.out.add(
                place_in(written, least_key, most_key),
                f"{least_key} {say_us(least)} is above {most_key} {say_us(most)} — a broker"
                " would not start; swap them",
            )
        elif value is not None and not least <= value <= most:
            self.out.add(
                place_in(written, key, least_key, most_key),
                f"{key} {say_us(value)} is outside {least_key} {say_us(least)} and"
                f" {most_key} {say_us(most)}"
                " — a broker would not start; move it inside or widen the bounds",
            )

    def _check_known_to_brokers(self, settings: Written) -> None:
        """Settings that these brokers do not have; a story that upgrades them may write them for
        later.
        """
        if any("broker_upgrade" in action for action in self.story.get("script", ())):
            return
        for key, node in settings.at.items():
            if since := self.broker_profile.lacks_since(key):
                self.out.warn(
                    node,
                    f"Kafka {self.broker_profile.version} has no {key}, which brokers have since {since}: it has no "
                    "bearing here — leave it out, or write kafka: "
                    f'"{DEFAULT_KAFKA}"',
                )

    def _check_links(self) -> None:
        racks = dict.fromkeys(
            [b.rack for b in self.cluster.brokers if b.rack]
            + [s.rack for s in self.seats.values() if s.rack]
        )
        brokers = [f"broker-{b.id}" for b in self.cluster.brokers]
        written = self.story.get("cluster")
        for link in written.get("links", ()) if written is not None else ():
            for end in link.get("between", ()):
                if end not in self.seats and end not in racks and end not in brokers:
                    self.out.add(
                        link.at["between"],
                        f"'{shorten(end)}' is no consumer, broker or rack of this story —"
                        f" {or_nearest(end, [*self.seats, *brokers, *racks])}",
                    )

    # --------------------------------------------------------------------------------------- topics

    def _topics(self) -> dict[str, Topic]:
        made: dict[str, Topic] = {}
        named = self.story.get("topics")
        if named is None:
            return made
        total = steps = 0
        for name in named.node.keys:
            written = named.values.get(name)
            if written is None or "partitions" not in written:
                made[name] = Topic(
                    name, MAX_PARTITIONS
                )  # what is wrong with it is said already; whoever names it means it
                continue
            total += written.get("partitions")
            steps += steps_of(written.get("rate", ()), self.story.get("horizon", DAY))
            if total > MAX_PARTITIONS or steps > MOST_STEPS:
                made[name] = Topic(name, written.get("partitions"))  # not worked out any further
                continue
            made[name] = self._topic(name, written)
        if steps > MOST_STEPS:
            self.out.add(
                named.node,
                f"The topics' rates come to {steps:,} steps within the horizon — write at most "
                f"{MOST_STEPS:,}: fewer topics with a daily rate, or a shorter horizon",
            )
        if total > MAX_PARTITIONS:
            self.out.add(
                named.node,
                f"The topics have {total:,} partitions together — write at most {MAX_PARTITIONS:,}",
            )
        return made

    def _topic(self, name: str, written: Written) -> Topic:
        partitions = written.get("partitions")
        more: dict[str, Any] = {"name": name}
        if "rate" in written:
            more["rate"] = rate_steps(
                written.get("rate"), partitions, self.story.get("horizon", DAY)
            )
        skew = written.get("skew")
        if isinstance(skew, float):
            more["weights"] = zipf(skew, partitions)
        elif skew is not None:
            if len(skew) != partitions:
                self.out.add(
                    written.at["skew"],
                    f"There are {len(skew)} weights for {partitions} partitions — write one for "
                    "each",
                )
            more["weights"] = skew
        replicas = written.get("replicas")
        ids = [b.id for b in self.cluster.brokers]
        if isinstance(replicas, int):
            if replicas > len(ids):
                self.out.add(
                    written.at["replicas"],
                    f"{replicas} replicas do not fit on {len(ids)} "
                    f"broker{'s' if len(ids) > 1 else ''} — write"
                    f" at most {len(ids)}, or more brokers under cluster:",
                )
            more["replicas"] = tuple(
                tuple(ids[(p + i) % len(ids)] for i in range(min(replicas, len(ids))))
                for p in range(partitions)
            )
        elif replicas is not None:
            unknown = [b for row in replicas for b in row if b not in ids]
            if len(replicas) != partitions:
                self.out.add(
                    written.at["replicas"],
                    f"Replicas are given for {len(replicas)} of {partitions} partitions — write "
                    "a list for each",
                )
            elif unknown:
                self.out.add(
                    written.at["replicas"],
                    f"There is no broker {unknown[0]} — "
                    f"{or_nearest(str(unknown[0]), map(str, ids))}",
                )
            elif any(len(dict.fromkeys(row)) != len(row) for row in replicas):
                self.out.add(
                    written.at["replicas"],
                    "A broker holds a partition twice — name each broker once per partition",
                )
            more["replicas"] = replicas
        return build(Topic, written, **more)

    # --------------------------------------------------------------------------------------- groups

    def _groups(self) -> tuple[Group, ...]:
        one, several = self.story.get("group"), self.story.get("groups")
        if "group" in self.story.at and "groups" in self.story.at:
            self.out.add(
                self.story.at["groups"],
                "Both group and groups are here — move the one into the other",
            )
        named: dict[str, Written] = {}
        if one is not None:
            named[one.get("name", "group")] = one
        elif several is not None:
            for name, written in several.values.items():
                if "name" in written:
                    self.out.add(
                        written.at["name"],
                        f"The group has its name from its key, {name} — leave this out",
                    )
                named[name] = written
        elif not self._has_group_in_mind():
            self.out.add(self.story.node, "There is no group — write group: {members: 3}")
        is_several = len(named) > 1
        for name, written in named.items():
            self._roster(name, written, f"{name}-" if is_several else "")
        connect = self.story.get("connect")
        if connect is not None and "workers" in connect:
            name = connect.get("name", "connect")
            if name in named:
                self.out.add(
                    connect.at.get("name", connect.node),
                    f"There is a consumer group {name} already — give the workers' group another "
                    "name",
                )
            named[name] = connect
            self._roster(name, connect, "")
            self.connect = (
                cluster_of(
                    self,
                    name,
                    connect,
                    sink_config(
                        connect.get("consumer"), ClientConfig(auto_offset_reset="earliest")
                    ),
                ),
            )
        made = []
        for name, roster in self.rosters.items():
            roster.streams = (
                written_app(self, named[name]) if named[name].section is not CONNECT else None
            )
            stagger = named[name].get("stagger", 0)
            consumers = []
            for place, seat in enumerate(roster.seats.values()):
                consumer = self.consumer(roster, seat)
                if stagger and "starts_at" not in self.parts_of(roster, seat).written:
                    consumer = _with(Consumer, consumer, {"starts_at": constantly(place * stagger)})
                seat.is_running = consumer.starts_at is not None
                consumers.append(consumer)
            self.checks.members(roster, consumers, self.parts_of)
            app = None if named[name].section is CONNECT else app_of(self, named[name])
            if app is not None:
                consumers = [as_stream_thread(consumer) for consumer in consumers]
            made.append(Group(name, tuple(consumers), app))
        return tuple(made)

    def _roster(self, group: str, written: Written, prefix: str) -> None:
        overrides: dict[str, Written] = (
            written.get("overrides").values if "overrides" in written else {}
        )
        base = self.layers(written)
        is_connect = written.section is CONNECT
        listed = written.get("workers" if is_connect else "members", ())
        patterned = [name for name, _, _, _ in listed if "{n}" in name]
        roster = Roster(
            group,
            prefix,
            patterned[-1] if patterned else f"{prefix}{'w' if is_connect else 'c'}{{n}}",
            written.get("per_process", 1),
            written.get("racks", ()),
        )
        roster.base = base
        roster.overrides = {name: self.layers(block) for name, block in overrides.items()}
        self.rosters[group] = roster
        if len(self.seats) + sum(count for _, count, _, _ in listed) > MAX_CONSUMERS:
            self.out.add(
                written.at["members"],
                f"There are more than {MAX_CONSUMERS:,} members in this story — write fewer",
            )
            return
        for pattern, count, block, node in listed:
            own = self.layers(block) if block is not None else ()
            process = block.get("process", "") if block is not None else ""
            rack = block.get("rack", "") if block is not None else ""
            for index in range(count):
                usual = f"{prefix}{'w' if is_connect else 'c'}{index}"
                name = pattern.replace("{n}", str(index)) if pattern else usual
                number = index if not pattern or "{n}" in pattern else len(roster.seats)
                if name in self.seats:
                    self.out.add(
                        node,
                        f"There are two members named {name} — names are unique in a story; give "
                        "one of them another",
                    )
                    continue
                seat = roster.add(
                    name, number, base + own + self.override(roster, name), node, process, rack
                )
                self.seats[name] = seat
        roster.spare = next(
            (count for name, count, _, _ in reversed(listed) if "{n}" in name), len(roster.seats)
        )
        for name in overrides:
            if (
                name not in self.seats
                and f"{prefix}{name}" not in self.seats
                and not self._may_join(name, roster)
            ):
                known = [s.removeprefix(prefix) for s in roster.seats]
                self.out.add(
                    written.get("overrides").node.keys[name],
                    f"There is no member '{shorten(name)}' in this group — "
                    f"{or_nearest(name, known)}",
                )

    def override(self, roster: Roster, name: str) -> tuple[Written, ...]:
        return (
            roster.overrides.get(name)
            or roster.overrides.get(name.removeprefix(roster.prefix))
            or ()
        )

    def _may_join(self, name: str, roster: Roster) -> bool:
        head, _, tail = roster.pattern.partition("{n}")
        head = head.removeprefix(roster.prefix)
        middle = name.removeprefix(roster.prefix)
        return (
            middle.startswith(head)
            and middle.endswith(tail)
            and middle[len(head) : len(middle) - len(tail)].isdigit()
        )

    def layers(self, block: Written) -> tuple[Written, ...]:
        """A block preceded by the template it begins with."""
        name = block.get("template")
        if name is None:
            return (block,)
        template = self.templates.get(name)
        if template is None:
            self.out.add(
                block.at["template"],
                f"There is no template '{shorten(name)}' — "
                f"{or_nearest(name, self.templates, 'write it under templates:')}",
            )
            return (block,)
        return (template, block)

    # ------------------------------------------------------------------------------------ consumers

    def consumer(self, roster: Roster, seat: Seat, starts: bool = True) -> Consumer:
        """The seat's consumer as it would start now."""
        parts = self.parts_of(roster, seat)
        config = parts.config
        if parts.instance_id is not None or "{" in parts.client_id or "{" in parts.client_rack:
            config = dict(config)
            if parts.instance_id is not None:
                config["group_instance_id"] = fill(parts.instance_id, seat)
            if parts.client_id:
                config["client_id"] = fill(parts.client_id, seat)
            if parts.client_rack:
                config["client_rack"] = fill(parts.client_rack, seat)
            made = ClientConfig(**config)
        else:
            made = parts.rest["config"]
        rest = {**parts.rest, "config": made}
        return Consumer(
            name=seat.name,
            group=roster.group,
            process=seat.process,
            rack=seat.rack or parts.written.get("rack", ""),
            starts_at=parts.starts_at if starts else None,
            **rest,
        )

    def is_of_workers(self, roster: Roster) -> bool:
        """Is it a Connect cluster's?"""
        return any(cluster.group == roster.group for cluster in self.connect)

    def parts_of(self, roster: Roster, seat: Seat) -> Parts:
        key = (*seat.layers, None, *seat.deployed)
        found = self.parts.get(key)
        if found is None:
            found = self.parts[key] = self._parts(seat)
        return found

    def _parts(self, seat: Seat) -> Parts:
        written = seat.layers[0]
        if written.section is CONNECT:
            shared, written = worker_parts(self, seat.layers, seat.deployed)
            return Parts({}, shared, written.get("starts_at", NOTHING), written)
        for layer in seat.layers[1:]:
            written = self._lay(written, layer)
        asks_itself = _protocol(written) == "consumer"
        self.checks.own(written)
        written = self._as_variant(written)
        for layer in seat.deployed:
            written = self._lay(written, layer)
        if (
            self.variant.base == "consumer" and not asks_itself and _protocol(written) == "consumer"
        ):  # not after a deploy to the classic protocol
            written = self._for_consumer_protocol(written)
        profile = self._client(written)
        written = self._for_client(written, profile)
        if (
            self.is_at_goal
            and not profile.has_consumer_protocol
            and (newer := first_with_consumer_protocol(profile.client)) is not None
        ):
            self.notes[
                f"{profile.client} {profile.version} is played as {newer.version}, which is the "
                "first that speaks the consumer protocol."
            ] = None
            profile = newer
        settings: Written | None = written.get("config")
        config = _values_of(profile.config)
        if settings is not None:
            fields = CONFIG.fields
            for key, value in settings.values.items():
                config[fields[key].target] = value
        handler = self._handler(written, settings, config)
        life = build(Life, written.get("life"))
        if config["group_protocol"] == "consumer":
            self._check_new_enough(profile, settings, written)
            self.notes.update(dict.fromkeys(profile.unmodelled))
        self.checks.client(
            profile, config["group_protocol"], config["partition_assignment_strategy"], written
        )
        self.checks.config(config, settings, written)
        rest: dict[str, Any] = {
            "client": profile.client,
            "client_version": profile.version,
            "habits": profile.habits,
            "config": ClientConfig(**config),
            "topics": self._subscription(written),
            "pattern": written.get("pattern"),
            "handler": self._at_pace(handler, life),
            "listener": _listener(written.get("listener")),
            "state": build(State, written.get("state")),
            "life": replace(life, start=slowed(life.start, life.stretch)),
            "assignor_cost": build(AssignorCost, written.get("assignor_cost")),
        }
        self.checks.state(written.get("state"))
        return Parts(config, rest, written.get("starts_at", NOTHING), written)

    def _as_variant(self, written: Written) -> Written:
        variant = self.variant
        if variant.base in ("eager", "cooperative"):
            settings = written.get("config")
            current = settings.get(STRATEGY) if settings is not None else None
            profile = self._profile(written)
            usual = (
                profile.config.partition_assignment_strategy
                if not isinstance(profile, str)
                else ClientConfig().partition_assignment_strategy
            )
            keeps = common_protocol(current or usual, self.code_from) == variant.base
            otherwise = "range" if variant.base == "eager" else "cooperative-sticky"
            wanted = (current or usual) if keeps else (otherwise,)
            is_set = (
                settings is not None
                and STRATEGY in settings.at
                and settings.at[STRATEGY].source.is_override
            )
            values = (
                {k: v for k, v in settings.values.items() if k not in CONSUMER_ONLY}
                if settings is not None
                else {}
            )
            if settings is not None and settings.get("group.protocol") == "consumer":
                values["group.protocol"] = "classic"
            if not is_set and wanted != (current or usual):
                values[STRATEGY] = wanted
            written = _with_config(written, values)
        elif variant.base == "consumer":
            settings = written.get("config")
            values = dict(settings.values) if settings is not None else {}
            values["group.protocol"] = "consumer"
            written = _with_config(self._for_consumer_protocol(written), values)
        if variant.layer is not None:
            written = self._lay(written, variant.layer)
        return written

    def _lay(self, base: Written, over: Written) -> Written:
        """A layer upon the ones below. One that turns to the other protocol leaves behind what
        that refuses, if it is inherited.
        """
        if _protocol(over) == "consumer" and _protocol(base) != "consumer":
            base = self._for_consumer_protocol(base)
        elif _protocol(over) == "classic" and (settings := base.get("config")) is not None:
            base = _with_config(
                base, {k: v for k, v in settings.values.items() if k not in CONSUMER_ONLY}
            )
        return _lay(base, over)

    def _for_consumer_protocol(self, written: Written) -> Written:
        """The overlay drops what the consumer protocol refuses, and says so."""
        settings = written.get("config")
        dropped = [k for k in CLASSIC_ONLY if settings is not None and k in settings.values]
        if settings is None or not dropped:
            return written
        over = self.variant.layer.get("config") if self.variant.layer is not None else None
        for key in dropped:
            if over is not None and key in over.at and settings.at.get(key) is over.at[key]:
                self.out.add(
                    over.at[key],
                    f"{key} does not exist under the consumer protocol, on which this variant is "
                    f"based — {INSTEAD[key]}",
                )
            elif over is None or key not in over.unset:
                kind = settings.section.fields[key].kind
                self.notes[
                    f"{key}: {kind.say(settings.values[key])} is dropped: the consumer protocol "
                    f"refuses it ({_INSTEAD_SAID[key]})."
                ] = None
        return _with_config(written, {k: v for k, v in settings.values.items() if k not in dropped})

    def _for_client(self, written: Written, profile: ClientProfile) -> Written:
        """The overlay that puts another client in the members' place drops what that one has
        not, and says so.
        """
        layer, settings = self.variant.layer, written.get("config")
        if (
            layer is None
            or settings is None
            or "client" not in layer.at
            or written.at.get("client") is not layer.at["client"]
        ):
            return written
        own = layer.get("config")
        if (
            profile.habits.has_poll_limit
            or POLL_LIMIT not in settings.values
            or (own is not None and POLL_LIMIT in own.at)
        ):
            return written
        said = settings.section.fields[POLL_LIMIT].kind.say(settings.values[POLL_LIMIT])
        self.notes[
            f"{POLL_LIMIT}: {said} is dropped: {profile.client} has none, and a stuck handler "
            "never leaves the group."
        ] = None
        return _with_config(written, {k: v for k, v in settings.values.items() if k != POLL_LIMIT})

    def _check_new_enough(
        self, profile: ClientProfile, settings: Written | None, written: Written
    ) -> None:
        """group.protocol: consumer needs brokers and a client that have it."""
        is_too_old = not self.brokers_now.has_consumer_protocol
        if is_too_old:
            place = self._kafka_at() or place_in(
                settings if settings is not None else written, "group.protocol"
            )
            self.out.add(
                place,
                f"Kafka {self.brokers_now.version} has no group.protocol: consumer, which "
                "brokers have since 4.0 — write kafka: "
                f'"{DEFAULT_KAFKA}", upgrade them in the script before (broker_upgrade), or '
                "leave the consumer protocol out",
            )
        if not profile.has_consumer_protocol and not (
            is_too_old and "client_version" not in written and profile.has_brokers_version
        ):
            self.out.add(
                place_in(
                    settings
                    if settings is not None and not {"client_version", "client"} & {*written.at}
                    else written,
                    "client_version",
                    "client",
                    "group.protocol",
                ),
                f"The client {profile.client} {profile.version} does not speak the consumer "
                "protocol"
                " — Java does since 4.0, librdkafka since 2.12; or leave consumer out of replay",
            )

    def _profile(self, written: Written) -> ClientProfile | str:
        return client_profile(
            written.get("client", DEFAULT_CLIENT),
            written.get("client_version", ""),
            self.broker_profile.version,
        )

    def _client(self, written: Written) -> ClientProfile:
        found = self._profile(written)
        if isinstance(found, str):
            self.out.add(
                place_in(
                    written,
                    "client_version"
                    if "version" in found.split("—")[0].lower() and "client_version" in written.at
                    else "client",
                ),
                found,
            )
            return CLIENTS[DEFAULT_CLIENT, DEFAULT_KAFKA]
        return found

    def _has_group_in_mind(self) -> bool:
        """Whether there is one that could not be read, or a key that was meant to be it: both were
        told of already.
        """
        if any(key in self.story.at for key in ("group", "groups", "connect")):
            return True
        node = self.story.node
        written = node.entries if isinstance(node, Mapping) else {}
        unknown = [key for key in written if key not in self.story.section.fields]
        return any(nearest(key, ("group", "groups")) for key in unknown)

    def _at_pace(self, handler: Handler, life: Life) -> Handler:
        """Under a limit of less than a core, a handler that is always busy is held back."""
        by = life.stretch
        if by == 1.0:
            return handler
        said = f"limits.cpu of {life.cpu_limit:g} cores: start and handling take {by:g} × as long"
        self.notes.setdefault(said)
        return replace(
            handler,
            per_record=slowed(handler.per_record, by),
            per_batch=slowed(handler.per_batch, by),
        )

    def _handler(
        self, written: Written, settings: Written | None, config: dict[str, Any]
    ) -> Handler:
        block: Written | None = written.get("handler")
        is_auto_set = settings is not None and "enable.auto.commit" in settings.values
        commit = block.get("commit") if block is not None else None
        if commit is None and not config["enable_auto_commit"]:
            commit = "none"
            assert settings is not None
            self.out.add(
                place_in(settings, "enable.auto.commit"),
                "enable.auto.commit is false, and how the application commits then is not said"
                " — add handler: {commit: sync-batch}, or async, sync-record, none",
            )
        elif commit == "auto" and not config["enable_auto_commit"] and block is not None:
            self.out.add(
                block.at["commit"],
                "commit: auto goes against enable.auto.commit: false — leave one of the two out",
            )
        elif commit not in (None, "auto") and not is_auto_set:
            config["enable_auto_commit"] = False
        return build(Handler, block) if commit != "none" else build(Handler, block, commit="none")

    def _subscription(self, written: Written) -> tuple[str, ...]:
        topics = written.get("topics")
        pattern = written.get("pattern")
        if pattern is not None:
            if why := bad_pattern(pattern):
                self.out.add(written.at["pattern"], why)
            elif not any(map(matcher_of(pattern).matches, self.topics)):
                self.out.add(
                    written.at["pattern"],
                    f"'{shorten(pattern)}' matches no topic of this story — the topics are "
                    f"{', '.join(list(self.topics)[:8])}",
                )
            return ()
        if topics is None:
            return tuple(self.topics)
        for topic in topics:
            if topic not in self.topics:
                self.out.add(
                    written.at["topics"],
                    f"There is no topic '{shorten(topic)}' — "
                    f"{or_nearest(topic, self.topics, 'write it under topics:')}",
                )
        return tuple(dict.fromkeys(topics))

    # --------------------------------------------------------------------------------------- checks


_CLUSTER_DEFAULT = Cluster()
_INSTEAD_SAID = {
    "session.timeout.ms": "the brokers' group.consumer.session.timeout.ms decides",
    "heartbeat.interval.ms": "the brokers' group.consumer.heartbeat.interval.ms decides",
    STRATEGY: "the broker assigns, by group.remote.assignor",
}


MOST_STEPS = 200_000  # of all topics' rates together


def _listener(written: Written | None) -> Listener:
    if written is None:
        return Listener()
    values = {written.section.fields[k].target: v for k, v in written.values.items()}
    for name in ("revoked", "assigned", "lost"):
        if name in values:
            values[name] = Cost(*(draw or NOTHING for draw in values[name]))
    return Listener(**values)


def _lay(base: Written, over: Written) -> Written:
    """A layer upon the ones below; subscribing by pattern replaces subscribing by name, and the
    other way round.
    """
    made = merge(base, over)
    for one, other in (("pattern", "topics"), ("topics", "pattern")):
        if one in over.values and other in base.values and other not in over.values:
            made = Written(
                made.node,
                made.section,
                {k: v for k, v in made.values.items() if k != other},
                made.at,
                made.is_bad,
                made.unset,
            )
    return made


def _protocol(written: Written) -> str:
    settings = written.get("config")
    return str(settings.get("group.protocol", "")) if settings is not None else ""


def _with_config(written: Written, values: dict[str, Any]) -> Written:
    settings = written.get("config")
    node = settings.node if settings is not None else written.node
    at = (
        {
            k: v
            for k, v in settings.at.items()
            if k not in values or values[k] == settings.values.get(k, values[k])
        }
        if settings is not None
        else {}
    )
    is_bad, unset = (settings.is_bad, settings.unset) if settings is not None else (False, {})
    return Written(
        written.node,
        written.section,
        {**written.values, "config": Written(node, CONFIG, values, at, is_bad, unset)},
        written.at,
        written.is_bad,
        written.unset,
    )


_NAMES: dict[type, tuple[str, ...]] = {}  # of fields, by class


def _values_of(thing: Any) -> dict[str, Any]:
    cls = type(thing)
    names = _NAMES.get(cls)
    if names is None:
        names = _NAMES[cls] = tuple(cls.__dataclass_fields__)
    return {name: getattr(thing, name) for name in names}


def _with(cls: Any, thing: Any, values: dict[str, Any]) -> Any:
    """dataclasses.replace, without its price."""
    return cls(**{**_values_of(thing), **values})
