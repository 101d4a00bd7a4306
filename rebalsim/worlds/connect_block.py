"""A Connect cluster in the scenario: its workers, its connectors, and what sets them."""

from __future__ import annotations

from dataclasses import replace

from rebalsim.words.lists import joined
from rebalsim.worlds.asks import QUESTIONS
from rebalsim.worlds.connect_cluster import written
from rebalsim.worlds.groups import Play, Pods, name_of, settings_written
from rebalsim.worlds.groups_found import matching
from rebalsim.worlds.understood import Connector, Consumer, Understood, Workers
from rebalsim.worlds.values import default

Lines = list[tuple[str, str]]
GROUP = "connect"  # what the cluster is called in the script
_MOST = 100  # workers
_TASKS = 6


def cluster_of(made: Understood) -> Workers | None:
    """The one cluster that can be played: a scenario holds one. One whose connectors nobody tells
    is played only where nothing else consumes: beside groups it is somebody's demonstration.
    """
    if len(made.workers) != 1 or not (made.connectors or not made.consumers):
        return None
    return made.workers[0]


def left_out(made: Understood) -> list[str]:
    """What of Connect is among the files and is not played, in a sentence."""
    if len(made.workers) < 2:
        return []
    names = joined([w.name for w in made.workers])
    return [
        f"Connect's clusters {names}: a scenario holds one, so their workers are left out: give the "
        "files of one of them alone"
    ]


def without_sinks(plays: list[Play], made: Understood) -> list[Play]:
    """The groups but for those that the cluster's sinks are."""
    if cluster_of(made) is None:
        return plays
    sinks = {f"connect-{c.name}" for c in made.connectors}
    return [p for p in plays if p.name not in sinks]


def connectors_of(made: Understood) -> list[Connector]:
    """The connectors to play: those that are told, or one that is assumed."""
    question = QUESTIONS["connectors"]
    why = f"ASK: {question.what}: {question.how} · assumed: {question.why}"
    if not made.connectors:
        return [Connector("connector", default(_TASKS, why))]
    return [
        replace(c, topics=matching(c.topics, made) or [f"{c.name}-topic"]) if c.is_pattern else c
        for c in made.connectors
    ]


def asked_of(made: Understood, plays: list[Play]) -> list[str]:
    """The words of what to ask for: of sinks that run in known workers no number of pods."""
    words = list(made.asks)
    if cluster_of(made) is None:
        return words
    more = ["start_time", *([] if made.connectors else ["connectors"])]
    known = [p.replicas is not None and p.replicas.known for p in _deployed(plays)]
    if all(known):
        words = [w for w in words if w != "replicas"]
    else:
        more.append("replicas")
    return list(dict.fromkeys([*words, *more]))


def _deployed(plays: list[Play]) -> list[Consumer]:
    return [pods.consumer for play in plays for pods in play.pods if pods.consumer is not None]


def topics_of(connectors: list[Connector]) -> list[str]:
    return list(dict.fromkeys(t for c in connectors for t in c.topics))


def workers_play(cluster: Workers) -> Play:
    """The workers as the members of a group, which is what a rollout replaces."""
    pods = cluster.pods
    count, why = 3, f"ASK: {QUESTIONS['replicas'].what}: {QUESTIONS['replicas'].how}"
    if pods.replicas is not None and pods.replicas.known:
        count, why = int(pods.replicas.value), pods.replicas.source
    members = Pods(name_of(cluster.name), max(1, min(count, _MOST)), 1, pods, why, "")
    play = Play(GROUP, pods.group, [members], [], "", pods)
    play.client = pods.client
    return play


def lines_of(cluster: Workers, made: Understood, coming: tuple[Connector, ...] = ()) -> Lines:
    """The block; connectors that are `coming` are there only when the script creates them."""
    play = workers_play(cluster)
    workers = play.pods[0]
    lines: Lines = [("connect:", cluster.pods.where), ("  workers:", "")]
    lines.append((f'    "{workers.name}-{{n}}": {{count: {workers.count}}}', workers.why))
    if settings := written(cluster.pods.settings):
        lines.append(("  config:", ""))
        lines += [(f"    {key}: {text}", place) for key, text, place in settings]
    if consumers := settings_written(cluster.of_sinks):
        lines.append(("  consumer:", "what sink tasks' consumers have"))
        lines += [(f"    {key}: {text}", place) for key, text, place in consumers]
    lines.append(("  life:", ""))
    lines += [(f"    {key}: {text}", why) for key, text, why in play.life()]
    lines.append(
        ("  connectors:", "ASK: how long a task takes to start and stop: the worker's log")
    )
    lines += [_connector(c, "") for c in connectors_of(made)]
    return lines + [_connector(c, ", exists: later") for c in coming]


def _connector(connector: Connector, more: str) -> tuple[str, str]:
    parts = [f"tasks.max: {connector.tasks.value}"]
    if connector.topics:
        parts.insert(0, f"topics: [{', '.join(map(name_of, connector.topics))}]")
    own = settings_written(connector.settings)
    if own and connector.topics:  # a source has no consumers
        parts.append(f"consumer: {{{', '.join(f'{key}: {text}' for key, text, _ in own)}}}")
    where = connector.where or connector.tasks.source
    return f"    {name_of(connector.name)}: {{{', '.join(parts)}{more}}}", where
