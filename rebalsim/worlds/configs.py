"""A file of client settings, or the variables of a container: which dialect it is, and the
consumers that it tells.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from rebalsim.worlds import kafka_names
from rebalsim.worlds.clients import collectors, profiles, signs
from rebalsim.worlds.clients.generic import own_words, read_generic
from rebalsim.worlds.clients.micronaut import is_micronaut, read_micronaut
from rebalsim.worlds.clients.reading import Keys, Reading, read_setting
from rebalsim.worlds.clients.smallrye import in_production, is_reactive, read_reactive
from rebalsim.worlds.clients.spring import is_spring, read_spring
from rebalsim.worlds.recognise import Config
from rebalsim.worlds.text_tree import at
from rebalsim.worlds.values import Text, Value, default, inferred, place, stated, unknown
from rebalsim.worlds.words import words

Known = Mapping[str, str]
_PASCAL = re.compile(r"(^|[.:])(GroupId|BootstrapServers|AutoOffsetReset)$")


def read_keys(keys: Keys, known: Known) -> list[Reading]:
    """The consumers that keys tell, by the dialect that they are in; producers are told as such."""
    if is_reactive(keys):
        return read_reactive(keys, known)
    if is_micronaut(keys):
        return read_micronaut(keys, known)
    spring = read_spring(keys, known) if is_spring(keys) else []
    if any(r.consumes for r in spring):
        return spring
    return _split_or_one(keys, known)


def read_config(config: Config, known: Known) -> list[Reading]:
    """The consumers of a file."""
    if config.tree is not None:
        if found := collectors.read_collectors(config.tree, known):
            return found
        if special := _pipelines(config, known):
            return special
    if config.form == "hocon" and (found := collectors.read_logstash(_texts(config.keys), known)):
        return found
    if config.form == "ini" and config.sections:
        return _ini(config, known)
    keys = _profiled(config, known)
    known = {**{str(k): str(t) for k, t in keys.items() if t}, **known}
    readings = read_keys(keys, known)
    if _is_spring_file(keys) and not _program(config):
        return [r if r.client is not None else _own_beside(keys, r, known) for r in readings]
    for reading in readings:
        if reading.client is None:
            reading.client = _by_form(config, reading)
    return readings


def _program(config: Config) -> signs.Program | None:
    """The program that a file's first words speak of; its name tells nothing."""
    return signs.program_of([k.split(".")[0] for k in config.keys])


def _texts(keys: Keys) -> dict[Text, Text]:
    return {k: t for k, t in keys.items() if t is not None}


def _profiled(config: Config, known: Known) -> Keys:
    """The keys that hold: in production for Quarkus, under the active profiles for Spring."""
    if any(k.startswith("%") for k in config.keys):
        return in_production(config.keys)
    return profiles.laid(config, profiles.active(config.keys, known))


def _is_spring_file(keys: Keys) -> bool:
    return any(words(k)[:1] == ["spring"] for k in keys)


def _own_beside(keys: Keys, reading: Reading, known: Known) -> Reading:
    """Own keys beside Spring's: what stands under spring. is stated, the rest is likely."""
    made = _weak(reading)
    for spring in read_spring(keys, known) if is_spring(keys) else []:
        made.settings.update(spring.settings)
    return made


def _weak(reading: Reading) -> Reading:
    """Own keys in a Spring file: code reads them, if anybody does."""
    for name in ("group", "members", "topics"):
        value: Value | None = getattr(reading, name)
        if value is not None and value.sure == "stated":
            setattr(reading, name, inferred(value.value, value.source))
    reading.settings = {
        k: inferred(v.value, v.source) if v.sure == "stated" else v
        for k, v in reading.settings.items()
    }
    reading.client = reading.client or inferred("spring", "a Spring application's own keys")
    reading.is_listener = True
    return reading


def _by_form(config: Config, reading: Reading) -> Value | None:
    """The client by the form of the file: Java for properties, librdkafka for dotted keys in JSON."""
    by_settings = signs.client_by_settings(reading.settings, _values(reading))
    if by_settings is not None:
        return by_settings
    program = _program(config)
    if program and program.client:
        return inferred(program.client, program.why or "a program known by its keys")
    if by_words := signs.client_by_words(config.keys):
        return by_words
    if any(re.match(r"(?i)(rd|librd)kafka[_.]", k) for k in config.keys):
        return inferred("librdkafka", "its name stands before the keys")
    if config.tree is not None and any(_PASCAL.search(k) for k in config.keys):
        return inferred("librdkafka", "PascalCase is .NET's, whose client wraps librdkafka")
    dotted = sum("." in n and n in kafka_names.NAMES for n in reading.settings)
    if config.form == "properties" and dotted:
        return inferred("java", "Kafka's own names in a properties file")
    if config.form in ("yaml", "json", "toml") and _has_dotted(config):
        return inferred("librdkafka", "Kafka's dotted names in a tree")
    if config.form == "hocon":
        return inferred("java", "HOCON is Java's and Scala's")
    return None


def _values(reading: Reading) -> list[str]:
    return [str(v.value) for v in reading.settings.values() if v.known]


def _has_dotted(config: Config) -> bool:
    tree = config.tree
    stack = [tree]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            if any(k in kafka_names.NAMES and "." in k for k in part):
                return True
            stack.extend(part.values())
        elif isinstance(part, list):
            stack.extend(part)
    return False


# ---- one or several consumers in a set of keys ----
def _split_or_one(keys: Keys, known: Known) -> list[Reading]:
    """A consumer a group: settings before which the same words stand belong to it."""
    groups = _group_prefixes(keys)
    if len(groups) < 2:
        if apart := _variables_apart(keys, known):
            return apart
        reading = read_generic(keys, known)
        return [reading] if _says_something(reading) else []
    made = []
    own = own_words(keys)
    for prefix in groups:
        others = [p for p in groups if p != prefix and not prefix.startswith(p)]
        mine = {k: t for k, t in keys.items() if not any(k.startswith(p) for p in others)}
        named = {k: t for k, t in mine.items() if k.startswith(prefix)}
        reading = _of_one(mine, named, known, own)
        if (group := _group_at(prefix, keys, known)) is not None:
            reading.put("group.id", group)
        reading.name = prefix.strip(".") or None
        made.append(reading)
    return made


def _of_one(mine: Keys, named: Keys, known: Known, own: frozenset[str]) -> Reading:
    """What is told of one consumer, by all that may be its own; its topics first by what names it."""
    reading = read_generic(mine, known, own)
    local = read_generic(named, known, own)
    reading.topics = local.topics or reading.topics
    return reading


def _group_prefixes(keys: Keys) -> list[str]:
    found = []
    for key in keys:
        named = kafka_names.known(key)
        if named and named[0] == "group.id" and "." in key:
            if set(named[1]) & kafka_names.NOT_THE_CONSUMERS:
                continue
            if (prefix := _section_of(key)) not in found:
                found.append(prefix)
    return found


_GROUP = re.compile(r"(.*\.)?[^.]*?group(?:[._-]?(?:id|name))?$", re.IGNORECASE)


def _section_of(key: str) -> str:
    """Where a group's key stands: `shop.orders.` of `shop.orders.consumer.group-id` and of
    `shop.orders.kafka-group-id`.
    """
    found = _GROUP.match(key)
    section = (found[1] or "") if found else key[: key.rfind(".") + 1]
    return re.sub(r"(^|\.)consumer\.$", r"\1", section, flags=re.IGNORECASE)


# Words of a variable's name that tell no consumer from another.
_OF_ALL = frozenset(("kafka", "consumer", "consumers", "broker", "app", "service"))


def _variables_apart(keys: Keys, known: Known) -> list[Reading]:
    """Variables of several groups, `KAFKA_GROUP_ID` and `AUDIT_KAFKA_GROUP_ID`: a consumer each. What
    bears another's words is not its own.
    """
    marks = _marks_of_groups(keys)
    if len(marks) < 2 or len({str(t) for t in marks.values()}) < 2:
        return []
    made = []
    for mark in marks:
        others = [m for m in marks if m and not m <= mark]
        mine = {k: t for k, t in keys.items() if not any(m <= set(words(k)) for m in others)}
        named_so = {k: t for k, t in mine.items() if mark <= set(words(k))}
        reading = _of_one(mine, named_so, known, own_words(keys))
        if own := read_generic(named_so, known).group:
            reading.put("group.id", own)
        reading.name = "-".join(w for w in words(_key_of(keys, mark)) if w in mark) or None
        made.append(reading)
    return made


def _marks_of_groups(keys: Keys) -> dict[frozenset[str], Text]:
    """The words that tell one group's variable from the others', and the group that it names."""
    marks: dict[frozenset[str], Text] = {}
    for key, text in keys.items():
        named = kafka_names.known(key) if "." not in key and text else None
        if named and named[0] == "group.id" and text:
            marks.setdefault(frozenset(named[1]) - _OF_ALL, text)
    marks = {m: t for m, t in marks.items() if not m & kafka_names.NOT_THE_CONSUMERS}
    common = frozenset.intersection(*marks) if marks else frozenset()
    return {words_of - common: text for words_of, text in marks.items()}


def _key_of(keys: Keys, mark: frozenset[str]) -> str:
    return next((str(k) for k in keys if mark <= set(words(k))), "")


def _group_at(prefix: str, keys: Keys, known: Known) -> Value | None:
    for key, text in keys.items():
        named = kafka_names.known(key)
        if key.startswith(prefix) and named and named[0] == "group.id":
            return read_setting("group.id", text, known, place(key))
    return None


def _says_something(reading: Reading) -> bool:
    return bool(reading.settings or reading.topics or reading.produces or reading.mentions_kafka)


# ---- ini ----
def _ini(config: Config, known: Known) -> list[Reading]:
    """The section of the consumer over those that all share; librdkafka's habit."""
    shared: Keys = {}
    own: dict[str, Keys] = {}
    for name, flat in config.sections.items():
        if set(words(name)) & {"producer", "admin", "schema", "registry"}:
            continue
        if "consumer" in words(name) or "group.id" in flat:
            own[name] = dict(flat)
        else:
            shared.update(flat)
    made = []
    for keys in own.values() or [shared]:
        reading = read_generic({**shared, **keys}, known)
        if reading.consumes:
            reading.client = signs.client_by_settings(
                [*reading.settings, *shared, *keys], _values(reading)
            ) or inferred("librdkafka", "sections of an ini file are its habit")
            if reading.client.value == "java" and any(
                k in ("sasl.mechanisms", "metadata.broker.list") for k in (*shared, *keys)
            ):
                reading.client = inferred("librdkafka", "names that only librdkafka has")
            made.append(reading)
    return made


# ---- programs with a list of their own ----
def _pipelines(config: Config, known: Known) -> list[Reading]:
    """A table of topics with a group each (taskbroker and its like)."""
    listed = at(config.tree, "kafka_topics")
    if not isinstance(listed, dict):
        return []
    groups: dict[str, list[str]] = {}
    where: dict[str, str] = {}
    for topic, own in listed.items():
        group = at(own, "consumer_group")
        if isinstance(group, Text) and str(at(own, "produce_only")).lower() != "true":
            groups.setdefault(str(group), []).append(str(topic))
            where[str(group)] = place(group)
    made = []
    for group, topics in groups.items():
        reading = read_generic({k: t for k, t in config.keys.items() if k.count(".") == 0}, known)
        reading.put("group.id", stated(group, where[group]))
        reading.topics = stated(topics, where[group])
        reading.client = inferred("librdkafka", "a program known by its keys")
        reading.members = default(1, "one per process")
        made.append(reading)
    return made


def knative_source(tree: object) -> Reading | None:
    """Knative's KafkaSource: it says group, topics and how many consume."""
    spec = at(tree, "spec")
    if at(tree, "kind") != "KafkaSource":
        return None
    reading = Reading(consumes=True, mentions_kafka=True)
    reading.client = inferred("java", "Knative's dispatcher")
    group = at(spec, "consumerGroup")
    reading.put(
        "group.id",
        stated(str(group), place(group)) if isinstance(group, Text) else unknown("made by Knative"),
    )
    topics = [t for t in at(spec, "topics") or [] if isinstance(t, Text)]
    reading.topics = stated([str(t) for t in topics], place(topics[0])) if topics else unknown()
    servers = [s for s in at(spec, "bootstrapServers") or [] if isinstance(s, Text)]
    if servers:
        reading.put("bootstrap.servers", stated(",".join(servers), place(servers[0])))
    return reading
