"""Settings in columns, as show prints them: a name, a value, and where that came from."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rebalsim.domain.consumer import Cost
from rebalsim.scenario.document import Node
from rebalsim.scenario.kinds import Field, Section, Written
from rebalsim.scenario.process_language import COST_KIND


@dataclass(frozen=True, slots=True)
class Row:
    """A setting, its value, and where that came from."""

    name: str
    value: str
    origin: str


def wrapped(text: str, width: int, indent: str) -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False
    ) or [indent]


def in_table(rows: Iterable[Row], width: int, indent: str = "  ") -> list[str]:
    """Name, value and origin in columns; what does not fit goes on below."""
    listed = list(rows)
    origin_width = min(28, max([len(r.origin) for r in listed], default=0))
    name_width = min(41, max([len(r.name) for r in listed], default=0))
    room = width - len(indent) - name_width - origin_width - 4
    lines = []
    for row in listed:
        values = textwrap.wrap(row.value, max(12, room), break_on_hyphens=False) or [""]
        lines.append(f"{indent}{row.name:<{name_width}}  {values[0]:<{room}}  {row.origin}")
        lines += [f"{indent}{'':<{name_width}}  {more}" for more in values[1:]]
    return lines


def origin_of(written: Written | None, key: str, default: str) -> str:
    if written is not None and key in written.unset:
        return f"null, {where_of(written.unset[key])}"
    if written is None or key not in written.at:
        return default
    return where_of(written.at[key])


def where_of(node: Node) -> str:
    return node.source.label or f"line {node.line}"


def rows_of(
    section: Section,
    thing: Any,
    written: Written | None,
    default: str,
    prefix: str = "",
    leave_out: tuple[str, ...] = (),
) -> list[Row]:
    """A row for each field of a section that sets an attribute of `thing`."""
    rows = []
    for field in section.fields.values():
        if field.target and field.name not in leave_out:
            rows.append(
                Row(
                    prefix + field.name,
                    said(field, getattr(thing, field.target)),
                    origin_of(written, field.name, default),
                )
            )
    return rows


def said(field: Field, value: Any) -> str:
    if isinstance(value, Cost):
        return COST_KIND.say(
            tuple(
                None if draw.is_zero else draw
                for draw in (value.fixed, value.per_partition, value.before)
            )
        )
    if value is None or value == "":
        return "–"
    if value == 0 and "/s" in field.kind.says:
        return "–"
    return field.kind.say(value)
