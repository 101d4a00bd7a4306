"""MicroProfile Reactive Messaging (SmallRye, Quarkus): channels, then the connector, then `kafka.`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rebalsim.worlds import kafka_names
from rebalsim.worlds.clients.reading import Keys, Reading, one_member, read_setting
from rebalsim.worlds.clients.topics import is_pattern, topics_value
from rebalsim.worlds.placeholders import resolved
from rebalsim.worlds.secrets import is_credential
from rebalsim.worlds.values import Text, Value, default, inferred, place, stated, unknown
from rebalsim.worlds.words import listed, squash, whole

_CHANNEL = re.compile(
    r"(?i)(?:%(\w+)\.)?mp[._]messaging[._](incoming|outgoing)[._](\"[^\"]+\"|[^._]+)[._](.+)$"
)
_CONNECTOR = re.compile(
    r"(?i)(?:%(\w+)\.)?mp[._]messaging[._]connector[._]smallrye[-_]kafka[._](.+)$"
)
_PROFILE = re.compile(r"^%([\w,]+)\.(.+)$")
_KAFKAS = ("smallrye-kafka", "liberty-kafka", "kafka")
# The channel's own attributes that are no settings of Kafka's.
_OWN = frozenset(
    listed(
        """
    topic topics connector pattern enabled concurrency partitions commitstrategy failurestrategy
    broadcast pausifnorequests gracefulshutdown healthenabled
    """
    )
)


# Attributes of the connector that have attributes of their own.
_OWN_PARTS = (
    "dead-letter-queue.",
    "delayed-retry-topic.",
    "throttled.",
    "checkpoint.",
    "consumer-rebalance-listener.",
    "health-",
)


def is_reactive(keys: Keys) -> bool:
    return any(re.search(r"(?i)mp[._]messaging[._](incoming|outgoing|connector)", k) for k in keys)


def in_production(keys: Keys) -> Keys:
    """Quarkus' profiles: `%prod.` over the bare key, the others (dev, test) left out."""
    plain: Keys = {}
    prod: Keys = {}
    for key, text in keys.items():
        if found := _PROFILE.match(key):
            if "prod" in found[1].split(","):
                prod[Text(found[2], key.file, key.line)] = text
        else:
            plain[key] = text
    for key, text in prod.items():
        plain.pop(key, None)
        plain[key] = text
    return plain


def read_reactive(keys: Keys, known: Mapping[str, str]) -> list[Reading]:
    """One consumer a channel that comes in over Kafka."""
    keys = in_production(keys)
    known = {**{str(k): str(v) for k, v in keys.items() if v is not None}, **known}
    channels, common = _sorted_out(keys)
    name = next((t for k, t in keys.items() if squash(k) == "quarkusapplicationname"), None)
    is_quarkus = any(squash(k).startswith("quarkus") for k in keys)
    made = [
        _channel(channel, own, common, known, name, is_quarkus)
        for channel, own in channels.items()
        if _is_kafkas(own, known)
    ]
    if made:
        return made
    if any(_CHANNEL.match(k) for k in keys):
        return [Reading(produces=True, mentions_kafka=True)]
    return [_without_channels(common, known, name, is_quarkus)] if common else []


def _without_channels(
    common: Keys, known: Mapping[str, str], application: Text | None, is_quarkus: bool
) -> Reading:
    """A connector is told, and its channels stand in another file: one consumer, as far as known."""
    reading = Reading(mentions_kafka=True)
    reading.client = inferred("smallrye", "mp.messaging.connector")
    for key, text in common.items():
        _attribute(reading, key, text, known)
    reading.group = reading.group or _group(application, known, is_quarkus)
    return reading


def _sorted_out(keys: Keys) -> tuple[dict[str, Keys], Keys]:
    channels: dict[str, Keys] = {}
    common: Keys = {}
    for key, text in keys.items():
        if channel := _CHANNEL.match(key):
            if channel[2].lower() == "incoming":
                name = channel[3].strip('"')
                name = next((c for c in channels if squash(c) == squash(name)), name)
                channels.setdefault(name, {})[Text(channel[4], key.file, key.line)] = text
        elif connector := _CONNECTOR.match(key):
            common[Text(connector[2], key.file, key.line)] = text
        elif re.match(r"(?i)kafka[._]", key):
            common.setdefault(Text(key[6:], key.file, key.line), text)
    return channels, common


def _is_kafkas(own: Keys, known: Mapping[str, str]) -> bool:
    """A channel over Kafka: it says so, or says nothing of another connector."""
    connector = next((t for k, t in own.items() if squash(k) == "connector"), None)
    if connector is None:
        return True
    return str(resolved(connector, known) or "smallrye-kafka").lower() in _KAFKAS


def _channel(
    channel: str,
    own: Keys,
    common: Keys,
    known: Mapping[str, str],
    application: Text | None,
    is_quarkus: bool,
) -> Reading:
    reading = Reading(name=channel, consumes=True, mentions_kafka=True)
    reading.client = inferred("smallrye", "mp.messaging.incoming")
    reading.members = one_member("one per channel")
    for key, text in (*common.items(), *own.items()):
        _attribute(reading, key, text, known)
    reading.topics = _topics(channel, own, known)
    if reading.topics.known:
        reading.is_pattern = is_pattern(reading.topics.value)
    if reading.group is None:
        reading.group = _group(application, known, is_quarkus)
    reading.settings.setdefault(
        "enable.auto.commit", default("false", "SmallRye's Kafka connector commits by itself")
    )
    return reading


def _attribute(reading: Reading, key: Text, text: Text | None, known: Mapping[str, str]) -> None:
    squashed, source = squash(key), place(key)
    if is_credential(key):
        return
    if squashed in ("concurrency", "partitions"):
        count = whole(resolved(text, known)) if text is not None else None
        reading.members = stated(count, source) if count else unknown(source)
    elif found := kafka_names.exactly(key):
        reading.put(found, read_setting(found, text, known, source))
    elif squashed not in _OWN and "." in key and not key.lower().startswith(_OWN_PARTS):
        reading.unknown_keys.append(str(key))


def _topics(channel: str, own: Keys, known: Mapping[str, str]) -> Value:
    """The channel's topic; its own name where it has a connector and says nothing else."""
    for key, text in own.items():
        if squash(key) in ("topic", "topics") and text is not None:
            return topics_value(text, known)
    has_connector = any(squash(k) == "connector" for k in own)
    if has_connector:
        return default([channel], "the channel's name")
    return unknown("the channel is half told: no topic and no connector stand in the file")


def _group(application: Text | None, known: Mapping[str, str], is_quarkus: bool) -> Value:
    """Quarkus' name of the application, where it is told; else one that is made up at start."""
    if application is not None and (said := resolved(application, known)):
        return default(str(said), f"quarkus.application.name at {place(application)}")
    if is_quarkus:
        return unknown("quarkus.application.name is not in the files")
    return unknown("no group.id: a random one is made at start")
