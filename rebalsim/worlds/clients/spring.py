"""Spring Boot, Spring Kafka and Spring Cloud Stream: `spring.…` from files and from the environment
alike, since relaxed binding compares names by their letters and digits only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from rebalsim.worlds import kafka_names
from rebalsim.worlds.clients.generic import own_words, read_generic
from rebalsim.worlds.clients.reading import Keys, Reading, one_member, read_setting, weaker
from rebalsim.worlds.clients.spring_stream import read_bindings
from rebalsim.worlds.clients.topics import (
    is_of_one_listener,
    topic_keys,
    topics_of,
)
from rebalsim.worlds.placeholders import resolved
from rebalsim.worlds.secrets import is_credential
from rebalsim.worlds.values import Hurt, Text, Value, default, inferred, place, stated, unknown
from rebalsim.worlds.words import squash, whole, words

# The typed keys of spring.kafka.consumer; everything else goes under its properties.
TYPED = {
    "autocommitinterval": "auto.commit.interval.ms",
    "autooffsetreset": "auto.offset.reset",
    "bootstrapservers": "bootstrap.servers",
    "clientid": "client.id",
    "enableautocommit": "enable.auto.commit",
    "fetchmaxwait": "fetch.max.wait.ms",
    "fetchminsize": "fetch.min.bytes",
    "groupid": "group.id",
    "heartbeatinterval": "heartbeat.interval.ms",
    "isolationlevel": "isolation.level",
    "keydeserializer": "key.deserializer",
    "maxpollinterval": "max.poll.interval.ms",
    "maxpollrecords": "max.poll.records",
    "valuedeserializer": "value.deserializer",
}
_COMMON = {"bootstrapservers": "bootstrap.servers", "clientid": "client.id"}
_SECTIONS = ("consumer", "producer", "streams", "listener", "properties", "admin", "template")


def read_spring(keys: Keys, known: Mapping[str, str]) -> list[Reading]:
    """The consumers of a Spring application: Cloud Stream's bindings, listeners, or Streams."""
    known = {**{str(k): str(v) for k, v in keys.items() if v is not None}, **known}
    if bound := read_bindings(keys, known):
        return bound
    return _listeners(keys, known)


def is_spring(keys: Keys) -> bool:
    return any(squash(k).startswith(("springkafka", "springcloudstream")) for k in keys)


def _listeners(keys: Keys, known: Mapping[str, str]) -> list[Reading]:
    consumer, streams = Reading(is_listener=True), Reading()
    for key, text in keys.items():
        section, rest = _section(key)
        if section is None or is_credential(key):
            continue
        source = place(key) or str(key)
        if section in ("", "consumer", "properties"):
            _consumer_key(consumer, key, section, rest, text, known)
        elif section == "listener":
            _listener_key(consumer, rest, text, known, source)
        elif section == "streams":
            _streams_key(streams, key, rest, text, known)
        else:
            consumer.produces = True
    consumer.client = inferred("spring", "spring.kafka")
    if consumer.members is None:
        consumer.members = one_member("spring.kafka.listener.concurrency is 1 by default")
    if consumer.instance and consumer.instance.known:
        consumer.instance = stated(
            f"{consumer.instance.value}-{{thread}}", consumer.instance.source
        )
    own = _own_keys(keys)
    _take_own(consumer, own, known)
    if consumer.topics is None:
        consumer.topics = _own_topic(own, known)
    if consumer.consumes:
        _default_commit(consumer)
        return [consumer]
    return _streams_only(streams, consumer, keys, known)


def _section(key: str) -> tuple[str | None, list[str]]:
    """`spring.kafka.SECTION.REST`: the section ('' for what stands directly under it) and the rest."""
    pieces = words(key)
    if pieces[:2] != ["spring", "kafka"]:
        return None, []
    rest = pieces[2:]
    if rest and rest[0] in _SECTIONS:
        return rest[0], rest[1:]
    return "", rest


def _consumer_key(
    reading: Reading,
    key: Text,
    section: str,
    rest: list[str],
    text: Text | None,
    known: Mapping[str, str],
) -> None:
    source = place(key) or str(key)
    if section == "properties":
        if _put_property(reading, key, rest, text, known) != "group.id":
            reading.consumes = reading.consumes and "group.id" in reading.settings
        return
    if rest[:1] == ["properties"]:
        _put_property(reading, key, rest[1:], text, known)
        return
    squashed = "".join(rest)
    if squashed in ("securityprotocol",):
        reading.put("security.protocol", read_setting("security.protocol", text, known, source))
    elif found := (TYPED if section == "consumer" else _COMMON).get(squashed):
        reading.put(found, read_setting(found, text, known, source))
    elif section == "consumer":
        reading.unknown_keys.append(str(key))
        meant = kafka_names.exactly(squashed)
        reading.hurts.append(
            Hurt(
                f"{key} does nothing",
                "Spring Boot has no such key"
                + (f": spring.kafka.consumer.properties.{meant} is meant" if meant else ""),
                source,
            )
        )


def _put_property(
    reading: Reading, key: Text, named: list[str], text: Text | None, known: Mapping[str, str]
) -> str:
    """What stands under `properties` goes to the client as it is; the setting's name."""
    name = kafka_names.exactly("".join(named)) or _remainder(key)
    if kafka_names.exactly(name) is None and not kafka_names.is_of_serialisers(name):
        reading.unknown_keys.append(name)
    reading.put(name, read_setting(name, text, known, place(key) or str(key)))
    return name


def _remainder(key: str) -> str:
    """What stands behind `properties`, as it was written."""
    rest = re.split(r"(?i)properties[._]", key, maxsplit=1)[-1].strip("[]\"'")
    return rest if "." in rest or rest.islower() else ".".join(words(rest))


def _listener_key(
    reading: Reading, rest: list[str], text: Text | None, known: Mapping[str, str], source: str
) -> None:
    squashed = "".join(rest)
    said = resolved(text, known) if text is not None else None
    if squashed == "concurrency":
        count = whole(said) if said is not None else None
        reading.members = stated(count, source) if count else unknown(source)
    elif squashed == "ackmode":
        mode = said.upper().replace("-", "_") if said else None
        reading.settings["ack-mode"] = stated(mode, source) if mode else unknown(source)
    elif squashed in ("immediatestop", "idlebetweenpolls", "polltimeout", "type"):
        name = {"immediatestop": "immediate-stop", "idlebetweenpolls": "idle-between-polls"}
        value = stated(str(said), source) if said else unknown(source)
        reading.settings[name.get(squashed, squashed)] = value
    reading.consumes = True


def _streams_key(
    reading: Reading, key: Text, rest: list[str], text: Text | None, known: Mapping[str, str]
) -> None:
    squashed = "".join(rest[1:] if rest[:1] == ["properties"] else rest)
    name = kafka_names.exactly(squashed) or _remainder(key)
    reading.put(name, read_setting(name, text, known, place(key) or str(key)))
    reading.consumes = True


def _streams_only(
    streams: Reading, consumer: Reading, keys: Keys, known: Mapping[str, str]
) -> list[Reading]:
    """Kafka Streams under Spring: its application id is the application's name by default."""
    if not streams.consumes:
        return [consumer] if consumer.settings or consumer.produces else []
    streams.client = inferred("streams", "spring.kafka.streams")
    name = next((t for k, t in keys.items() if squash(k) == "springapplicationname"), None)
    if streams.group is None and name is not None and (said := resolved(name, known)):
        streams.put("application.id", stated(str(said), f"{place(name)} spring.application.name"))
    if streams.members is None:
        streams.members = default(1, "num.stream.threads defaults to 1")
    for setting, value in consumer.settings.items():
        streams.settings.setdefault(setting, value)
    return [streams]


def _default_commit(reading: Reading) -> None:
    reading.settings.setdefault(
        "enable.auto.commit", default("false", "Spring's listener container sets it")
    )


# ---- keys of the application's own, beside spring's ----
def _own_keys(keys: Keys) -> Keys:
    """What is not under spring: read by the application's own class, if at all."""
    return {k: t for k, t in keys.items() if words(k)[:1] != ["spring"]}


def _own_topic(own: Keys, known: Mapping[str, str]) -> Value | None:
    """The topic that the application's own keys name, if they name one, and not that of one listener
    among several (`cooperative-consumer.topic`).
    """
    mine = own_words(own)
    if any(is_of_one_listener(named.key, mine) for named in topic_keys(own, mine)):
        return None
    told = topics_of(own, known, mine)
    if told is None or not told.known or len(told.value) != 1:
        return None
    return inferred(told.value, f"{told.source}: by the key's name")


def _take_own(reading: Reading, own: Keys, known: Mapping[str, str]) -> None:
    """A `kafka.consumer.…` of the application's own: likely, but it is code that reads it."""
    kafka = {k: t for k, t in own.items() if words(k)[:1] == ["kafka"]}
    told = read_generic(kafka, known, frozenset())
    if "group.id" not in told.settings:
        told = Reading()
        return
    if "group.id" not in reading.settings:
        reading.group = weaker(told.settings["group.id"])
        if told.members:
            reading.members = weaker(told.members)
        if told.topics and told.topics.known and "topics" not in str(told.topics.source):
            reading.topics = weaker(told.topics) if len(told.topics.value) == 1 else None
        reading.hurts.append(
            Hurt(
                "settings under the prefix kafka., not spring.kafka.",
                "Spring Boot ignores own keys: whether they come into force depends on the code",
                told.settings["group.id"].source,
            )
        )
    for name, value in told.settings.items():
        if name not in reading.settings:
            reading.settings[name] = weaker(value)
    for key, text in kafka.items():
        if squash(key) == "kafkasecurityprotocol":
            value = read_setting("security.protocol", text, known, key)
            reading.settings.setdefault("security.protocol", weaker(value))
    reading.consumes = True
