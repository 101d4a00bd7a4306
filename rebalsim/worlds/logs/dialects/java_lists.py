"""Partitions as Java prints them: `[t-0, t-1]`, `t-0, t-1`, or nothing."""

from __future__ import annotations

import re
from functools import lru_cache

from rebalsim.worlds.logs.facts import sorted_partitions

_PARTITION = re.compile(r"[\w.-]{1,249}-\d{1,9}(?![\w.-])")


@lru_cache(8_192)
def partitions_in(text: str) -> tuple[str, ...]:
    """The partitions listed in a text, sorted."""
    if text.startswith("["):
        text = text[1 : text.find("]")] if "]" in text else text[1:]
    return sorted_partitions(_PARTITION.findall(text))
