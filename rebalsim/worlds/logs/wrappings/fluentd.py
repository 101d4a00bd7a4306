"""Fluentd's files: `TIME<tab>TAG<tab>{…}`, the document as its collector made it."""

from __future__ import annotations

import re

from rebalsim.worlds.logs.times import stamp_of
from rebalsim.worlds.logs.wrappings import Unwrapped, Wrapping, envelope

_LINE = re.compile(r"(\d{4}-\d\d-\d\d[T ]\S{8,30}(?: [+-]\d{4})?)\t(\S{1,300})\t(?=\{)")


def take(line: str) -> Unwrapped | None:
    """The line in the document, and whose it is: the tag's, where the document does not tell."""
    found = _LINE.match(line)
    if found is None:
        return None
    inner = envelope.opened(line[found.end() :]) or Unwrapped(line[found.end() :])
    return Unwrapped(inner.text, inner.stamp or stamp_of(found[1]), inner.source or found[2])


WRAPPING = Wrapping("fluentd", take, order=25)
