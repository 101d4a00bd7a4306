"""Spring Cloud Stream: a consumer a binding that reads; with the Streams binder, an application a
function, whatever number of bindings it reads from.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from rebalsim.worlds import kafka_names
from rebalsim.worlds.clients.reading import Keys, Reading, one_member, read_setting
from rebalsim.worlds.clients.topics import is_pattern, topics_value
from rebalsim.worlds.placeholders import resolved
from rebalsim.worlds.values import Text, default, inferred, place, stated, unknown
from rebalsim.worlds.words import squash, whole

_KEY = re.compile(
    r"(?i)spring[._]cloud[._]stream[._](kafka[._](?:streams[._])?)?(bindings|binder)[._](.+)"
)
_INPUT = re.compile(r"(.+)-in-\d+$")


@dataclass(slots=True)
class _Told:
    """What the keys say of the bindings, of their clients, and of the binders."""

    bindings: dict[str, Keys] = field(default_factory=dict)
    clients: dict[str, Keys] = field(default_factory=dict)
    binder: Keys = field(default_factory=dict)
    streams: Keys = field(default_factory=dict)  # the Streams binder's own
    servers: Keys = field(default_factory=dict)  # Spring Boot's, which the binders take
    is_kafka: bool = False


def read_bindings(keys: Keys, known: Mapping[str, str]) -> list[Reading]:
    told = _told(keys)
    if not told.is_kafka and any("binder" in k.lower() for k in told.bindings):
        return []
    reads = [n for n, k in told.bindings.items() if _is_input(n, k)]
    functions = {n: f for n in reads if (f := _function(n)) and _is_streams(f, told)}
    made = [_binding(n, told, known) for n in reads if n not in functions]
    if len(reads) > 1:  # what one file holds several of is told apart by its name
        for reading, name in zip(made, (n for n in reads if n not in functions)):
            reading.name = name
    for function in dict.fromkeys(functions.values()):
        inputs = [n for n in reads if functions.get(n) == function]
        made.append(_application(function, inputs, told, known))
    return made


def _told(keys: Keys) -> _Told:
    told = _Told()
    for key, text in keys.items():
        if squash(key) == "springkafkabootstrapservers":
            told.servers[Text("brokers", key.file, key.line)] = text
        if not (match := _KEY.match(key)):
            continue
        told.is_kafka = told.is_kafka or bool(match[1])
        if match[2].lower() == "binder":
            of_streams = "streams" in (match[1] or "").lower()
            into = told.streams if of_streams else told.binder
            into[Text(match[3], key.file, key.line)] = text
            continue
        name, _, rest = match[3].partition(".")
        parts = told.clients if match[1] else told.bindings
        parts.setdefault(name, {})[Text(rest, key.file, key.line)] = text
    return told


# ---- Kafka Streams under the binder ----
def _function(binding: str) -> str | None:
    found = _INPUT.match(binding)
    return found[1] if found else None


def _is_streams(function: str, told: _Told) -> bool:
    """Whether the Streams binder runs a function: its keys name it, or give all one id."""
    mine = f"functions.{function}.".lower()
    return any(k.lower().startswith(mine) for k in told.streams) or any(
        squash(k) == "applicationid" for k in told.streams
    )


def _application(
    function: str, inputs: list[str], told: _Told, known: Mapping[str, str]
) -> Reading:
    reading = Reading(consumes=True, name=function)
    reading.client = inferred("streams", "Spring Cloud Stream's Kafka Streams binder")
    binder = {**told.servers, **told.binder, **told.streams}
    _configured(reading, (("configuration.", binder), ("consumerProperties.", binder)), known)
    of_function = (f"functions.{function}.applicationid", "applicationid")
    ids = [(k, t) for want in of_function for k, t in told.streams.items() if _is_id(k, want)]
    if ids:
        key, text = ids[0]
        reading.put("application.id", read_setting("application.id", text, known, place(key)))
    else:
        reading.group = default(f"{function}-applicationId", "the binder's name for a function")
    read = [_binding(n, told, known) for n in inputs]
    topics = [t for r in read if r.topics and r.topics.known for t in r.topics.value]
    sources = ", ".join(r.topics.source for r in read if r.topics and r.topics.source)
    reading.topics = stated(list(dict.fromkeys(topics)), sources) if topics else unknown(sources)
    if reading.members is None:
        reading.members = default(1, "num.stream.threads is 1 by default")
    _brokers(reading, binder, known)
    return reading


def _is_id(key: str, wanted: str) -> bool:
    return squash(key) == squash(wanted)


# ---- a binding ----
def _is_input(name: str, keys: Keys) -> bool:
    if re.search(r"-out-\d+$", name) or name.lower() in ("output",):
        return False
    if re.search(r"-in-\d+$", name) or name.lower() == "input":
        return True
    return any(k == "group" or k.startswith("consumer.") for k in keys)


def _binding(name: str, told: _Told, known: Mapping[str, str]) -> Reading:
    keys, client = told.bindings[name], told.clients.get(name, {})
    binder = {**told.servers, **told.binder}
    reading = Reading(consumes=True)
    reading.client = inferred("spring", "Spring Cloud Stream's Kafka binder")
    reading.members = one_member("consumer.concurrency is 1 by default")
    _configured(
        reading,
        (
            ("configuration.", binder),
            ("consumerProperties.", binder),
            ("consumer.configuration.", client),
        ),
        known,
    )
    for key, text in keys.items():
        if key == "group" and text is not None:
            reading.put("group.id", read_setting("group.id", text, known, key))
        elif key == "destination" and text is not None:
            reading.topics = topics_value(text, known)
        elif key == "consumer.concurrency" and text is not None:
            count = whole(resolved(text, known))
            reading.members = stated(count, place(key)) if count else unknown(place(key))
    _binding_defaults(reading, name, binder, known)
    return reading


def _configured(
    reading: Reading, parts: tuple[tuple[str, Keys], ...], known: Mapping[str, str]
) -> None:
    """Kafka's own settings, where they stand; what is told later holds."""
    for prefix, part in parts:
        for key, text in part.items():
            if not squash(key).startswith(squash(prefix)):
                continue
            rest = re.sub(r"(?i)^(consumer\.)?(consumer-?properties|configuration)[._]", "", key)
            rest = rest.strip("[]\"'")
            setting = kafka_names.exactly(rest) or rest
            reading.put(setting, read_setting(setting, text, known, key))


def _brokers(reading: Reading, binder: Keys, known: Mapping[str, str]) -> None:
    for key, text in binder.items():
        if key == "brokers":
            servers = read_setting("bootstrap.servers", text, known, key)
            reading.settings["bootstrap.servers"] = servers


def _binding_defaults(reading: Reading, name: str, binder: Keys, known: Mapping[str, str]) -> None:
    _brokers(reading, binder, known)
    if reading.topics is None:
        reading.topics = default([name], "the binding's own name")
    if reading.topics.known:
        reading.is_pattern = is_pattern(reading.topics.value)
    reading.settings.setdefault(
        "enable.auto.commit", default("false", "Spring's listener container sets it")
    )
    if reading.group is not None:
        reading.settings.setdefault(
            "auto.offset.reset", default("earliest", "the binder's, where a group is named")
        )
