"""A story moved to the consumer protocol: the same world before, during and after, and what becomes of its settings.

Works on the file's own text: comments are lost, values stay as written. What judges the old story (budgets, expectations, its script) is left out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from rebalsim.domain.client import BrokerConfig
from rebalsim.domain.scenario import Scenario
from rebalsim.scenario.document import Mapping, Node, Scalar, Sequence, Source, decode, parse
from rebalsim.scenario.language import CLASSIC_ONLY
from rebalsim.scenario.load import story_of
from rebalsim.scenario.profiles import DEFAULT_KAFKA, broker_profile, number_of
from rebalsim.scenario.quantities import say_us
from rebalsim.scenario.story import Story

_NOT_OF_THE_WORLD = ("replay", "budgets", "expect", "variants", "runs", "description", "random_faults")
_MOVED = {
    "session.timeout.ms": ("session_timeout_us", "group.consumer.session.timeout.ms", "group_consumer_session_timeout_us"),
    "heartbeat.interval.ms": ("heartbeat_interval_us", "group.consumer.heartbeat.interval.ms", "group_consumer_heartbeat_interval_us"),
}
DEPLOY = {"down": "10s", "ready_when": "assigned", "settle": "20s", "config": {"group.protocol": "consumer"}}


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of a setting: refused | ignored | moved, with its effective value before and after."""

    key: str
    fate: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Road:
    """The story under both protocols, and the deploy from one to the other."""

    before: Scenario
    after: Scenario
    during: Scenario
    text: str                         # of the migration scenario
    fates: tuple[Fate, ...]
    steps: tuple[str, ...]            # what must be done first


def road_of(raw: bytes, name: str, variant: str = "") -> Road:
    """How this story gets to the consumer protocol. Raises ProblemsError where the story itself is wrong."""
    story = story_of(raw, name).check()
    chosen = variant or next((v for v in story.variants if _is_classic(story, v)), story.variants[0])
    before = story.scenario(chosen)
    root = _root(raw, name)
    steps = []
    world = {key: node for key, node in root.entries.items() if key not in _NOT_OF_THE_WORLD}
    kafka = before.cluster.kafka
    profile = broker_profile(kafka)
    if isinstance(profile, str) or not profile.has_consumer_protocol:
        steps.append(f"Upgrade the brokers from Kafka {kafka} to 4.0 or later: before, they do not know the consumer protocol. "
                     f"What follows assumes {DEFAULT_KAFKA}.")
        kafka = DEFAULT_KAFKA
    consumers = [c for g in before.groups for c in g.consumers]
    versions = list(dict.fromkeys(c.client_version for c in consumers if c.client == "java" and number_of(c.client_version) < (4, 0)))
    if versions:
        steps.append(f"Upgrade the clients (Java {', '.join(versions)}) to Java 4.0 or later.")
    left_out = ("client_version",) if versions else ()
    lines = [f'kafka: "{kafka}"', *[f"{key}: {_flow(node, left_out)}" for key, node in world.items() if key not in ("kafka", "script", "horizon", "title")]]
    script = f"script: {_flow(world['script'])}" if "script" in world else ""
    horizon = f"horizon: {_flow(world['horizon'])}" if "horizon" in world else ""
    same = "\n".join([*lines, *filter(None, (script, horizon)), "replay: [consumer]"])
    after = story_of(same.encode(), name).scenario("consumer")
    groups = [g.name for g in before.groups]
    members = max(len(g.consumers) for g in before.groups)
    deploys = [
        {"at": f"{1 + 2 * i}m", "id": f"to-consumer-{i + 1}", "deploy": {**({"group": group} if len(groups) > 1 else {}), **DEPLOY}}
        for i, group in enumerate(groups)
    ]
    minutes = 3 + 2 * len(groups) + members * len(groups)
    text = "\n".join([
        f"title: {json.dumps(before.title + ': to the consumer protocol')}", *lines, f"script: {json.dumps(deploys)}", "replay: as-written",
        f"horizon: {minutes}m", "",
    ])
    during = story_of(text.encode(), "the migration scenario").check().scenario()
    return Road(before, after, during, text, _fates(before, after), tuple(steps))


def _is_classic(story: Story, variant: str) -> bool:
    return all(c.config.group_protocol == "classic" for g in story.scenario(variant).groups for c in g.consumers)


def _fates(before: Scenario, after: Scenario) -> tuple[Fate, ...]:
    old, new = before.groups[0].consumers[0].config, after.groups[0].consumers[0].config
    brokers: BrokerConfig = after.cluster.config
    found = [
        Fate(key, "refused by clients, moved to the brokers", say_us(getattr(old, field)), f"{say_us(getattr(brokers, broker))} ({there})")
        for key, (field, there, broker) in _MOVED.items()
    ]
    assignors = ", ".join(old.partition_assignment_strategy)
    found.append(Fate(CLASSIC_ONLY[2], "refused by clients, moved to the brokers", assignors,
                      f"{new.group_remote_assignor or brokers.group_consumer_assignors[0]} (group.remote.assignor, else group.consumer.assignors)"))
    initial = say_us(before.cluster.config.group_initial_rebalance_delay_us)
    found.append(Fate("group.initial.rebalance.delay.ms", "silently ignored", initial, "none: the first to join gets everything"))
    interval = brokers.group_consumer_assignment_interval_us
    since_4_3 = number_of(after.cluster.kafka) >= (4, 3)
    found.append(Fate("group.consumer.assignment.interval.ms", "new on the brokers", "none", say_us(interval) if since_4_3 else "none before Kafka 4.3"))
    found.append(Fate("max.poll.interval.ms", "kept", say_us(old.max_poll_interval_us), say_us(new.max_poll_interval_us)))
    return tuple(found)


def _root(raw: bytes, name: str) -> Mapping:
    text, _ = decode(raw, name)
    root, _ = parse(text, Source(name, text))
    assert isinstance(root, Mapping)                   # checked by story_of
    return root


def _flow(node: Node, left_out: tuple[str, ...] = ()) -> str:
    """The node in YAML's flow style, scalars as they were written."""
    if isinstance(node, Mapping):
        return "{" + ", ".join(f"{json.dumps(key)}: {_flow(value, left_out)}" for key, value in node.entries.items() if key not in left_out) + "}"
    if isinstance(node, Sequence):
        return "[" + ", ".join(_flow(item, left_out) for item in node.items) + "]"
    assert isinstance(node, Scalar)
    is_plain = not node.is_quoted and node.text and not any(c in node.text for c in ",[]{}#&*!|>%@`\"'\n") and ": " not in node.text
    return node.text if is_plain else json.dumps(node.text, ensure_ascii=False)
