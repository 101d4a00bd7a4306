"""Which protocols an assignor supports: Kafka's own by name, a user's own by what it says of itself."""

from __future__ import annotations

from rebalsim.domain.errors import InputError
from rebalsim.domain.own_code import imported, protocols_said

STOCK_PROTOCOLS: dict[str, tuple[str, ...]] = {
    "range": ("eager",),
    "roundrobin": ("eager",),
    "sticky": ("eager",),
    "cooperative-sticky": ("cooperative", "eager"),
}


def protocols_of(assignor: str, code_from: str) -> tuple[str, ...] | str:
    """The protocols an assignor supports, or why they cannot be known. `code_from`: the folder
    that own code may come from; empty: none may be run.
    """
    if assignor in STOCK_PROTOCOLS:
        return STOCK_PROTOCOLS[assignor]
    try:
        return protocols_said(assignor, imported(assignor, code_from))
    except InputError as e:
        return str(e)


def common_protocol(assignors: tuple[str, ...], code_from: str) -> str:
    """The protocol that a Java consumer with this list uses: the highest that all of them
    support; empty when there is none.
    """
    common: list[str] = ["cooperative", "eager"]
    for assignor in assignors:
        supported = protocols_of(assignor, code_from)
        if isinstance(supported, str):
            return ""
        common = [p for p in common if p in supported]
    return common[0] if common else ""
