"""Keys of no framework: Kafka's own names with whatever stands before them, in properties, in the
environment, in a program's own tree of settings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from rebalsim.worlds import kafka_names
from rebalsim.worlds.clients.reading import Keys, Reading, read_setting
from rebalsim.worlds.clients.topics import is_pattern, topics_of
from rebalsim.worlds.kafka_names import NOT_THE_CONSUMERS
from rebalsim.worlds.placeholders import resolved
from rebalsim.worlds.secrets import is_credential
from rebalsim.worlds.values import Text, inferred, place, stated, unknown
from rebalsim.worlds.words import boolean, listed, squash, whole, words

# Settings whose names say Kafka's consumer by themselves; the others need Kafka before them.
PLAIN = frozenset(
    listed(
        """
    group.id group.instance.id application.id auto.offset.reset session.timeout.ms
    heartbeat.interval.ms max.poll.interval.ms max.poll.records partition.assignment.strategy
    bootstrap.servers enable.auto.commit fetch.min.bytes fetch.max.bytes fetch.max.wait.ms
    isolation.level key.deserializer value.deserializer num.stream.threads group.protocol
    max.partition.fetch.bytes zookeeper.connect group.remote.assignor auto.commit.interval.ms
    """
    )
)
_KAFKAS = frozenset(
    listed(
        """
    kafka consumer consumers rdkafka rdkafkaconf librdkafka streams connect broker brokers
    kafkaclient consumerconfig
    """
    )
)
# A broker's, an administrator's, a registry's: no sign of a producer either.
_OF_NEITHER = frozenset(
    listed("offsets transaction restore admin adminclient registry schemaregistry")
)
# What else has sessions, groups and timeouts: `zookeeper.session.timeout.ms` is no member's.
_OF_OTHERS = frozenset(
    listed("http redis amqp mqtt pulsar jms nats web zookeeper zk servlet cookie datasource")
)
_THREADS = frozenset(
    listed(
        """
    concurrency workers threads numthreads consumerthreads numconsumers consumercount streams
    threadcount numconsumerthreads consumerconcurrency consumersinstances parallelism
    consumersperpod numworkers
    """
    )
)
# Words of what may stand behind one consumer, and be no member of its own.
_MAY_BE_HANDLERS = frozenset(listed("worker workers handler handlers processing parallelism"))
_SWITCHES = ("kafka", "consumer", "consumers", "kafkaconsumer")
_DELAY = re.compile(
    r"(?:process(?:ing)?|handl(?:er|ing)|work|consume|record|message)_?(?:delay|sleep|time)"
    r"_?(ms|millis|s|sec|secs|seconds)?$",
    re.IGNORECASE,
)
# `MESSAGES_PER_SECOND`: so many come, unless the word before says that it is a bound.
_RATE = re.compile(
    r"(?:messages?|msgs?|records?|events?)_?per_?(s|sec|second|m|min|minute)$", re.IGNORECASE
)
_BOUNDS = frozenset(listed("max min limit throttle threshold least most target"))


def read_generic(
    keys: Keys, known: Mapping[str, str], own: frozenset[str] | None = None
) -> Reading:
    """Everything that keys of no particular framework say of one consumer."""
    reading = Reading()
    mine = own_words(keys) if own is None else own
    homes = _homes(keys)
    is_alone = _tells_brokers_and_topic(keys)
    for key, text in keys.items():
        if is_alone and words(key) == ["group"]:
            reading.put("group.id", read_setting("group.id", text, known, place(key) or str(key)))
            continue
        _read_key(reading, key, text, known, homes)
    _leave_old_names(reading, keys)
    if {"bootstrap.servers", "zookeeper.connect"} <= set(reading.settings):
        del reading.settings["zookeeper.connect"]  # who asks brokers does not look at it
        reading.unknown_keys.append("zookeeper.connect")
    reading.topics = topics_of(keys, known, mine)
    if reading.topics and reading.topics.known:
        reading.is_pattern = is_pattern(reading.topics.value)
    return reading


# The consumer of before 0.9 had these; librdkafka still has the first, Java's client none.
_OLD = "fetch.message.max.bytes"


def _leave_old_names(reading: Reading, keys: Keys) -> None:
    """What Java's client of today does not know is no setting of it, in a file that says Java by its
    other names.
    """
    key = next((k for k in keys if k == _OLD), None)
    is_javas = (
        not set(kafka_names.LIBRDKAFKA) & set(keys) and "max.poll.records" in reading.settings
    )
    if key is not None and is_javas and "max.partition.fetch.bytes" not in keys:
        del reading.settings["max.partition.fetch.bytes"]
        reading.unknown_keys.append(str(key))


def own_words(keys: Keys) -> frozenset[str]:
    """The words that a program puts before its keys: first words that several keys share."""
    first = Counter(w[0] for k in keys if len(w := words(k)) > 1)
    return frozenset(w for w, n in first.items() if n > 1)


def _tells_brokers_and_topic(keys: Keys) -> bool:
    """Beside `BROKERS` and `TOPIC`, `GROUP` alone is the consumer's, unless another key says it."""
    names = {found[0] for key in keys if (found := kafka_names.known(key))}
    has_topic = any(words(key) in (["topic"], ["topics"]) for key in keys)
    return has_topic and "bootstrap.servers" in names and "group.id" not in names


_CORE = ("group.id", "bootstrap.servers")


def _homes(keys: Keys) -> frozenset[tuple[str, ...]]:
    """The words before which a client's group or brokers stand: what else stands behind them is that
    client's, however the program calls it.
    """
    named = (found for key in keys if (found := kafka_names.known(key)))
    return frozenset(tuple(before) for name, before in named if name in _CORE and before)


def _read_key(
    reading: Reading,
    key: Text,
    text: Text | None,
    known: Mapping[str, str],
    homes: frozenset[tuple[str, ...]],
) -> None:
    if is_credential(key):
        return
    pieces = words(key)
    if "kafka" in pieces or "rdkafka" in pieces:
        reading.mentions_kafka = True
    if _is_the_producers(pieces):
        _read_producers(reading, key, pieces)
        return
    found = kafka_names.known(key)
    if found and _is_the_clients(key, pieces, found, homes):
        _read_known(reading, key, text, known, found)
        return
    if pieces[-1:] == ["group"] and set(pieces[:-1]) & _KAFKAS:
        reading.put("group.id", read_setting("group.id", text, known, place(key) or str(key)))
        return
    _read_own(reading, key, pieces, text, known)


def _read_producers(reading: Reading, key: Text, pieces: list[str]) -> None:
    writes = not set(pieces) & _OF_NEITHER and kafka_names.known(key)
    if pieces[-1:] == ["serializer"] or writes:
        reading.produces = True
    if "." in key and "registry" in pieces:
        reading.unknown_keys.append(str(key))


def _is_the_clients(
    key: Text, pieces: list[str], found: tuple[str, list[str]], homes: frozenset[tuple[str, ...]]
) -> bool:
    """Whether a key that bears one of Kafka's names is a setting of the client."""
    is_kafkas = "." in key and (key in kafka_names.NAMES or key in kafka_names.ALIASES)
    is_at_home = tuple(found[1]) in homes
    return (is_kafkas or is_at_home or _belongs(*found)) and not _is_bent(pieces, found[1])


def _read_known(
    reading: Reading,
    key: Text,
    text: Text | None,
    known: Mapping[str, str],
    found: tuple[str, list[str]],
) -> None:
    name, before = found
    if name in ("group.id", "application.id") and text and text.lower() in ("true", "false"):
        return
    value = read_setting(name, text, known, place(key) or str(key))
    if text is None or text.strip() or value.known:
        reading.put(name, value)
        reading.consumes = reading.consumes or bool({"consumer", "consumers"} & set(before))


def _is_bent(pieces: list[str], before: list[str]) -> bool:
    """`KAFKA_DEFAULT_COMMIT_INTERVAL_MS`: what stands before makes it another name."""
    return pieces[:1] == ["kafka"] and before[1:2] == ["default"]


def _is_the_producers(pieces: list[str]) -> bool:
    return bool(set(pieces[:-1]) & NOT_THE_CONSUMERS) or pieces[-1:] == ["serializer"]


def _belongs(name: str, before: list[str]) -> bool:
    """Whether a setting behind these words is the consumer's."""
    if name in PLAIN:
        return not set(before) & _OF_OTHERS
    return bool(set(before) & _KAFKAS)


def _read_own(
    reading: Reading, key: Text, pieces: list[str], text: Text | None, known: Mapping[str, str]
) -> None:
    """What is no setting of Kafka's: threads, a delay, a switch, a key nobody knows."""
    last, source = squash("".join(pieces[-2:])), place(key) or str(key)
    said = resolved(text, known) if text is not None else None
    if _tells_threads(pieces, last) and whole(said):
        told = inferred if set(pieces) & _MAY_BE_HANDLERS else stated
        reading.members = told(whole(said), source)
    elif _is_switch(pieces) and boolean(said) is False:
        reading.is_off = stated(True, source)
    elif (delay := _delay_ms(key, said)) is not None:
        reading.handler_ms = inferred(delay, source)
    elif (rate := _rate(key, pieces, said)) is not None:
        reading.rate = inferred(rate, source)
    elif name := _strange(key, pieces):
        reading.unknown_keys.append(name)
        if key.isupper() and said is not None and "." in name:
            reading.settings.setdefault(name, stated(said, source) if said else unknown(source))


def _delay_ms(key: Text, said: str | None) -> float | None:
    """What handling is delayed by, where the key's name says that it is a delay."""
    delay, amount = _DELAY.search(str(key)), whole(said)
    if delay is None or amount is None:
        return None
    return amount * (1 if (delay[1] or "").lower() in ("ms", "millis") else 1000)


def _rate(key: Text, pieces: list[str], said: str | None) -> float | None:
    """Records per second, where the key's name says that it is a rate and no bound of one."""
    rate, amount = _RATE.search(str(key)), whole(said)
    if rate is None or not amount or _BOUNDS & set(pieces):
        return None
    return amount / (60 if rate[1][0].lower() == "m" else 1)


def _tells_threads(pieces: list[str], last: str) -> bool:
    near_kafka = bool(set(pieces[:-1]) & _KAFKAS) and "committer" not in pieces
    return near_kafka and bool({pieces[-1], last} & _THREADS)


def _is_switch(pieces: list[str]) -> bool:
    return len(pieces) > 1 and pieces[-1] == "enabled" and pieces[-2] in _SWITCHES


_NOT_KAFKAS = frozenset(listed("topic topics log logging server http"))
_LOOKS_LIKE = re.compile(r"(_ms|\.ms|_bytes|\.bytes|_records|interval|timeout)$", re.IGNORECASE)


def _strange(key: str, pieces: list[str]) -> str | None:
    """A key that looks like a setting of Kafka's and is none: its dotted name."""
    if pieces[:1] == ["kafka"] and _LOOKS_LIKE.search(key) and "_" in key:
        name = ".".join(pieces[1:])
        return None if name in kafka_names.PRODUCERS else name
    if re.fullmatch(r"[a-z]+(\.[a-z]+){1,6}", key) and _may_be_kafkas(key, pieces):
        return str(key)
    return None


def _may_be_kafkas(key: str, pieces: list[str]) -> bool:
    """Near Kafka's words, or nearly one of its names: a server's port is nobody's slip."""
    if set(pieces) & _NOT_KAFKAS:
        return False
    near = bool(set(pieces[:-1]) & _KAFKAS) or bool(_LOOKS_LIKE.search(key))
    return near or kafka_names.nearest(key) is not None
