"""What an action of the script is to the language, and the one table of all of them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from rebalsim.domain.deed import Deed
from rebalsim.scenario import script_actions
from rebalsim.scenario.kinds import Section, Written
from rebalsim.scenario.script_cast import ScriptCast

# files in the order in which people look for their actions; one that is not named comes last
_ORDER = (
    "join",
    "scale",
    "leave",
    "crash",
    "freeze",
    "hang",
    "poison",
    "slow",
    "rolling_bounce",
    "deploy",
    "cut",
    "add_latency",
    "broker_restart",
    "broker_busy",
    "broker_upgrade",
    "coordinator_failover",
    "add_partitions",
    "create_topic",
    "delete_topic",
    "subscribe",
    "enforce_rebalance",
    "heartbeat",
    "refresh_metadata",
    "set_rate",
    "autoscale",
    "kubectl_rollout",
    "drain_node",
    "evict",
    "probe",
    "of_connectors",
)


@dataclass(frozen=True, slots=True)
class ScriptAction:
    """One action. It is read on the line of its entry, into a deed, or into None where something
    is wrong, which is then told.
    """

    key: str  # as a script writes it
    section: Section
    read: Callable[[ScriptCast, Written, int], Deed | None]
    says: Mapping[type[Any], Callable[[Any], str]] = field(default_factory=dict)  # by its deed
    brings_new: bool = False  # other members each time it is repeated
    is_of_streams: bool = False  # is played for a Kafka Streams application, too
    not_of_streams: str = ""  # why there is no such thing for one, and what to write instead


@cache
def all_actions() -> dict[str, ScriptAction]:
    """Every action by its key: a file has its ACTION, or its ACTIONS where several are read alike."""
    found = sorted(
        (module.name for module in pkgutil.iter_modules(script_actions.__path__)),
        key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name),
    )
    made: dict[str, ScriptAction] = {}
    for name in found:
        module = importlib.import_module(f"{script_actions.__name__}.{name}")
        for action in getattr(module, "ACTIONS", None) or (module.ACTION,):
            made[action.key] = action
    return made


@cache
def actions_by_deed() -> dict[type[Any], ScriptAction]:
    """The action that tells of each kind of deed."""
    return {kind: action for action in all_actions().values() for kind in action.says}
