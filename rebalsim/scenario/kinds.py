"""Kinds of values: what may stand at a place in a scenario. Each reads a node, says what is wrong
with it, and describes itself to JSON Schema; so loader, schema and `show` cannot disagree. The
table of places is in the language; no kind knows Kafka. A file for each sort; all of them from here.

Libraries made for this were measured and left out. Importing one and building one model costs, in
processor time on top of Python's own 6 ms: msgspec 16 ms, attrs with cattrs 28 ms, pydantic 42 ms
(this table whole, PyYAML included, 60 ms). For two wrong values and an unknown key msgspec tells the
first alone, cattrs and pydantic all three, none of them with a line of the file or the word that was
meant; marks, the resolution of scalars and every message would have to be rewritten around them.

Reading is pure and remembers its result on the node, so a tree that shares most of its nodes
with one already read (overrides, sweeps) costs only what is new.
"""

from __future__ import annotations

from rebalsim.scenario.block_kinds import Field, MapOf, Named, Section, Written, build, merge
from rebalsim.scenario.draw_kinds import DRAW_TEXT, DrawOf, draw_of, say_draw
from rebalsim.scenario.kind import BAD, Kind, Schema, named_schema, shown
from rebalsim.scenario.list_kinds import ListOf, Nullable
from rebalsim.scenario.scalar_kinds import (
    ByteRate,
    Choice,
    Duration,
    Flag,
    Number,
    Percentage,
    ShareOrWhole,
    Size,
    Text,
    Whole,
)

__all__ = [
    "BAD",
    "DRAW_TEXT",
    "ByteRate",
    "Choice",
    "DrawOf",
    "Duration",
    "Field",
    "Flag",
    "Kind",
    "ListOf",
    "MapOf",
    "Named",
    "Nullable",
    "Number",
    "Percentage",
    "Schema",
    "Section",
    "ShareOrWhole",
    "Size",
    "Text",
    "Whole",
    "Written",
    "build",
    "draw_of",
    "merge",
    "named_schema",
    "say_draw",
    "shown",
]
