"""What settings say of one consumer: its group, topics, members, and Kafka's own settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rebalsim.worlds import kafka_names
from rebalsim.worlds.placeholders import resolved
from rebalsim.worlds.secrets import is_credential
from rebalsim.worlds.values import (
    Hurt,
    Text,
    Value,
    default,
    inferred,
    place,
    stated,
    unknown,
)
from rebalsim.worlds.words import whole

# A key to the text that stands there; None where it is known to be set, but not to what.
Keys = dict[Text, Text | None]


@dataclass(slots=True)
class Reading:
    """One consumer as far as a set of keys tells it. What is None was not told."""

    name: str | None = None
    client: Value | None = None
    group: Value | None = None
    instance: Value | None = None
    topics: Value | None = None
    members: Value | None = None
    settings: dict[str, Value] = field(default_factory=dict)
    unknown_keys: list[str] = field(default_factory=list)
    hurts: list[Hurt] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    handler_ms: Value | None = None
    rate: Value | None = None  # records a second, by a key of the program's own
    is_listener: bool = False  # Spring's: the files never tell how many there are
    has_many: bool = False  # several consumers by its nature
    is_pattern: bool = False  # topics by an expression
    consumes: bool = False  # a sign of consuming, not only of Kafka
    produces: bool = False
    mentions_kafka: bool = False
    is_off: Value | None = None  # a switch that says so

    def put(self, name: str, value: Value) -> None:
        """A setting by Kafka's name; what is said later holds."""
        if is_credential(name):
            return
        self.settings[name] = value
        if name in ("group.id", "application.id"):
            if name == "application.id" or "application.id" not in self.settings:
                self.group = value
            self.consumes = True
        elif name == "group.instance.id":
            self.instance = value
        elif name == "num.stream.threads":
            count = whole(value.value) if value.known else None
            self.members = (
                Value(count, value.sure, value.source) if count else unknown(value.source)
            )
        elif name not in ("bootstrap.servers", "client.id", "security.protocol", "sasl.mechanism"):
            self.consumes = True


def read_setting(name: str, text: Text | None, known: Mapping[str, str], source: object) -> Value:
    """One setting's value: resolved and in Kafka's own form, or unknown."""
    if text is None:
        return unknown(source)
    said = resolved(text, known)
    if said is None:
        return unknown(place(text) or source)
    return stated(kafka_names.reading(name, said), place(text) or source)


def weaker(value: Value) -> Value:
    """The value as one that rests on a name or a habit only."""
    return inferred(value.value, value.source) if value.sure == "stated" else value


def one_member(why: str = "one per process") -> Value:
    return default(1, why)
