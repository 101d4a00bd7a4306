"""Workers of Kafka Connect, from the forms in which they are deployed: Strimzi's objects, a worker's
properties, a container's variables, MirrorMaker's clusters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from rebalsim.scenario.connect_language import WORKER_CONFIG
from rebalsim.worlds.clients.reading import Keys, Reading
from rebalsim.worlds.kafka_names import NAMES
from rebalsim.worlds.kubernetes import pods
from rebalsim.worlds.placeholders import resolved
from rebalsim.worlds.text_tree import at, table, texts, word
from rebalsim.worlds.understood import Consumer, Workers
from rebalsim.worlds.values import Text, Tree, Value, default, inferred, place, stated, unknown
from rebalsim.worlds.words import milliseconds, whole

CLIENT = "connect"
_OF_SINKS = "consumer."


def workers_of_keys(
    name: str, keys: Mapping[Text, Text | None], known: Mapping[str, str]
) -> Workers:
    """A worker's own properties; how many workers there are no such file tells."""
    reading, of_sinks = Reading(client=inferred(CLIENT, "a worker's own keys")), {}
    for key, text in keys.items():
        said = resolved(text, known) if text is not None else None
        if said is None:
            continue
        own = str(key).removeprefix(_OF_SINKS)
        if own != key and own in NAMES:
            of_sinks[own] = stated(said, place(key))
        elif key in WORKER_CONFIG.fields:
            reading.settings[str(key)] = stated(said, place(key))
    told = unknown("a worker's file does not tell how many there are")
    return Workers(name, _deployed(reading, told, place(next(iter(keys), None))), of_sinks)


def _deployed(reading: Reading, replicas: Value, where: str) -> Consumer:
    return Consumer(
        reading,
        inferred(CLIENT, "workers of Kafka Connect"),
        stated(CLIENT, where),
        default(None, "workers are always dynamic members"),
        unknown("its connectors'"),
        default(1, "one worker a process"),
        replicas=replicas,
        where=where,
    )


def dotted(keys: Keys) -> Keys:
    """A container's CONNECT_SCHEDULED_REBALANCE_MAX_DELAY_MS and its like, by Kafka's names."""
    made: Keys = {}
    for key, text in keys.items():
        bare = re.sub(r"(?i)^connect_", "", key).lower()
        for length, sign in ((3, "-"), (2, "\0"), (1, ".")):
            bare = re.sub(rf"(?<!_)_{{{length}}}(?!_)", sign, bare)
        made[Text(bare.replace("\0", "_"), key.file, key.line)] = text
    return made


def workers_of_object(tree: Tree) -> Workers:
    """Strimzi's KafkaConnect, Confluent's Connect, and the workers of a KafkaMirrorMaker2."""
    spec, name = at(tree, "spec"), str(at(tree, "metadata", "name") or "connect")
    config = at(spec, "config")
    if config is None:
        config = at(spec, "clusters", 0, "config")
    keys = {k: word(v) for k, v in table(config).items()}
    for text in texts(at(spec, "configOverrides", "server")):  # Confluent's: `key=value` lines
        key, _, value = text.partition("=")
        keys[Text(key, text.file, text.line)] = Text(value, text.file, text.line)
    made = workers_of_keys(name, keys, {})
    count = whole(at(spec, "replicas"))
    made.pods.replicas = (
        stated(count, place(at(spec, "replicas"))) if count else default(3, "Strimzi")
    )
    pod = at(spec, "template", "pod")
    made.pods.workload = f"{at(tree, 'kind')}/{name}"
    made.pods.grace = pods.grace(pod)
    made.pods.pre_stop = default(0, "no preStop")
    made.pods.where = place(at(tree, "metadata", "name"))
    made.pods.annotations = {
        str(k): v
        for k, v in table(at(tree, "metadata", "annotations")).items()
        if isinstance(v, Text)
    }
    made.pods.template = repr({k: v for k, v in table(spec).items() if k != "replicas"})
    return made


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
