"""What could help, a file a family. Each file has `propose(case)`, which yields patches of the
story; whether they help is found out by playing them, so that a proposal may be bold.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from rebalsim.advice.case import Case
from rebalsim.domain.remedy import Patch


def proposals(case: Case) -> Iterator[Patch]:
    """All that any family proposes, in the order of the families' names; each patch once."""
    seen: set[tuple[tuple[tuple[str, str], ...], str]] = set()
    for family in _families():
        for patch in family.propose(case):
            if patch is not None and patch.sets and (patch.sets, patch.variant) not in seen:
                seen.add((patch.sets, patch.variant))
                yield patch


@cache
def _families() -> tuple[Any, ...]:
    names = sorted(module.name for module in iter_modules(__path__))
    return tuple(import_module(f"{__name__}.{name}") for name in names)
