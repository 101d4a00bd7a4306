"""A user's own assignor, named as `module:function`: how its code is found, and which protocols it
says it supports.

Importing a module runs it. So nothing here happens without a folder to import from, and that is
given only where somebody has said --allow-code.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from rebalsim.domain.errors import InputError

EAGER, COOPERATIVE = "eager", "cooperative"


def is_own_code(assignor: str) -> bool:
    """Is it the name of somebody's own code, rather than of an assignor of Kafka's?"""
    return ":" in assignor


def imported(assignor: str, code_from: str) -> Any:
    """What the name stands for. `code_from`: the folder in which modules are looked for besides
    Python's own path; empty: code is not allowed. InputError says why it cannot be had.
    """
    if not code_from:
        raise InputError(
            f"'{assignor}' is code of yours, and scenarios run no code unasked — add "
            "--allow-code to the command if you trust it"
        )
    module, _, path = assignor.partition(":")
    if not module or not path:
        raise InputError(f"'{assignor}' is not of the form module:function")
    if code_from not in sys.path:  # last, so that it hides nothing of anybody's
        sys.path.append(code_from)
    try:
        found: Any = importlib.import_module(module)
    except ImportError as e:
        raise InputError(
            f"'{assignor}' cannot be imported ({e}) — run the command where it lies, put its "
            "folder on PYTHONPATH, or correct the name before the colon"
        ) from None
    except Exception as e:  # whatever somebody's module does when it is imported
        raise InputError(
            f"'{assignor}' fails when it is imported ({type(e).__name__}: {e}) — mend it first"
        ) from None
    try:
        for part in path.split("."):
            found = getattr(found, part)
    except AttributeError:
        raise InputError(
            f"The module {module} has no '{path}' — correct the name after the colon"
        ) from None
    if not callable(found):
        raise InputError(
            f"'{assignor}' is a {type(found).__name__}, not something that can be called — name "
            "a function"
        )
    return found


def protocols_said(assignor: str, found: Any) -> tuple[str, ...]:
    """The protocols it says it supports; without a word it is eager, as in Kafka."""
    said = getattr(found, "protocols", (EAGER,))
    try:
        protocols = (said,) if isinstance(said, str) else tuple(said)
    except TypeError:
        protocols = ()
    if not protocols or any(p not in (EAGER, COOPERATIVE) for p in protocols):
        raise InputError(
            f"'{assignor}' does not say which protocols it supports — give it an attribute such "
            f'as {assignor.partition(":")[2]}.protocols = ("eager",)'
        )
    return protocols
