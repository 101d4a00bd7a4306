"""Whether what runs in a container consumes at all: by what it reads, by its names, by weak signs."""

from __future__ import annotations

import re

from rebalsim.worlds.clients import signs
from rebalsim.worlds.clients.reading import Reading
from rebalsim.worlds.kubernetes.environment import Environment
from rebalsim.worlds.kubernetes.workloads import Workload
from rebalsim.worlds.text_tree import at, rows
from rebalsim.worlds.values import Tree, Value


def fixed_names(names: list[str], env: Environment) -> list[str]:
    """The names but for the variables'."""
    return [n for n in names if n not in env.keys]


def consumes_by_settings(reading: Reading, workload: Workload, image: str) -> bool:
    if reading.is_off is not None and reading.is_off.value is True:
        return False
    named = (workload.name, image.rpartition("/")[2])
    if any(signs.PRODUCERS.search(n) for n in named) and reading.group is None:
        return False
    if reading.group is not None:
        return True
    if reading.produces and not _reads(reading):
        return False
    return reading.consumes or "bootstrap.servers" in reading.settings


def _reads(reading: Reading) -> bool:
    signs_of_reading = {"auto.offset.reset", "max.poll.records", "session.timeout.ms"}
    deserialisers = {"key.deserializer", "value.deserializer"}
    return bool(set(reading.settings) & (signs_of_reading | deserialisers))


def by_weak_signs(
    workload: Workload,
    container: Tree,
    env: Environment,
    readings: list[Reading],
    names: list[str],
) -> list[Reading]:
    """No setting says it, but a mount of Streams' state does, or a ConfigMap called after Kafka."""
    reading = readings[0] if readings else Reading()
    image = str(at(container, "image") or "")
    if any(signs.PRODUCERS.search(n) for n in (workload.name, image.rpartition("/")[2])):
        return []
    paths = [str(at(m, "mountPath")) for m in rows(at(container, "volumeMounts"))]
    if any("kafka-streams" in p for p in paths):
        reading.client = Value("streams", "inferred", "state under a folder of kafka-streams")
        return [reading]
    is_named_so = re.search(_NAMED_CONSUMER, image.lower()) is not None
    is_one = (
        any("kafka" in m.lower() for m in env.missing_maps)
        or _is_known_program(reading, env, names)
        or is_named_so
        or (reading.mentions_kafka and _sounds_like_a_consumer(workload, names))
    )
    return [reading] if is_one else []


_NAMED_CONSUMER = r"kafka.*(consumer|worker|stream)|(consumer|worker).*kafka"


def _is_known_program(reading: Reading, env: Environment, names: list[str]) -> bool:
    """One that reads from Kafka where it is set up to."""
    program = signs.program_of(fixed_names(names, env), map(str, env.keys))
    if program is None or not program.client or not any("kafka" in n.lower() for n in names):
        return False
    return program.has_many or reading.mentions_kafka


def _sounds_like_a_consumer(workload: Workload, names: list[str]) -> bool:
    writes = any(signs.PRODUCERS.search(n) for n in names[:2])
    return not writes and bool(re.search(r"(?i)consum|worker|ingest|sink", workload.name))
