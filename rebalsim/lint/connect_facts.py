"""Facts of a story's Connect cluster that several rules ask for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf

from rebalsim.domain.connect import Connector, WorkerConfig
from rebalsim.domain.consumer import Consumer
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import Crash, CreateConnector, ReconfigureConnector, RollingBounce
from rebalsim.lint.figures import mean


def workers_of(scenario: Scenario) -> list[Consumer]:
    """The workers as they are at the start."""
    return [c for g in scenario.groups for c in g.consumers if c.worker is not None]


def incremental_config(scenario: Scenario) -> WorkerConfig | None:
    """The settings of the first worker, where the cluster waits for lost work; else None."""
    first = next(iter(workers_of(scenario)), None)
    config = first.worker if first is not None else None
    return None if config is None or config.connect_protocol == "eager" else config


def without_workers(scenario: Scenario) -> Scenario:
    """The story as far as it is one of consumers: for rules about them."""
    if not scenario.connect:
        return scenario
    names = {c.name for c in workers_of(scenario)}
    groups = tuple(g for g in scenario.groups if not any(c.worker for c in g.consumers))
    script = tuple(a for a in scenario.script if not _is_of(a.deed, names))
    return replace(scenario, groups=groups, script=script, random_faults=())


def _is_of(deed: object, workers: set[str]) -> bool:
    """Is the deed done to workers?"""
    who = getattr(deed, "consumers", ())
    return any((w if isinstance(w, str) else w.name) in workers or _is_worker(w) for w in who)


def _is_worker(who: object) -> bool:
    return isinstance(who, Consumer) and who.worker is not None


def connectors_of(scenario: Scenario) -> Iterator[Connector]:
    """Every connector in every shape that it ever has."""
    for cluster in scenario.connect:
        yield from cluster.connectors
    for action in scenario.script:
        if isinstance(action.deed, CreateConnector | ReconfigureConnector):
            yield action.deed.connector


def restarts_of(scenario: Scenario) -> Iterator[tuple[str, float, int]]:
    """Whoever the script takes away and brings back: a worker's name, how long it is away on
    average until it works again, and the line. Who crashes and is away for longer than Kafka's own
    delay is lost: nobody waits for that one.
    """
    workers = {c.name: c for c in workers_of(scenario)}
    for action in scenario.script:
        deed = action.deed
        if isinstance(deed, RollingBounce):
            down, most = mean(deed.down) if deed.down is not None else 0.0, inf
        elif isinstance(deed, Crash) and deed.restart_after is not None:
            down, most = mean(deed.restart_after), WorkerConfig().scheduled_rebalance_max_delay_us
        else:
            continue
        name = next((name for name in deed.consumers if name in workers), None)
        if name is None:
            continue
        away = down + mean(workers[name].life.start)
        if away <= most:
            yield name, away, action.line
