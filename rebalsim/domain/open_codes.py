"""Enums of codes that traces bring: one of somebody else's may have a code that is not known here,
which keeps its own word and is none of ours.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class OpenCode(StrEnum):
    """An enum whose unknown values are told as they stand."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        if not isinstance(value, str):
            return None
        unknown = str.__new__(cls, value)
        unknown._name_, unknown._value_ = value, value
        return unknown
