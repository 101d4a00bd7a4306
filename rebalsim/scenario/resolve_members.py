"""Members as written → as meant: a stack of layers becomes a consumer's settings. Equal stacks are
resolved once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rebalsim.domain.client import ClientConfig
from rebalsim.domain.commit_style import CommitStyle
from rebalsim.domain.connect import ConnectCluster
from rebalsim.domain.consumer import AssignorCost, Consumer, Cost, Handler, Listener, State
from rebalsim.domain.draws import NOTHING, Draw
from rebalsim.domain.habits import Habits
from rebalsim.domain.pattern import matcher_of
from rebalsim.domain.pods import Life
from rebalsim.domain.scenario import (
    Topic,
)
from rebalsim.scenario.config_language import CONFIG
from rebalsim.scenario.connect import worker_parts
from rebalsim.scenario.kinds import Named, Written, build
from rebalsim.scenario.member_checks import MemberChecks, place_in
from rebalsim.scenario.member_language import CONNECT
from rebalsim.scenario.patterns import bad_pattern
from rebalsim.scenario.pods import slowed
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.profiles import (
    DEFAULT_KAFKA,
    ClientProfile,
    first_with_consumer_protocol,
)
from rebalsim.scenario.quick_replace import values_of
from rebalsim.scenario.resolve_layers import LayerResolver, protocol_of
from rebalsim.scenario.roster import Roster, Seat, fill
from rebalsim.scenario.source import shorten
from rebalsim.scenario.streams import as_stream_thread
from rebalsim.scenario.variants import Variant
from rebalsim.words.nearest import or_nearest


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


class MemberResolver(LayerResolver):
    """The part of resolving that is about single members."""

    checks: MemberChecks

    def __init__(self, story: Written, variant: Variant, code_from: str, out: Problems) -> None:
        super().__init__(story, variant, code_from, out)
        # by stack of layers; a block equals only itself
        self.parts: dict[tuple[Written | None, ...], Parts] = {}
        self.topics: dict[str, Topic] = {}
        self.connect: tuple[ConnectCluster, ...] = ()

    def consumer(self, roster: Roster, seat: Seat, starts: bool = True) -> Consumer:
        """The seat's consumer as it would start now."""
        parts = self.parts_of(roster, seat)
        made = parts.rest["config"]
        if parts.instance_id is not None or "{" in parts.client_id or "{" in parts.client_rack:
            own = {
                "group_instance_id": parts.instance_id,
                "client_id": parts.client_id or None,
                "client_rack": parts.client_rack or None,
            }
            filled = {key: fill(text, seat) for key, text in own.items() if text is not None}
            made = ClientConfig(**{**parts.config, **filled})
        rest = {**parts.rest, "config": made}
        consumer = Consumer(
            name=seat.name,
            group=roster.group,
            process=seat.process,
            rack=seat.rack or parts.written.get("rack", ""),
            tags=_tags(parts.written.get("client.tag")),
            starts_at=parts.starts_at if starts else None,
            **rest,
        )
        return consumer if roster.streams is None else as_stream_thread(consumer)

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
        written = self._laid(seat)
        profile = self._client(written)
        written = self._for_client(written, profile)
        profile = self._new_enough(profile)
        settings: Written | None = written.get("config")
        config = values_of(profile.config)
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
            "habits": _habits(profile, config),
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

    def _laid(self, seat: Seat) -> Written:
        """The seat's layers upon each other, with the variant's word."""
        written = seat.layers[0]
        for layer in seat.layers[1:]:
            written = self._lay(written, layer)
        asks_itself = protocol_of(written) == "consumer"
        self.checks.own(written)
        written = self._as_variant(written)
        for layer in seat.deployed:
            written = self._lay(written, layer)
        # not after a deploy to the classic protocol
        is_consumers = self.variant.base == "consumer" and protocol_of(written) == "consumer"
        return self._for_consumer_protocol(written) if is_consumers and not asks_itself else written

    def _new_enough(self, profile: ClientProfile) -> ClientProfile:
        """Where a story is played at the goal of its upgrades: a client that speaks the protocol."""
        newer = first_with_consumer_protocol(profile.client)
        if not self.is_at_goal or profile.has_consumer_protocol or newer is None:
            return profile
        self.notes[
            f"{profile.client} {profile.version} is played as {newer.version}, which is the "
            "first that speaks the consumer protocol."
        ] = None
        return newer

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
            commit = CommitStyle.NONE
            assert settings is not None
            what = "enable.auto.commit is false, and how the application commits then is not said"
            write = "add handler: {commit: sync-batch}, or async, sync-record, none"
            self.out.add(place_in(settings, "enable.auto.commit"), f"{what} — {write}")
        elif commit is CommitStyle.AUTO and not config["enable_auto_commit"] and block is not None:
            what = "commit: auto goes against enable.auto.commit: false"
            self.out.add(block.at["commit"], f"{what} — leave one of the two out")
        elif commit not in (None, CommitStyle.AUTO) and not is_auto_set:
            config["enable_auto_commit"] = False
        if commit is not CommitStyle.NONE:
            return build(Handler, block)
        return build(Handler, block, commit=CommitStyle.NONE)

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


def _listener(written: Written | None) -> Listener:
    if written is None:
        return Listener()
    values = {written.section.fields[k].target: v for k, v in written.values.items()}
    for name in ("revoked", "assigned", "lost"):
        if name in values:
            values[name] = Cost(*(draw or NOTHING for draw in values[name]))
    return Listener(**values)


def _habits(profile: ClientProfile, config: dict[str, Any]) -> Habits:
    """The client's, with the rebalance timeout that it was given, where it has one of its own."""
    habits = profile.habits
    if not habits.has_rebalance_timeout:
        return habits
    return replace(habits, rebalance_timeout_us=config["rebalance_timeout_us"])


def _tags(written: Named | None) -> tuple[tuple[str, str], ...]:
    return () if written is None else tuple(written.values.items())
