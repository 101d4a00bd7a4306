"""Workers of Kafka Connect and their connectors, from the forms in which they are deployed: Strimzi's
objects, a worker's properties, a container's variables, a connector's JSON, MirrorMaker's clusters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from rebalsim.scenario.connect_language import WORKER_CONFIG
from rebalsim.worlds.clients.reading import Keys
from rebalsim.worlds.clients.topics import split
from rebalsim.worlds.placeholders import resolved
from rebalsim.worlds.text_tree import at, rows, table, word
from rebalsim.worlds.values import Text, Tree, Value, default, place, stated, unknown
from rebalsim.worlds.words import milliseconds, whole


@dataclass(slots=True)
class Workers:
    """A cluster of workers."""

    name: str
    replicas: Value
    settings: dict[str, Value] = field(default_factory=dict)
    where: str = ""


@dataclass(slots=True)
class Connector:
    """A connector; one with topics is a sink, whose tasks are the group connect-NAME."""

    name: str
    tasks: Value
    topics: list[str] = field(default_factory=list)
    where: str = ""


def workers_of_keys(name: str, keys: Mapping[Text, Text | None]) -> Workers:
    """A worker's own properties; how many there are no such file tells."""
    settings = {}
    for key, text in keys.items():
        if text is not None and key in WORKER_CONFIG.fields and (said := resolved(text, {})):
            settings[str(key)] = stated(said, place(key))
    return Workers(name, unknown("a worker's file does not tell how many there are"), settings)


def workers_of_variables(name: str, keys: Keys, replicas: Value, where: str) -> Workers:
    """A container's CONNECT_SCHEDULED_REBALANCE_MAX_DELAY_MS and its like."""
    dotted: Keys = {}
    for key, text in keys.items():
        bare = re.sub(r"(?i)^connect_", "", key)
        dotted[Text(bare.lower().replace("_", "."), key.file, key.line)] = text
    made = workers_of_keys(name, dotted)
    made.replicas, made.where = replicas, where
    return made


def workers_of_object(tree: Tree) -> Workers:
    """Strimzi's KafkaConnect, and the workers of a KafkaMirrorMaker2."""
    spec, name = at(tree, "spec"), str(at(tree, "metadata", "name") or "connect")
    config = at(spec, "config")
    if config is None:
        config = at(spec, "clusters", 0, "config")
    made = workers_of_keys(name, {k: word(v) for k, v in table(config).items()})
    count = whole(at(spec, "replicas"))
    place_of = place(at(spec, "replicas"))
    made.replicas = stated(count, place_of) if count else default(3, "Strimzi")
    made.where = place(at(tree, "metadata", "name"))
    return made


def connector_of(name: str, spec: Tree, config: Tree) -> Connector:
    """From `class`, `tasksMax` and `config`, or from Kafka's own keys alone."""
    told = at(spec, "tasksMax") or at(config, "tasks.max")
    tasks = whole(told)
    topics = word(at(config, "topics")) or word(at(config, "topics.regex"))
    kind = str(at(spec, "class") or at(config, "connector.class") or "")
    is_sink = topics is not None and "Source" not in kind
    return Connector(
        name,
        stated(tasks, place(told)) if tasks else default(1, "tasks.max"),
        split(topics) if is_sink and topics is not None else [],
        place(told) or place(topics),
    )


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


def written(settings: Mapping[str, Value]) -> list[tuple[str, str, str]]:
    """Settings as the scenario's language takes them."""
    made = []
    for key, value in settings.items():
        text = str(value.value).strip()
        if key.endswith(".ms"):
            number = milliseconds(text)
            if number is None:
                continue
            text = str(number)
        if re.fullmatch(r"[\w.\-]+", text):
            made.append((key, text, value.source))
    return made
