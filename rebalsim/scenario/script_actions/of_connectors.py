"""What is done to connectors and tasks: eight actions that are read alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rebalsim.domain.script import (
    CreateConnector,
    DeleteConnector,
    FailTask,
    ReconfigureConnector,
    RestartConnector,
    TargetConnector,
)
from rebalsim.scenario.connect_language import CONNECT_DEEDS
from rebalsim.scenario.script_action import ScriptAction


def _action(key: str) -> ScriptAction:
    return ScriptAction(
        key,
        CONNECT_DEEDS[key],
        lambda script, written, line: script.connectors.deed(key, written),
        _SAYS,
    )


def _created(deed: CreateConnector) -> str:
    made = deed.connector
    return f"connector {made.name} is created with {made.tasks_max} tasks"


def _retargeted(deed: TargetConnector) -> str:
    how = {"paused": "paused", "stopped": "stopped"}.get(deed.target, "resumed")
    return f"connector {deed.name} is {how}"


_SAYS: dict[type[Any], Callable[[Any], str]] = {
    CreateConnector: _created,
    DeleteConnector: lambda deed: f"connector {deed.name} is deleted",
    ReconfigureConnector: lambda deed: f"connector {deed.connector.name} is reconfigured",
    RestartConnector: lambda deed: f"connector {deed.name} is restarted",
    TargetConnector: _retargeted,
    FailTask: lambda deed: f"task {deed.connector}-{deed.number} fails",
}
ACTIONS = tuple(map(_action, CONNECT_DEEDS))
