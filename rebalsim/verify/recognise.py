"""Which kind of recording a file is, told by its first line."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from rebalsim.domain.errors import InputError
from rebalsim.outside.documents import parse_json
from rebalsim.trace.gzipped import lines_of

Kind = Literal[
    "assignors",
    "classic",
    "consumer",
    "trace",
    "logs",
    "connect-assignors",
    "connect-trace",
    "streams-assignors",
    "streams-conversations",
    "streams-trace",
]
# what only the header of a recording of Connect's workers says
_OF_CONNECT = ("scheduled.rebalance.max.delay.ms", "connector.class", "connect.protocol")
CONNECT_ASSIGNORS = ("incremental", "eager")


def recognise(path: Path) -> Kind:
    """The kind of the file: assignor answers, a conversation with a coordinator (classic or
    consumer), or a trace of consumers.
    """
    if path.is_dir():
        return "logs"
    first = next((line for line in lines_of(path) if line.strip()), "")
    try:
        document = parse_json(first, str(path))
    except InputError:
        # a trace is one JSON document over many lines: its first line holds the header only
        if '"events"' not in first and '"steps"' not in first:
            return _unknown(path)
        return _kind_of_trace(first)
    if not isinstance(document, dict):
        return _unknown(path)
    if "assignor" in document and "steps" in document:
        if "subtopologies" in document:
            return "streams-assignors"
        is_connect = document["assignor"] in CONNECT_ASSIGNORS
        return "connect-assignors" if is_connect else "assignors"
    if "events" in document and "conf" in document:
        return _kind_of_trace(first)
    if "config" in document and "steps" in document:
        if "subtopologies" in document:
            return "streams-conversations"
        return "consumer" if "topics" in document else "classic"
    return _unknown(path)


def _kind_of_trace(first: str) -> Kind:
    """Whose trace it is: consumers', Connect's or Streams', by keys that only their headers have."""
    if '"x.topology"' in first:
        return "streams-trace"
    return "connect-trace" if any(said in first for said in _OF_CONNECT) else "trace"


def _unknown(path: Path) -> Kind:
    raise InputError(
        f"{path}: is not a recording that verify knows — it reads assignor answers and "
        "conversations (.jsonl), traces of consumers (.json), and folders of logs "
        "with their truth.json"
    )
