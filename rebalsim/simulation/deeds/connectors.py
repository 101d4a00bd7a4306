"""Kafka Connect's connectors: created, deleted, changed, restarted, paused; and tasks that fail.

Each is a request to the cluster, which its leader takes when no rebalance is to come.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from rebalsim.connect.config_state import (
    ConnectorPut,
    ConnectorRemoved,
    Record,
    TargetPut,
    TasksPut,
)
from rebalsim.domain.connect import STOPPED
from rebalsim.domain.script import (
    CreateConnector,
    DeleteConnector,
    FailTask,
    ReconfigureConnector,
    RestartConnector,
    TargetConnector,
)
from rebalsim.scenario.script_words import say_deed

Carried = Generator[Any, Any, None]


def create(world: Any, name: str, deed: CreateConnector) -> Carried:
    """Its config is written; its worker makes the tasks' configs when it has started."""
    yield from _write(world, name, deed, deed.connector.name, [ConnectorPut(deed.connector)])


def delete(world: Any, name: str, deed: DeleteConnector) -> Carried:
    yield from _write(world, name, deed, deed.name, [ConnectorRemoved(deed.name)])


def reconfigure(world: Any, name: str, deed: ReconfigureConnector) -> Carried:
    yield from _write(world, name, deed, deed.connector.name, [ConnectorPut(deed.connector)])


def retarget(world: Any, name: str, deed: TargetConnector) -> Carried:
    """A connector that is stopped loses its tasks' configs too."""
    records: list[Record] = [TargetPut(deed.name, deed.target)]
    if deed.target == STOPPED:
        records.append(TasksPut(deed.name, 0, -1))
    yield from _write(world, name, deed, deed.name, records)


def restart(world: Any, name: str, deed: RestartConnector) -> Carried:
    """No rebalance: each worker restarts what it has of it."""
    world.script.tell(name, "RestartConnector", say_deed(deed), (deed.name,))
    world.clusters[deed.group].restart(deed.name)
    yield from ()


def fail(world: Any, name: str, deed: FailTask) -> Carried:
    task = f"{deed.connector}-{deed.number}"
    world.script.tell(name, "FailTask", say_deed(deed), (task,))
    world.clusters[deed.group].fail(deed.connector, deed.number)
    yield from ()


def _write(world: Any, name: str, deed: Any, target: str, records: list[Record]) -> Carried:
    world.script.tell(name, type(deed).__name__, say_deed(deed), (target,))
    world.clusters[deed.group].ask_leader(lambda leader: leader.write(records))
    yield from ()


CARRIED_OUT = {
    CreateConnector: create,
    DeleteConnector: delete,
    ReconfigureConnector: reconfigure,
    RestartConnector: restart,
    TargetConnector: retarget,
    FailTask: fail,
}
