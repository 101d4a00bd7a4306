"""A budget as a command takes it."""

from __future__ import annotations

import re

from rebalsim.domain.errors import InputError


def budget_of(text: str) -> tuple[str, str]:
    """`longest_pause <= 5s` → (metric, limit); `pause.p99` is understood as p99_pause."""
    found = re.fullmatch(r"\s*([A-Za-z][\w.\-]*)\s*((?:<=|>=|==|<|>|≤|≥).+)", text)
    if not found:
        raise InputError(
            f"'{text}' is no budget — write a metric, a sign and a limit, as in --budget "
            '"longest_pause <= 5s"'
        )
    name = found[1]
    if swapped := re.fullmatch(r"(\w+)[.\-](p\d+)", name):
        name = f"{swapped[2]}_{swapped[1]}"
    return name, found[2].strip()
