"""Small worlds to judge: one group on one topic, with just the settings that a test is about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rebalsim.domain.client import BrokerConfig, ClientConfig
from rebalsim.domain.consumer import Consumer, Handler, Listener, State
from rebalsim.domain.draws import Draw, constantly
from rebalsim.domain.instants import SECOND
from rebalsim.domain.pods import Life
from rebalsim.domain.scenario import Cluster, Group, RateStep, Scenario, Topic
from rebalsim.domain.script import Action

COOPERATIVE = ("cooperative-sticky",)


def s(seconds: float) -> int:
    return round(seconds * SECOND)


def every(seconds: float) -> Draw:
    return constantly(s(seconds))


def consumer(
    name: str = "c0", group: str = "g", topics: tuple[str, ...] = ("t",), **settings: Any
) -> Consumer:
    """Config keys by their field names; whatever else a Consumer has, too."""
    config = {k: settings.pop(k) for k in list(settings) if k in ClientConfig.__dataclass_fields__}
    config.setdefault("partition_assignment_strategy", COOPERATIVE)
    return Consumer(name, group, topics=topics, config=ClientConfig(**config), **settings)


def members(count: int, is_static: bool = False, **settings: Any) -> tuple[Consumer, ...]:
    return tuple(
        consumer(f"c{n}", **({"group_instance_id": f"id-{n}"} if is_static else {}), **settings)
        for n in range(count)
    )


def topic(name: str = "t", partitions: int = 12, per_second: float = 600.0, **more: Any) -> Topic:
    return Topic(name, partitions, rate=(RateStep(0, per_second),), **more)


def world(
    *consumers: Consumer,
    script: tuple[Any, ...] = (),
    topics: tuple[Topic, ...] = (),
    broker: BrokerConfig | None = None,
    **more: Any,
) -> Scenario:
    """A scenario of these consumers, grouped by their groups; deeds in the script happen at a
    minute unless they are Actions.
    """
    groups: dict[str, list[Consumer]] = {}
    for one in consumers:
        groups.setdefault(one.group, []).append(one)
    actions = tuple(a if isinstance(a, Action) else Action(a, at_us=s(60), line=30) for a in script)
    cluster = more.pop("cluster", Cluster())
    if broker is not None:
        cluster = replace(cluster, config=broker)
    return Scenario(
        topics=topics or (topic(),),
        groups=tuple(Group(name, tuple(who)) for name, who in groups.items()),
        script=actions,
        cluster=cluster,
        file="story.yaml",
        **more,
    )


class Story:
    """Variants by name, as the scenario room's Story gives them."""

    def __init__(self, **scenarios: Scenario) -> None:
        self._scenarios = {
            name.replace("_", "-"): replace(given, variant=name.replace("_", "-"))
            for name, given in scenarios.items()
        }

        self.variants = tuple(self._scenarios)
        self.file = "story.yaml"
        self.source_lines = tuple(f"line {n}" for n in range(1, 61))

    def scenario(self, variant: str = "") -> Scenario:
        return self._scenarios[variant or self.variants[0]]

    def says(self, consumer: str, key: str, variant: str = "") -> bool:
        return True

    def place_of(
        self, kind: str, name: str = "", key: str = "", variant: str = ""
    ) -> tuple[int, int, str, int]:
        return (
            {"consumer": 10, "group": 9, "topic": 5, "cluster": 3}.get(kind, 1),
            1,
            f"{key}: …",
            len(key),
        )


__all__ = [
    "Handler",
    "Life",
    "Listener",
    "State",
    "Story",
    "consumer",
    "every",
    "members",
    "s",
    "topic",
    "world",
]
