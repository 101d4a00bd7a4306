"""Which client a consumer is: the one place where `group.protocol` and the library decide, for
consumers and for the coordinators of their groups.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from rebalsim.domain.consumer import Consumer as Spec
from rebalsim.domain.scenario import settings_in
from rebalsim.simulation.asynchronous.consumer import AsyncConsumer
from rebalsim.simulation.consumer import Consumer
from rebalsim.simulation.consumer_coordinator import ConsumerCoordinator
from rebalsim.simulation.coordinator import Coordinator
from rebalsim.simulation.threaded.consumer import ThreadedConsumer

if TYPE_CHECKING:
    from rebalsim.simulation.ports import World


def client_of(world: World, spec: Spec, index: int) -> Consumer:
    """The client that this consumer runs."""
    if spec.worker is not None:
        return cast(Consumer, _of_connect("worker").Worker(world, spec, index))
    return _kind_of(spec)(world, spec, index)


def clusters_of(world: World) -> dict[str, Any]:
    """The story's Connect clusters, by the group of their workers."""
    if not world.scenario.connect:
        return {}
    cluster = _of_connect("cluster").Cluster
    return {spec.group: cluster(world, spec) for spec in world.scenario.connect}


def _of_connect(name: str) -> Any:
    """By its name: a story without Kafka Connect loads none of it."""
    return import_module(f"rebalsim.simulation.workers.{name}")


def is_client_of(consumer: Consumer, spec: Spec) -> bool:
    """Does the consumer run the client that these settings ask for?"""
    return spec.worker is not None or type(consumer) is _kind_of(spec)


def _kind_of(spec: Spec) -> type[Consumer]:
    if spec.config.group_protocol == "consumer":
        return AsyncConsumer
    return ThreadedConsumer if spec.habits.runs_itself else Consumer


def coordinator_of(world: World, group: str, *args: Any) -> Coordinator:
    """The group's coordinator: if anybody in the story ever speaks the consumer protocol in this
    group, one that can be both.
    """
    speaks = any(config.uses_consumer_protocol for config in settings_in(world.scenario, group))
    kind: type[Coordinator] = ConsumerCoordinator if speaks else Coordinator
    if group in world.clusters:
        kind = _of_connect("coordinator").WorkersCoordinator
    return kind(world, group, *args)
