"""A story moved to the consumer protocol: the same world before, during and after, and what becomes
of its settings.

Works on the file's own text: comments are lost, values stay as written. What judges the old
story (budgets, expectations, its script) is left out.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rebalsim.domain.client import BrokerConfig
from rebalsim.domain.consumer import Consumer
from rebalsim.domain.errors import InputError
from rebalsim.domain.scenario import Scenario
from rebalsim.scenario.config_language import CLASSIC_ONLY
from rebalsim.scenario.document import Mapping, Node, Scalar, Sequence, decode, parse
from rebalsim.scenario.load import story_of
from rebalsim.scenario.profiles import (
    DEFAULT_KAFKA,
    broker_profile,
    client_profile,
    first_with_consumer_protocol,
    say_client,
)
from rebalsim.scenario.quantities import say_us
from rebalsim.scenario.source import Source
from rebalsim.scenario.story import Story

_NOT_OF_THE_WORLD = (
    "replay",
    "budgets",
    "expect",
    "variants",
    "runs",
    "description",
    "random_faults",
)
_MOVED = {
    "session.timeout.ms": (
        "session_timeout_us",
        "group.consumer.session.timeout.ms",
        "group_consumer_session_timeout_us",
    ),
    "heartbeat.interval.ms": (
        "heartbeat_interval_us",
        "group.consumer.heartbeat.interval.ms",
        "group_consumer_heartbeat_interval_us",
    ),
}
DEPLOY = {
    "down": "10s",
    "ready_when": "assigned",
    "settle": "20s",
    "config": {"group.protocol": "consumer"},
}


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of a setting: refused | ignored | moved | kept | new, with its effective
    value before and after.
    """

    key: str
    fate: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Kind:
    """Members of one group that run the same client with the same settings."""

    group: str
    members: tuple[str, ...]
    client: str  # before, as in Java 3.9
    fates: tuple[Fate, ...]


@dataclass(frozen=True, slots=True)
class Migration:
    """The story under both protocols, and the deploy from one to the other."""

    before: Scenario
    after: Scenario
    during: Scenario
    text: str  # of the migration scenario
    kinds: tuple[Kind, ...]
    brokers: tuple[Fate, ...]
    steps: tuple[str, ...]  # what must be done first

    @property
    def fates(self) -> tuple[Fate, ...]:
        """What becomes of each setting, for all kinds of members."""
        return (*(fate for kind in self.kinds for fate in kind.fates), *self.brokers)


def migration_of(raw: bytes, name: str, variant: str = "") -> Migration:
    """How this story gets to the consumer protocol. Raises ProblemsError where the story itself
    is wrong.
    """
    story = story_of(raw, name).check()
    chosen = variant or next(
        (v for v in story.variants if _is_classic(story, v)), story.variants[0]
    )
    before = story.scenario(chosen)
    if any(group.streams is not None for group in before.groups):
        raise InputError(
            f"{name}: Kafka Streams does not speak the consumer protocol; it has one of its own — "
            "see rebalsim migrate --to streams"
        )
    kafka, of_brokers = _upgraded_brokers(before.cluster.kafka)
    old, of_clients = _upgraded_clients(before, name)
    lines, at_its_time = _world(_root(raw, name), kafka, ("client_version",) if old else ())
    same = "\n".join([*lines, *at_its_time, "replay: [consumer]"])
    after = story_of(same.encode(), name).scenario("consumer")
    text = _deploy_story(before, before.title or Path(name).name.split(".")[0], lines)
    during = story_of(text.encode(), "the migration scenario").check().scenario()
    steps = (*of_brokers, *of_clients)
    return Migration(
        before,
        after,
        during,
        text,
        _alike_members(before, after),
        _of_brokers(before, after),
        steps,
    )


def _upgraded_brokers(kafka: str) -> tuple[str, list[str]]:
    """The brokers' version from then on, and what must be done for that."""
    profile = broker_profile(kafka)
    if not isinstance(profile, str) and profile.has_consumer_protocol:
        return kafka, []
    return DEFAULT_KAFKA, [
        f"Upgrade the brokers from Kafka {kafka} to 4.0 or later, one after another: before, "
        "they do not know the consumer protocol (a script's "
        f"broker_upgrade plays that). What follows assumes {DEFAULT_KAFKA}."
    ]


def _upgraded_clients(before: Scenario, name: str) -> tuple[bool, list[str]]:
    """Whether any client is too old, and what must be done."""
    consumers = [c for g in before.groups for c in g.consumers]
    old = list(dict.fromkeys((c.client, c.client_version) for c in consumers if not _speaks(c)))
    steps = []
    for client, version in old:
        if (since := first_with_consumer_protocol(client)) is None:
            where = ", ".join(dict.fromkeys(c.group for c in consumers if c.client == client))
            raise InputError(
                f"{name}: {client} {version} (in {where}) does not speak the consumer protocol, "
                "and no version is known that does: its members can only stay classic, which a "
                "group may hold beside new ones — leave that group out of the story"
            )
        old_one = f"{say_client(client)} {version}"
        steps.append(f"Upgrade {old_one} to {since.version} or later, still classic.")
    newer = map(first_with_consumer_protocol, dict.fromkeys(c.client for c in consumers))
    asked = [profile.asks_first for profile in newer if profile and profile.asks_first]
    return bool(old), [*steps, *asked]


def _world(root: Mapping, kafka: str, left_out: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The story's own blocks that hold for the migration, too; and its script and horizon."""
    world = {key: node for key, node in root.entries.items() if key not in _NOT_OF_THE_WORLD}
    others = ("kafka", "script", "horizon", "title")
    lines = [f'kafka: "{kafka}"']
    lines += [_block(key, node, left_out) for key, node in world.items() if key not in others]
    return lines, [f"{key}: {_flow(world[key])}" for key in ("script", "horizon") if key in world]


def _deploy_story(before: Scenario, title: str, lines: list[str]) -> str:
    """The scenario in which group after group is restarted into the new protocol."""
    groups = [g.name for g in before.groups]
    members = max(len(g.consumers) for g in before.groups)
    deploys = [
        {
            "at": f"{1 + 2 * i}m",
            "id": f"to-consumer-{i + 1}",
            "deploy": {**({"group": group} if len(groups) > 1 else {}), **DEPLOY},
        }
        for i, group in enumerate(groups)
    ]
    return "\n".join(
        [
            f"title: {json.dumps(f'{title}: to the consumer protocol', ensure_ascii=False)}",
            "# Brokers and clients are those that speak both protocols; each member is then "
            "restarted once, and comes back under the new one.",
            *lines,
            "script:",
            *[f"  - {_plainly(deploy)}" for deploy in deploys],
            "replay: as-written",
            f"horizon: {3 + 2 * len(groups) + members * len(groups)}m",
            "",
        ]
    )


def _speaks(consumer: Consumer) -> bool:
    found = client_profile(consumer.client, consumer.client_version)
    return not isinstance(found, str) and found.has_consumer_protocol


def _is_classic(story: Story, variant: str) -> bool:
    return all(
        c.config.uses_classic_protocol for g in story.scenario(variant).groups for c in g.consumers
    )


def _alike_members(before: Scenario, after: Scenario) -> tuple[Kind, ...]:
    """The members, alike ones together, each with what becomes of its settings."""
    later = {c.name: c for g in after.groups for c in g.consumers}
    found: dict[tuple[object, ...], list[Consumer]] = {}
    for group in before.groups:
        for c in group.consumers:
            config = replace(
                c.config,
                group_instance_id="static" if c.config.group_instance_id else None,
                client_id="",
                client_rack="",
            )
            found.setdefault((group.name, c.client, c.client_version, config), []).append(c)
    return tuple(
        Kind(
            alike[0].group,
            tuple(c.name for c in alike),
            f"{say_client(alike[0].client)} {alike[0].client_version}",
            _fates(alike[0], later[alike[0].name], after.cluster.config),
        )
        for alike in found.values()
    )


def _fates(was: Consumer, is_: Consumer, brokers: BrokerConfig) -> tuple[Fate, ...]:
    old, new = was.config, is_.config
    if old.uses_consumer_protocol:
        return ()
    least, least_key = (
        say_us(brokers.group_consumer_min_session_timeout_us),
        "group.consumer.min.session.timeout.ms",
    )
    found = []
    for key, (field, there, broker) in _MOVED.items():
        after = say_us(getattr(brokers, broker))
        why = (
            f"; {least} is the least, unless the brokers' {least_key} is lowered"
            if key == "session.timeout.ms"
            and getattr(old, field) < brokers.group_consumer_min_session_timeout_us
            else ""
        )
        found.append(
            Fate(
                key,
                "refused by clients, moved to the brokers",
                say_us(getattr(old, field)),
                f"{after} ({there}{why})",
            )
        )
    assignor = new.group_remote_assignor or brokers.group_consumer_assignors[0]
    found.append(
        Fate(
            CLASSIC_ONLY[2],
            "refused by clients, moved to the brokers",
            ", ".join(old.partition_assignment_strategy),
            f"{assignor} (group.remote.assignor, else group.consumer.assignors)",
        )
    )
    found.append(
        Fate(
            "max.poll.interval.ms",
            "kept",
            say_us(old.max_poll_interval_us),
            say_us(new.max_poll_interval_us),
        )
    )
    if old.group_instance_id:
        found.append(
            Fate(
                "group.instance.id",
                "kept, and means something else",
                "a second one with the id fences the first",
                "it is refused itself, until the session of a first that was killed is over",
            )
        )
    return tuple(found)


def _of_brokers(before: Scenario, after: Scenario) -> tuple[Fate, ...]:
    config = after.cluster.config
    initial = say_us(before.cluster.config.group_initial_rebalance_delay_us)
    interval = (
        say_us(config.group_consumer_assignment_interval_us)
        if after.cluster.habits.has_assignment_interval
        else "none before Kafka 4.3"
    )
    return (
        Fate(
            "group.initial.rebalance.delay.ms",
            "silently ignored",
            initial,
            "none: the first to join gets everything",
        ),
        Fate("group.consumer.assignment.interval.ms", "new on the brokers", "none", interval),
    )


def _root(raw: bytes, name: str) -> Mapping:
    text, _ = decode(raw, name)
    root, _ = parse(text, Source(name, text))
    assert isinstance(root, Mapping)  # checked by story_of
    return root


def _plainly(value: Any) -> str:
    """What the migration adds, in YAML's flow style."""
    return (
        "{" + ", ".join(f"{_key(k)}: {_plainly(v)}" for k, v in value.items()) + "}"
        if isinstance(value, dict)
        else str(value)
    )


def _key(name: str) -> str:
    """A key as one would write it, in quotes where it is more than a word (or what YAML takes
    for something else).
    """
    is_plain = re.fullmatch(r"[a-zA-Z_][\w.\-]*", name, re.ASCII) and name.lower() not in (
        "y",
        "n",
        "yes",
        "no",
        "on",
        "off",
        "true",
        "false",
        "null",
    )
    return name if is_plain else json.dumps(name, ensure_ascii=False)


def _block(key: str, node: Node, left_out: tuple[str, ...]) -> str:
    """A key of the scenario with what stands under it, a line each."""
    if not isinstance(node, Mapping) or not node.entries:
        return f"{key}: {_flow(node, left_out)}"
    return "\n".join(
        [
            f"{key}:",
            *[
                f"  {_key(name)}: {_flow(value, left_out)}"
                for name, value in node.entries.items()
                if name not in left_out
            ],
        ]
    )


def _flow(node: Node, left_out: tuple[str, ...] = ()) -> str:
    """The node in YAML's flow style, scalars as they were written."""
    if isinstance(node, Mapping):
        return (
            "{"
            + ", ".join(
                f"{_key(key)}: {_flow(value, left_out)}"
                for key, value in node.entries.items()
                if key not in left_out
            )
            + "}"
        )
    if isinstance(node, Sequence):
        return "[" + ", ".join(_flow(item, left_out) for item in node.items) + "]"
    assert isinstance(node, Scalar)
    is_plain = (
        not node.is_quoted
        and node.text
        and not any(c in node.text for c in ",[]{}#&*!|>%@`\"'\n")
        and ": " not in node.text
    )
    return node.text if is_plain else json.dumps(node.text, ensure_ascii=False)
