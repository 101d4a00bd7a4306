"""Regular expressions that a file may hold: what is none, and what could take for ever."""

from __future__ import annotations

import re

from rebalsim.scenario.document import shorten


def bad_pattern(pattern: str) -> str:
    """Why this is no regular expression; empty when it is one."""
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as e:
        return f"'{shorten(pattern)}' is no regular expression ({e}) — mend it"
    if (
        re.search(r"\)[*+{]|[*+}][*+{]", pattern)
        or len(re.findall(r"[*+{]", re.sub(r"\\.|\[[^]]*\]", "", pattern))) > 3
    ):
        return (
            f"'{shorten(pattern)}' repeats a group, or repeats too often, which can take for "
            "ever — write it with at most three repeats of single characters"
        )
    return ""
