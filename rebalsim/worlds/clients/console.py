"""What a command line says: Kafka's console consumer and the usual options of other programs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from rebalsim.worlds import kafka_names
from rebalsim.worlds.clients.reading import Keys, Reading, read_setting
from rebalsim.worlds.clients.topics import is_pattern, split
from rebalsim.worlds.placeholders import resolved
from rebalsim.worlds.values import Text, inferred, like, place, stated, unknown
from rebalsim.worlds.words import squash

_OPTIONS = {
    "bootstrapserver": "bootstrap.servers",
    "bootstrapservers": "bootstrap.servers",
    "brokers": "bootstrap.servers",
    "broker": "bootstrap.servers",
    "kafkabrokers": "bootstrap.servers",
    "kafkaconsumerbrokers": "bootstrap.servers",
    "group": "group.id",
    "groupid": "group.id",
    "consumergroup": "group.id",
    "kafkaconsumergroupid": "group.id",
    "autooffsetreset": "auto.offset.reset",
    "isolationlevel": "isolation.level",
    "maxpollintervalms": "max.poll.interval.ms",
    "maxpollrecords": "max.poll.records",
    "sessiontimeoutms": "session.timeout.ms",
    "sessiontimeout": "session.timeout.ms",
    "heartbeatinterval": "heartbeat.interval.ms",
    "heartbeatintervalms": "heartbeat.interval.ms",
    "groupinstanceid": "group.instance.id",
    "kafkagroup": "group.id",
    "kafkagroupid": "group.id",
    "kafkabootstrapservers": "bootstrap.servers",
}


def read_command(command: list[Text], known: Mapping[str, str]) -> Reading | None:
    """The options of a command that consumes; None where it says nothing of Kafka."""
    if not command:
        return None
    whole = " ".join(command)
    is_console = "kafka-console-consumer" in whole
    if not is_console and not re.search(r"(?i)kafka|consumer|bootstrap", whole):
        return None
    reading = Reading(mentions_kafka=True, consumes=is_console)
    # A shell's `${X}` and `$X` are variables of the container.
    script = re.sub(r"\\\s*\n", " ", whole)
    script = re.sub(r"\$(\w+)", r"${\1}", script)
    for option, value in _options(script):
        _option(reading, option, like(value, command[0]), known)
    for line in re.findall(r"-D([\w.]+)=(\S+)", script):
        name = kafka_names.exactly(line[0].removeprefix("kafka."))
        if name:
            reading.put(name, read_setting(name, like(line[1], command[0]), known, ""))
    if "--from-beginning" in script:
        reading.put("auto.offset.reset", stated("earliest", "--from-beginning"))
    if is_console:
        reading.client = inferred("java", "kafka-console-consumer")
        reading.members = inferred(1, "one console consumer at a time")
    said = reading.settings or reading.topics or is_console
    return reading if said else None


def arguments(command: list[Text]) -> Keys:
    """Settings given as options, `--spring.kafka.consumer.group-id=x` and its like: they go over the
    environment.
    """
    made: Keys = {}
    for word in command:
        match = re.fullmatch(
            r"--((?:spring|kafka|consumer|mp|quarkus|micronaut)[.][\w.\-]+)=(.*)", word
        )
        if match:
            made[like(match[1], word)] = like(match[2], word)
    return made


def _options(script: str) -> list[tuple[str, str]]:
    try:
        parts = shlex.split(script, comments=False)
    except ValueError:
        parts = script.split()
    parts = [word for part in parts for word in _words_of(part)]
    found = []
    for here, after in zip(parts, [*parts[1:], ""], strict=True):
        if match := re.fullmatch(r"--?([A-Za-z][\w.\-]*)=(.*)", here):
            found.append((match[1], match[2].rstrip(";")))
        elif re.fullmatch(r"--?[A-Za-z][\w.\-]*", here) and not after.startswith("--"):
            found.append((here.lstrip("-"), after.rstrip(";")))
    return found


def _words_of(part: str) -> list[str]:
    """A shell's script in quotes is words again; any other part is one."""
    if not re.search(r"\s--?[A-Za-z]", part):
        return [part]
    try:
        return shlex.split(part, comments=False)
    except ValueError:
        return part.split()


def _option(reading: Reading, option: str, value: Text, known: Mapping[str, str]) -> None:
    name = _OPTIONS.get(squash(option))
    if option in ("consumer-property", "command-property", "property") and "=" in value:
        key, _, text = value.partition("=")
        name, value = kafka_names.exactly(key), like(text, value)
    if name and value:
        reading.put(name, read_setting(name, value, known, f"--{option}"))
    elif squash(option) in (
        "topic",
        "topics",
        "include",
        "whitelist",
        "kafkaconsumertopic",
        "kafkatopic",
        "kafkatopics",
    ):
        said = resolved(value, known)
        names = split(said) if said is not None else []
        where = f"{place(value)} --{option}".strip()
        reading.topics = stated(names, where) if names else unknown(place(value))
        reading.is_pattern = is_pattern(names)
