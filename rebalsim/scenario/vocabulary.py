"""The language's own keys, for people: what each block and action takes, and which of them know
a key. Made from the language's table.
"""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import fields as fields_of
from itertools import chain

from rebalsim.scenario.action_language import ACTION, DEEDS, RANDOM_FAULT
from rebalsim.scenario.cluster_language import CLUSTER
from rebalsim.scenario.kinds import Choice, Field, Section
from rebalsim.scenario.language import SCENARIO
from rebalsim.scenario.member_language import CONNECT, CONNECTOR, GROUP, MEMBER, TEMPLATE, WORKER
from rebalsim.scenario.process_language import ASSIGNOR_COST, HANDLER, LIFE, LISTENER, STATE
from rebalsim.scenario.schema import SHAPES
from rebalsim.scenario.streams_language import PART, PUNCTUATOR, STORE, STREAMS
from rebalsim.scenario.topic_language import TOPIC_BLOCK

BLOCKS = (
    SCENARIO,
    CLUSTER,
    TOPIC_BLOCK,
    GROUP,
    MEMBER,
    TEMPLATE,
    HANDLER,
    LISTENER,
    STATE,
    LIFE,
    ASSIGNOR_COST,
    STREAMS,
    PART,
    STORE,
    PUNCTUATOR,
    CONNECT,
    WORKER,
    CONNECTOR,
    ACTION,
    RANDOM_FAULT,
)


@dataclass(frozen=True, slots=True)
class Block:
    """A block of the language, or an action of the script."""

    name: str
    doc: str
    keys: tuple[tuple[str, str], ...]  # name → what it means and its default


@dataclass(frozen=True, slots=True)
class Key:
    """One key in one meaning, with the blocks that know it so."""

    name: str
    blocks: tuple[str, ...]
    says: str


def blocks() -> list[Block]:
    """The blocks of a scenario. Actions are not listed among the keys of `action`: they are
    blocks too.
    """
    return [_block(section) for section in BLOCKS]


def actions() -> list[Block]:
    """What the script can do."""
    return [_block(section) for section in DEEDS.values()]


def all_keys() -> list[Key]:
    """Every key that is neither Kafka's own nor an action, once for each meaning."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for section in chain(BLOCKS, DEEDS.values()):
        for field in _own(section):
            takes = field.kind.says
            says = _said(section, field)
            if not isinstance(field.kind, (Choice, Section)) and takes not in (
                "true or false",
                "a text",
            ):
                says += f" Write {takes}."
            found.setdefault((field.name, says), {})[section.name] = None
    return [Key(name, tuple(where), says) for (name, says), where in found.items()]


def _own(section: Section) -> list[Field]:
    return [
        field for field in section.fields.values() if not field.kafka and field.name not in DEEDS
    ]


def _block(section: Section) -> Block:
    return Block(
        section.name,
        section.doc,
        tuple((field.name, _said(section, field)) for field in _own(section)),
    )


def _said(section: Section, field: Field) -> str:
    """What it means, and what holds without it."""
    said = field.doc
    if isinstance(field.kind, Choice):
        said += f" One of {field.kind.says}."
    default = field.default or _default(section, field)
    return said + (
        " Must be there." if field.is_required else f" Default: {default}." if default else ""
    )


def _default(section: Section, field: Field) -> str:
    """The domain's default, as a file would write it; empty where that says nothing."""
    cls = next((cls for shaped, cls in SHAPES if shaped is section), None)
    value = (
        next((f.default for f in fields_of(cls) if f.name == field.target), None)
        if cls is not None
        else None
    )
    return (
        field.kind.say(value)
        if isinstance(value, (str, bool, int, float)) and value not in ("", 0)
        else ""
    )
