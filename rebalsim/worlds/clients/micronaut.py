"""Micronaut: `kafka.consumers.default.…`, then a group's own keys over them; and its Streams."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rebalsim.worlds import kafka_names
from rebalsim.worlds.clients.reading import Keys, Reading, one_member, read_setting
from rebalsim.worlds.placeholders import resolved
from rebalsim.worlds.values import Text, default, inferred, place, stated, unknown
from rebalsim.worlds.words import squash

_KEY = re.compile(r"(?i)kafka[._](consumers|streams)[._]([^._]+)[._](.+)$")
# Brokers alone are a producer's as well, and what stands under `kafka.` for both tells no more.
_CONSUMES = re.compile(r"(?i)kafka[._](consumers[._]|group|auto|session|heartbeat|max[._]poll)")
_PRODUCES = re.compile(r"(?i)kafka[._]producers[._]")


def is_micronaut(keys: Keys) -> bool:
    squashed = [squash(k) for k in keys]
    return any(s.startswith("micronaut") for s in squashed) and any(
        s.startswith(("kafkaconsumers", "kafkastreams", "kafkabootstrap")) for s in squashed
    )


def read_micronaut(keys: Keys, known: Mapping[str, str]) -> list[Reading]:
    """One consumer a group that is told, or one for the defaults."""
    known = {**{str(k): str(v) for k, v in keys.items() if v is not None}, **known}
    parts: dict[tuple[str, str], Keys] = {}
    common: Keys = {}
    for key, text in keys.items():
        if (found := _KEY.match(key)) and found[3] != "id":
            name = "default" if found[2].lower() == "default" else found[2]
            parts.setdefault((found[1].lower(), name), {})[Text(found[3], key.file, key.line)] = (
                text
            )
        elif re.match(r"(?i)kafka[._]", key):
            common[Text(key[6:], key.file, key.line)] = text
    base = {**common, **parts.pop(("consumers", "default"), {})}
    made = [_part(kind, name, {**base, **own}, known) for (kind, name), own in parts.items()]
    if made or any(_CONSUMES.match(key) for key in keys):
        return made or [_part("consumers", "default", base, known, keys)]
    return [Reading(mentions_kafka=True, produces=any(_PRODUCES.match(key) for key in keys))]


def _part(
    kind: str, name: str, keys: Keys, known: Mapping[str, str], every: Keys | None = None
) -> Reading:
    reading = Reading(consumes=True, mentions_kafka=True)
    if name != "default":
        reading.name = name
    for key, text in keys.items():
        if found := kafka_names.exactly(key):
            reading.put(found, read_setting(found, text, known, place(key)))
    if kind == "streams":
        reading.client = inferred("streams", "kafka.streams of Micronaut")
        reading.members = reading.members or default(1, "num.stream.threads defaults to 1")
        return reading
    reading.client = inferred("micronaut", "kafka.consumers of Micronaut")
    reading.members = one_member("threads of @KafkaListener are 1 by default")
    if reading.group is None:
        application = next(
            (t for k, t in (every or {}).items() if squash(k) == "micronautapplicationname"), None
        )
        said = resolved(application, known) if application is not None else None
        if name != "default":
            reading.group = stated(name, place(next(iter(keys), None)))
        else:
            reading.group = (
                default(str(said), "micronaut.application.name") if said else unknown("in the code")
            )
    return reading
