"""A user's own assignor, named as module:function: which protocols it says it supports. Imported
only under --allow-code.
"""

from __future__ import annotations

import importlib

STOCK_PROTOCOLS: dict[str, tuple[str, ...]] = {
    "range": ("eager",),
    "roundrobin": ("eager",),
    "sticky": ("eager",),
    "cooperative-sticky": ("cooperative", "eager"),
}


def protocols_of(assignor: str, allow_code: bool) -> tuple[str, ...] | str:
    """The protocols an assignor supports, or why they cannot be known."""
    if assignor in STOCK_PROTOCOLS:
        return STOCK_PROTOCOLS[assignor]
    if not allow_code:
        return (
            f"'{assignor}' is code of yours, and scenarios run no code unasked — add "
            "--allow-code to the command if you trust it"
        )
    module, _, name = assignor.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except ImportError as e:
        return (
            f"'{assignor}' cannot be imported ({e}) — put its folder on PYTHONPATH, or correct "
            "the name before the colon"
        )
    except AttributeError:
        return f"The module {module} has no '{name}' — correct the name after the colon"
    except Exception as e:  # whatever somebody's module does when it is imported
        return f"'{assignor}' fails when it is imported ({type(e).__name__}: {e}) — mend it first"
    said = getattr(found, "protocols", ("eager",))  # without, it is eager, as in Kafka
    protocols = (said,) if isinstance(said, str) else tuple(said)
    if (
        not callable(found)
        or not protocols
        or any(p not in ("eager", "cooperative") for p in protocols)
    ):
        return (
            f"'{assignor}' does not say which protocols it supports — give it an attribute such "
            f'as {name}.protocols = ("eager",)'
        )
    return protocols


def common_protocol(assignors: tuple[str, ...], allow_code: bool) -> str:
    """The protocol that a Java consumer with this list uses: the highest that all of them
    support; empty when there is none.
    """
    common: list[str] = ["cooperative", "eager"]
    for assignor in assignors:
        supported = protocols_of(assignor, allow_code)
        if isinstance(supported, str):
            return ""
        common = [p for p in common if p in supported]
    return common[0] if common else ""
