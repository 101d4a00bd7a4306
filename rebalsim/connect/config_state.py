"""The config topic: its records, and the state of the cluster's connectors as far as they were read.

An offset here is one past the last record read, as Connect counts; -1 before the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rebalsim.domain.connect import STARTED, Connector


@dataclass(frozen=True, slots=True)
class ConnectorPut:
    """A connector's config, its first or a changed one."""

    connector: Connector
    records: int = 1


@dataclass(frozen=True, slots=True)
class ConnectorRemoved:
    name: str
    records: int = 2  # its config and its target state


@dataclass(frozen=True, slots=True)
class TasksPut:
    """A whole set of task configs, and the record that commits it."""

    name: str
    count: int
    revision: int = 0

    @property
    def records(self) -> int:
        return self.count + 1


@dataclass(frozen=True, slots=True)
class TargetPut:
    """The state that a connector shall be in."""

    name: str
    target: str
    records: int = 1


@dataclass(frozen=True, slots=True)
class KeyPut:
    """A session key for the workers' requests to each other."""

    records: int = 1


@dataclass(frozen=True, slots=True)
class TaskCountPut:
    """Exactly-once sources: the former tasks' producers are shut out, so many are let in."""

    name: str
    count: int
    records: int = 1


Record = ConnectorPut | ConnectorRemoved | TasksPut | TargetPut | KeyPut | TaskCountPut


@dataclass(frozen=True, slots=True)
class ConnectorState:
    """One connector as it is configured."""

    connector: Connector
    tasks: int = 0
    tasks_revision: int = -1  # which config its tasks were made of; -1: none were
    target: str = STARTED
    generation: int = 0  # how often task configs were put
    counted: int = -1  # tasks of the last set whose producers were let in; -1: none ever were
    awaits_fencing: bool = False  # task configs came since


@dataclass(frozen=True, slots=True)
class ConfigState:
    """Everything that the topic says up to an offset."""

    offset: int = -1
    connectors: Mapping[str, ConnectorState] = field(default_factory=dict)
    has_key: bool = False

    @property
    def tasks_of(self) -> dict[str, int]:
        return {name: state.tasks for name, state in self.connectors.items()}

    def wants_tasks(self, connector: Connector) -> bool:
        """Would this connector, asked now, make other task configs than there are?"""
        state = self.connectors.get(connector.name)
        return state is not None and (
            state.tasks != connector.tasks_max or state.tasks_revision != connector.revision
        )


UNREAD = ConfigState()


def applied(state: ConfigState, record: Record) -> ConfigState:
    """The state with one more record."""
    connectors = dict(state.connectors)
    if isinstance(record, ConnectorPut):
        name = record.connector.name
        known = connectors.get(name)
        connectors[name] = (
            replace(known, connector=record.connector)
            if known is not None
            else ConnectorState(record.connector)
        )
    elif isinstance(record, ConnectorRemoved):
        connectors.pop(record.name, None)
    elif isinstance(record, TasksPut) and record.name in connectors:
        connectors[record.name] = replace(
            connectors[record.name],
            tasks=record.count,
            tasks_revision=record.revision,
            generation=connectors[record.name].generation + 1,
            awaits_fencing=True,
        )
    elif isinstance(record, TaskCountPut) and record.name in connectors:
        connectors[record.name] = replace(
            connectors[record.name], counted=record.count, awaits_fencing=False
        )
    elif isinstance(record, TargetPut) and record.name in connectors:
        connectors[record.name] = replace(connectors[record.name], target=record.target)
    return ConfigState(
        max(state.offset, 0) + record.records,
        connectors,
        state.has_key or isinstance(record, KeyPut),
    )
