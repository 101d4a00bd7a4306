"""Connectors, from the forms in which they are told: Strimzi's objects, a connector's JSON or
properties, what a worker's REST interface lists, MirrorMaker's flows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from rebalsim.worlds.clients.reading import Keys, Reading
from rebalsim.worlds.clients.topics import split
from rebalsim.worlds.kafka_names import NAMES
from rebalsim.worlds.recognise import Config
from rebalsim.worlds.text_tree import at, rows, table, word
from rebalsim.worlds.understood import RULE_OF_SINKS, Connector, Consumer
from rebalsim.worlds.values import Text, Tree, default, inferred, place, stated
from rebalsim.worlds.words import whole

_OVERRIDE = "consumer.override."


def connector_of(name: str, spec: Tree, config: Tree) -> Connector:
    """From `class`, `tasksMax` and `config`, or from Kafka's own keys alone."""
    told = at(spec, "tasksMax") or at(config, "tasks.max")
    tasks = whole(told)
    pattern = word(at(config, "topics.regex"))
    topics = word(at(config, "topics")) or pattern
    kind = str(at(spec, "class") or at(config, "connector.class") or "")
    is_sink = topics is not None and "Source" not in kind
    made = Connector(
        name,
        stated(tasks, place(told)) if tasks else default(1, "tasks.max"),
        split(topics) if is_sink and topics is not None else [],
        place(told) or place(topics),
        is_pattern=pattern is not None and topics is pattern,
    )
    _take_overrides(made, config)
    return made


def _take_overrides(made: Connector, config: Tree) -> None:
    for key, text in table(config).items():
        own = str(key).removeprefix(_OVERRIDE)
        if own != key and own in NAMES and isinstance(text, Text):
            made.settings[own] = stated(str(text), place(text) or place(key))


def sink_group(connector: Connector, workload: str | None) -> Consumer | None:
    """A sink connector's tasks are the members of the group connect-NAME."""
    if not connector.topics:
        return None
    reading = Reading(consumes=True, is_pattern=connector.is_pattern)
    reading.put("group.id", default(f"connect-{connector.name}", RULE_OF_SINKS))
    for key, value in connector.settings.items():
        reading.put(key, value)
    return Consumer(
        reading,
        inferred("java", "a sink connector"),
        reading.settings["group.id"],
        default(None, "not set"),
        stated(list(connector.topics), connector.where),
        connector.tasks,
        workload=workload,
        name=None if workload else connector.name,
        where=connector.where,
    )


def connectors_of_file(config: Config) -> list[Connector]:
    """The connectors that a file holds; none where it is something else."""
    if config.tree is None:
        return _one(dict(config.keys), PurePosixPath(config.file).stem)
    if isinstance(config.tree, list):
        return [c for row in rows(config.tree) for c in _one(row, "")]
    found = _one(config.tree, PurePosixPath(config.file).stem)
    return found or [c for row in _listed(config.tree) for c in _one(row, "")]


def _listed(tree: Tree) -> Iterator[Tree]:
    """What `GET /connectors?expand=info` answers: name → info."""
    for row in table(tree).values():
        info = at(row, "info")
        if isinstance(info, dict):
            yield info


def _one(tree: Tree, fallback: str) -> list[Connector]:
    inner = at(tree, "config")
    own = inner if isinstance(inner, dict) else tree
    if at(own, "connector.class") is None:
        return []
    name = word(at(tree, "name")) or word(at(own, "name")) or fallback
    return [connector_of(str(name), None, own)] if name else []


# ---- MirrorMaker ----
def mirrors_of_object(tree: Tree) -> list[Connector]:
    """The source connectors of a KafkaMirrorMaker2, one for each mirror."""
    made = []
    for row in rows(at(tree, "spec", "mirrors")):
        name = f"{at(row, 'sourceCluster')}-to-{at(row, 'targetCluster')}"
        made.append(connector_of(name, at(row, "sourceConnector"), None))
    return made


_FLOW = re.compile(r"([\w.\-]+)->([\w.\-]+)\.enabled")


def mirror_maker(keys: Keys) -> list[Connector]:
    """MirrorMaker's own properties: a source connector for each flow that is enabled."""
    tasks = next((t for k, t in keys.items() if k == "tasks.max"), None)
    count = whole(tasks) if tasks is not None else None
    value = stated(count, place(tasks)) if count else default(1, "tasks.max")
    return [
        Connector(f"{found[1]}-to-{found[2]}", value, [], place(key))
        for key, text in keys.items()
        if (found := _FLOW.fullmatch(key)) and str(text).strip().lower() == "true"
    ]
