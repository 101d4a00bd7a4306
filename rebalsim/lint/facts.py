"""Facts of a scenario that several rules ask for: who is in a group, which assignor it will run,
how many partitions a member holds.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

from rebalsim.domain.consumer import Consumer
from rebalsim.domain.java_hash import hash_ordered
from rebalsim.domain.scenario import Group, Scenario, Topic
from rebalsim.domain.script import (
    Join,
    Leave,
    RollingBounce,
    Scale,
    SetRate,
)
from rebalsim.lint.figures import mean
from rebalsim.words.lists import first_to_last
from rebalsim.words.times import say_duration

K = TypeVar("K", bound=Hashable)

COOPERATIVE = "cooperative-sticky"


# ------------------------------------------------------------------------------------- who there is


class _Cast:
    """Who is in a scenario, found out once for all rules."""

    __slots__ = ("by_name", "everyone", "groups", "scenario", "starting")

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        # by name: comparing namesakes is cheaper than hashing everybody
        namesakes: dict[str, list[Consumer]] = {}
        for consumer in _told(scenario):
            same = namesakes.setdefault(consumer.name, [])
            if consumer not in same:
                same.append(consumer)
        self.everyone = [consumer for same in namesakes.values() for consumer in same]
        self.by_name = {name: same[0] for name, same in namesakes.items()}
        self.groups = {g.name: g for g in scenario.groups}
        self.starting = {
            g.name: sum(1 for c in g.consumers if c.starts_at is not None) for g in scenario.groups
        }


_casts: list[_Cast] = []  # the last scenario's, since rule after rule asks about the same one


def _cast(scenario: Scenario) -> _Cast:
    if not _casts or _casts[0].scenario is not scenario:
        _casts[:] = [_Cast(scenario)]
    return _casts[0]


def everyone(scenario: Scenario) -> list[Consumer]:
    """Every consumer as it is ever configured: at the start, as it joins later, and as a deploy
    brings it back. Without repetitions.
    """
    return _cast(scenario).everyone


def _told(scenario: Scenario) -> Iterator[Consumer]:
    for group in scenario.groups:
        yield from group.consumers
    for action in scenario.script:
        deed = action.deed
        if isinstance(deed, Join):
            yield from deed.consumers
        elif isinstance(deed, Scale):
            yield from deed.joiners
        elif isinstance(deed, RollingBounce):
            yield from deed.surge_consumers
            yield from deed.deploy.consumers


def named(scenario: Scenario, names: Iterable[str]) -> list[Consumer]:
    """The consumers of these names as they are first configured, those that exist."""
    known = _cast(scenario).by_name
    return [known[name] for name in names if name in known]


def alike(
    consumers: Iterable[Consumer], key: Callable[[Consumer], K]
) -> Iterator[tuple[K, list[Consumer]]]:
    """Consumers for whom the key is the same, together: twelve pods with one mistake are one
    finding.
    """
    groups: dict[K, list[Consumer]] = {}
    for consumer in consumers:
        groups.setdefault(key(consumer), []).append(consumer)
    yield from groups.items()


def work_of(consumer: Consumer) -> tuple[str, tuple[str, ...], str | None]:
    """What decides on a member's share of the work. For `alike`: figures that hang on the share
    hold for all with the same.
    """
    return consumer.group, consumer.topics, consumer.pattern


def say_names(consumers: Iterable[Consumer | str]) -> str:
    """`c0`, `c0 and c1`, or `c0 … c11 (12 consumers)`."""
    names = list(dict.fromkeys(c if isinstance(c, str) else c.name for c in consumers))
    return first_to_last(names, 2, "consumers") if names else ""


def at_start(group: Group) -> list[Consumer]:
    """The group's consumers that start by themselves."""
    return [c for c in group.consumers if c.starts_at is not None]


def group_of(scenario: Scenario, name: str) -> Group:
    """The group of this name; an empty one where the script names a group that has no members
    yet.
    """
    return _cast(scenario).groups.get(name) or Group(name, ())


def peak_members(scenario: Scenario, group: Group) -> int:
    """The most members that the group is meant to have: a bounce's surge is not counted, it goes
    again.
    """
    now = most = len(at_start(group))
    members = {c.name: True for c in group.consumers}
    for action in scenario.script:
        deed = action.deed
        if isinstance(deed, Join):
            joining = [c for c in deed.consumers if c.group == group.name]
            members.update(dict.fromkeys((c.name for c in joining), True))
            now += len(joining)
        elif isinstance(deed, Scale) and deed.group == group.name:
            now = deed.to
        elif isinstance(deed, Leave):
            now -= sum(1 for name in deed.consumers if name in members)
        most = max(most, now)
    return most


def usual_members(scenario: Scenario, consumer: Consumer) -> int:
    """How many members share the work with this consumer, as the group starts (at least one)."""
    return max(1, _cast(scenario).starting.get(consumer.group, 0))


# ------------------------------------------------------------------------------- rules of the group


def is_static(consumer: Consumer) -> bool:
    return consumer.config.group_instance_id is not None


def is_classic(consumer: Consumer) -> bool:
    return not consumer.config.uses_consumer_protocol


def holds_up(consumer: Consumer) -> bool:
    """Does a busy application keep its group waiting? Not under the consumer protocol, nor where
    the client rebalances by itself.
    """
    return is_classic(consumer) and consumer.awaits_poll


def protocol_of(consumer: Consumer) -> str:
    """How this client takes part: consumer, cooperative, or eager. The classic client takes the
    highest that all its assignors allow.
    """
    if not is_classic(consumer):
        return "consumer"
    listed = consumer.config.partition_assignment_strategy
    return "cooperative" if listed and all(name == COOPERATIVE for name in listed) else "eager"


def session_us(scenario: Scenario, consumer: Consumer) -> int:
    """The session timeout that the coordinator applies: the client's own, or the broker's under
    the consumer protocol.
    """
    return (
        consumer.config.session_timeout_us
        if is_classic(consumer)
        else scenario.cluster.config.group_consumer_session_timeout_us
    )


def session_key(consumer: Consumer) -> str:
    """Whose setting that is: the client's, or the brokers' under the consumer protocol."""
    return "session.timeout.ms" if is_classic(consumer) else "group.consumer.session.timeout.ms"


def heartbeat_us(scenario: Scenario, consumer: Consumer) -> int:
    """The heartbeat interval in force, likewise."""
    return (
        consumer.config.heartbeat_interval_us
        if is_classic(consumer)
        else scenario.cluster.config.group_consumer_heartbeat_interval_us
    )


def selected_assignor(consumers: list[Consumer]) -> str:
    """The assignor that the coordinator will choose: each member votes for its first that all
    support (ClassicGroup.selectProtocol).

    Empty: none in common.
    """
    lists = [c.config.partition_assignment_strategy for c in consumers if is_classic(c)]
    if not lists:
        return ""
    common = [name for name in lists[0] if all(name in listed for listed in lists)]
    if not common:
        return ""
    votes: dict[str, int] = {}
    for listed in lists:
        choice = next(name for name in listed if name in common)
        votes[choice] = votes.get(choice, 0) + 1
    most = max(votes.values())
    # a tie: the HashMap's first
    return next(name for name in hash_ordered(votes) if votes[name] == most)


# ---------------------------------------------------------------------------------- topics and work


def topic_named(scenario: Scenario, name: str) -> Topic | None:
    return next((t for t in scenario.topics if t.name == name), None)


def subscribed(scenario: Scenario, consumer: Consumer) -> list[Topic]:
    """The topics that this consumer reads from the start."""
    return [t for t in scenario.topics if t.exists_from_start and consumer.subscribes_to(t.name)]


def topics_read_by(scenario: Scenario, consumers: Sequence[Consumer]) -> list[Topic]:
    """The topics that any of these consumers reads from the start."""
    return [
        t
        for t in scenario.topics
        if t.exists_from_start and any(c.subscribes_to(t.name) for c in consumers)
    ]


def partitions_of_group(scenario: Scenario, group: Group) -> int:
    """Partitions that the group reads in all."""
    return sum(t.partitions for t in topics_read_by(scenario, group.consumers))


def share_of(scenario: Scenario, consumer: Consumer) -> int:
    """How many partitions a member holds when they are spread evenly (rounded up)."""
    total = sum(t.partitions for t in subscribed(scenario, consumer))
    return -(-total // usual_members(scenario, consumer))


def average_rate(scenario: Scenario, topic: Topic) -> float:
    """Records a second into the topic, over the whole story."""
    horizon = max(1, scenario.horizon_us)
    steps = [(s.at_us, s.per_second, s.is_ramp) for s in topic.rate]
    steps += [
        (a.at_us, a.deed.per_second, False)
        for a in scenario.script
        if isinstance(a.deed, SetRate)
        and a.deed.topic == topic.name
        and a.after is None
        and a.when is None
    ]
    steps.sort(key=lambda s: s[0])
    if not steps:
        return 0.0
    records, rate, since = 0.0, 0.0, 0
    for at, per_second, is_ramp in steps:
        until = min(max(0, at), horizon)
        records += (until - since) * ((rate + per_second) / 2 if is_ramp else rate)
        rate, since = per_second, until
    records += (horizon - since) * rate
    return records / horizon


def peak_rate(scenario: Scenario, topic: Topic) -> float:
    """The most records a second that ever arrive at the topic."""
    rates = [s.per_second for s in topic.rate]
    rates += [
        a.deed.per_second
        for a in scenario.script
        if isinstance(a.deed, SetRate) and a.deed.topic == topic.name
    ]
    return max(rates, default=0.0)


def full_batch(scenario: Scenario, consumer: Consumer) -> int:
    """How many records one poll may return after the group stood still: max.poll.records, less
    where so many cannot be there.

    They cannot where too few arrive within max.poll.interval.ms, or where a fetch holds fewer
    (max.partition.fetch.bytes).
    """
    config = consumer.config
    members = usual_members(scenario, consumer)
    arrived = fetched = 0.0
    for topic in subscribed(scenario, consumer):
        share = topic.partitions / members
        arrived += (
            peak_rate(scenario, topic) / members * config.max_poll_interval_us / 1e6
            + topic.backlog * share
        )
        fetched += max(1.0, share) * max(
            1, config.max_partition_fetch_bytes // max(1, topic.record_bytes)
        )
    return int(min(config.max_poll_records, arrived, fetched))


def service_us(scenario: Scenario, consumer: Consumer) -> float:
    """What one record costs this consumer when it reads as fast as it can."""
    from rebalsim.lint.figures import usual_batch_us

    records = max(1, consumer.config.max_poll_records)
    return usual_batch_us(scenario, consumer.handler, records) / records


def busy_share(scenario: Scenario, consumer: Consumer) -> float:
    """Which share of its time this member would be busy with as many partitions as any gets when
    they are spread evenly; above 1 it falls behind.
    """
    topics = subscribed(scenario, consumer)
    partitions = sum(t.partitions for t in topics)
    if not partitions:
        return 0.0
    return (
        share_of(scenario, consumer)
        * sum(average_rate(scenario, t) for t in topics)
        / partitions
        * service_us(scenario, consumer)
        / 1e6
    )


# ------------------------------------------------------------------------------------------ words


def say(us: float) -> str:
    """A duration for a message."""
    return say_duration(round(us))


def say_setting(us: float) -> str:
    """A duration as one would write it into a scenario: `45s`, `300ms`, `5m`."""
    whole = max(1, round(us))
    for unit, size in (("h", 3_600_000_000), ("m", 60_000_000), ("s", 1_000_000), ("ms", 1_000)):
        if whole % size == 0:
            return f"{whole // size}{unit}"
    return f"{-(-whole // 1_000)}ms"


def round_up(us: float, step_us: int = 1_000_000) -> int:
    """The next whole step at or above: suggestions are round numbers."""
    return int(-(-us // step_us)) * step_us


def mean_start_us(consumer: Consumer) -> float:
    return mean(consumer.life.start)
