"""dataclasses.replace without its price, for what is made for each of thousands of members."""

from __future__ import annotations

from typing import Any

_NAMES: dict[type, tuple[str, ...]] = {}  # of a dataclass's fields


def values_of(thing: Any) -> dict[str, Any]:
    """A dataclass's values by field."""
    cls = type(thing)
    names = _NAMES.get(cls)
    if names is None:
        names = _NAMES[cls] = tuple(cls.__dataclass_fields__)
    return {name: getattr(thing, name) for name in names}


def replaced(thing: Any, values: dict[str, Any]) -> Any:
    """A copy of a frozen dataclass with other values in some fields."""
    return type(thing)(**{**values_of(thing), **values})
