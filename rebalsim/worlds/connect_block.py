"""A Connect cluster in the scenario: workers, connectors, and a rolling restart of the workers."""

from __future__ import annotations

from rebalsim.worlds.asks import QUESTIONS
from rebalsim.worlds.connect_cluster import Connector, Workers, written
from rebalsim.worlds.groups import Play, name_of
from rebalsim.worlds.understood import Understood

Lines = list[tuple[str, str]]
START = 30  # seconds until a worker's plugins are scanned and its REST port is up


def cluster_of(made: Understood) -> Workers | None:
    """The one cluster that can be played: a scenario holds one, with something to run."""
    return made.workers[0] if len(made.workers) == 1 and made.connectors else None


def without_sinks(plays: list[Play], made: Understood) -> list[Play]:
    """The groups but for those that the cluster's sinks are."""
    if cluster_of(made) is None:
        return plays
    sinks = {f"connect-{c.name}" for c in made.connectors}
    return [p for p in plays if p.name not in sinks]


def topics_of(made: Understood) -> list[str]:
    if cluster_of(made) is None:
        return []
    return list(dict.fromkeys(t for c in made.connectors for t in c.topics))


def lines_of(cluster: Workers, made: Understood) -> Lines:
    count, why = 3, f"ASK: {QUESTIONS['replicas'].what}: {QUESTIONS['replicas'].how}"
    if cluster.replicas.known:
        count, why = int(cluster.replicas.value), cluster.replicas.source
    how = QUESTIONS["start_time"].how
    lines: Lines = [("connect:", cluster.where), ("  workers:", "")]
    lines.append(
        (f'    "{name_of(cluster.name)}-{{n}}": {{count: {max(1, min(count, 100))}}}', why)
    )
    if settings := written(cluster.settings):
        lines.append(("  config:", ""))
        lines += [(f"    {key}: {text}", place) for key, text, place in settings]
    lines.append((f"  life: {{start: {START}s}}", f"ASK: until a worker has joined: {how}"))
    lines.append(
        ("  connectors:", "ASK: how long a task takes to start and stop: the worker's log")
    )
    return lines + [_connector(c) for c in made.connectors]


def _connector(connector: Connector) -> tuple[str, str]:
    parts = [f"tasks.max: {connector.tasks.value}"]
    if connector.topics:
        parts.insert(0, f"topics: [{', '.join(map(name_of, connector.topics))}]")
    return f"    {name_of(connector.name)}: {{{', '.join(parts)}}}", connector.where


def rollout(begin: int) -> Lines:
    """One worker after another."""
    parts = f"group: connect, as: in-place, max_unavailable: 1, ready_after: {START}s"
    return [
        (f"- at: {begin}s", "one worker after another"),
        ("  id: rollout-connect", ""),
        (f"  rolling_bounce: {{{parts}}}", ""),
    ]
