"""The brokers of a story as written → as meant, and what they would not start with."""

from __future__ import annotations

from dataclasses import replace

from rebalsim.domain.client import BrokerConfig
from rebalsim.domain.machine import Machine
from rebalsim.domain.scenario import (
    Broker,
    Cluster,
    Link,
    Network,
)
from rebalsim.scenario.document import Node
from rebalsim.scenario.kinds import Written, merge
from rebalsim.scenario.member_checks import place_in
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.profiles import (
    BROKERS,
    DEFAULT_KAFKA,
    BrokerProfile,
    broker_profile,
)
from rebalsim.scenario.quantities import say_us
from rebalsim.scenario.quick_replace import replaced
from rebalsim.scenario.variants import Variant

# Groups' settings that brokers hold between a least and a greatest value, by how their keys begin
# and end: group.consumer.min.session.timeout.ms. Of the classic protocol's session the members
# themselves say how long it is.
_BOUNDED = (
    ("group.", "session.timeout.ms"),
    ("group.consumer.", "session.timeout.ms"),
    ("group.consumer.", "heartbeat.interval.ms"),
    ("group.consumer.", "assignment.interval.ms"),
    ("group.streams.", "session.timeout.ms"),
    ("group.streams.", "heartbeat.interval.ms"),
    ("group.streams.", "assignment.interval.ms"),
)


def _bounds_of(config: BrokerConfig, prefix: str, name: str) -> tuple[int, int | None, int]:
    """The least value of such a setting, its value (None where brokers have none), the greatest."""
    before, after = prefix.replace(".", "_"), name.replace(".", "_").removesuffix("ms") + "us"
    return (
        getattr(config, f"{before}min_{after}"),
        getattr(config, f"{before}{after}", None),
        getattr(config, f"{before}max_{after}"),
    )


class ClusterResolver:
    """The part of resolving that is about brokers, and where problems and notes are collected."""

    def __init__(self, story: Written, variant: Variant, code_from: str, out: Problems) -> None:
        self.story = story
        self.variant = variant
        self.code_from = code_from
        self.out = out
        self.notes: dict[str, None] = {}
        # the overlay plays a story of upgrades with what they lead to, from the beginning
        self.is_at_goal = False
        # the latter follows the script's upgrades
        self.broker_profile = self.brokers_now = self._kafka()
        self.cluster = Cluster()

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
        profile, layer = self.broker_profile, self.variant.layer
        stock = Cluster(kafka=profile.version, config=profile.config, habits=profile.habits)
        over: Written | None = layer.get("cluster") if layer is not None else None
        written: Written | None = self.story.get("cluster") or over
        if written is None:
            return stock
        if over is not None and written is not over:
            written = merge(written, over)
        return replace(
            stock,
            brokers=_brokers(written),
            config=self._config(written),
            network=_network(written),
            log_append=written.get("log_append", stock.log_append),
            replication=written.get("replication", stock.replication),
        )

    def _config(self, written: Written) -> BrokerConfig:
        config = self.broker_profile.config
        if "config" not in written:
            return config
        settings = written.get("config")
        values = {settings.section.fields[k].target: v for k, v in settings.values.items()}
        selector = values.get("replica_selector_class", "")
        if selector and "." not in selector:
            values["replica_selector_class"] = f"org.apache.kafka.common.replica.{selector}"
        made: BrokerConfig = replaced(config, values)
        self._check_brokers(made, settings)
        self._check_known_to_brokers(settings)
        return made

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
        for prefix, name in _BOUNDED:
            self._check_bounds(written, (prefix, name), _bounds_of(c, prefix, name))
        if c.group_streams_num_standby_replicas > c.group_streams_max_standby_replicas:
            keys = ("group.streams.num.standby.replicas", "group.streams.max.standby.replicas")
            self.out.add(
                place_in(written, *keys),
                f"{keys[0]} {c.group_streams_num_standby_replicas} is above {keys[1]} "
                f"{c.group_streams_max_standby_replicas} — a broker would not start; lower the one "
                "or raise the other",
            )
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


def _brokers(written: Written) -> tuple[Broker, ...]:
    brokers = tuple(Broker(number, rack) for number, rack in written.get("brokers", ((0, ""),)))
    racks = written.get("racks")
    if not racks:
        return brokers
    return tuple(Broker(b.id, b.rack or racks[i % len(racks)]) for i, b in enumerate(brokers))


def _network(written: Written) -> Network:
    links = tuple(
        Link(link.get("between")[0], link.get("between")[1], link.get("latency"))
        for link in written.get("links", ())
        if not link.is_bad
    )
    latency, cross_rack = written.get("latency"), written.get("cross_rack")
    if latency is None:
        return Network(cross_rack=cross_rack, links=links)
    return Network(latency=latency, cross_rack=cross_rack, links=links)
