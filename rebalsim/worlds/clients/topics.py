"""Which of the topics that keys name are consumed, and not only written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rebalsim.worlds.clients.reading import Keys
from rebalsim.worlds.placeholders import resolved
from rebalsim.worlds.values import Text, Value, inferred, place, stated, unknown
from rebalsim.worlds.words import listed, words

_WRITTEN = frozenset(
    listed(
        """
    out output outgoing outbound target sink dest destination produce producer produces publish
    publisher dlq dead deadletter letter error errors failed failure failures retry reply response
    responses result tracker tracking audit status default changelog config configs offset offsets
    write writer template creation create
    """
    )
)
_READ = frozenset(
    listed(
        """
    in input incoming inbound source consume consumer consumers consumed consuming subscribe
    subscription subscriptions subscribed from listen listener ingest ingestion read reader
    """
    )
)
_PLAIN = frozenset(
    listed(
        """
    kafka broker service app application config messaging stream streams my the main queue event
    events message collector env name topic topics kafkatopic id
    """
    )
)
_OF_A_TOPIC = frozenset(
    listed(
        """
    partitions replicas replication factor count size retention enabled auto prefix suffix
    group groupid concurrency metadata refresh max min ms
    """
    )
)


# `app.topics.orders`, `KAFKA_TOPIC_ORDERS`: a program's own name for one of several.
_OWN_NAME = re.compile(r"(?i:(^|\.)topics?\.[a-z][\w-]*$)|(^|_)TOPICS?_[A-Z][A-Z0-9_]*$")


@dataclass(frozen=True, slots=True)
class _Named:
    key: Text
    text: Text | None
    rank: int  # 0: said to be read · 1: plainly the topic · 2: one of a program's own names


def topic_keys(keys: Keys, own: frozenset[str] = frozenset()) -> list[_Named]:
    """The keys that name a topic to read from, with how plainly they do. `own` are words that the
    program puts before all its keys.
    """
    found = []
    for key, text in keys.items():
        rank = _rank(key, own)
        if rank is not None and (text is None or _may_be_a_name(text)):
            found.append(_Named(key, text, rank))
    return found


def _rank(key: str, own: frozenset[str]) -> int | None:
    pieces = words(re.split(r"__|:", key)[-1])
    before = words(key)[: -len(pieces)] if pieces else []
    while pieces and pieces[-1] in ("name", "names", "list", "id", "pattern", "regex"):
        pieces = pieces[:-1]
    if not pieces or pieces[-1] not in ("topic", "topics", "topicname", "kafkatopic"):
        if not _OWN_NAME.search(key):
            return None
        rest = words(key)
        return None if set(rest) & (_WRITTEN | _OF_A_TOPIC) else 2
    rest = _without_logs_of_errors(pieces[:-1])
    if (set(rest) | set(before[-3:])) & _WRITTEN:
        return None
    if set(rest) & _READ or set(before[-2:]) & _READ:
        return 0
    return 1 if all(w in _PLAIN or w in own for w in rest) else 2


def _without_logs_of_errors(pieces: list[str]) -> list[str]:
    """`ErrorLogsTopic` holds logs of errors; it is not where failed records are written to."""
    is_log = [word in ("log", "logs") for word in (*pieces[1:], "")]
    return [w for w, is_before in zip(pieces, is_log) if not (is_before and w == "error")]


def is_of_one_listener(key: str, own: frozenset[str]) -> bool:
    """Whether a key speaks of a consumer by a name, beside which there may be others."""
    before = [w for w in words(key)[:-1] if w not in _PLAIN and w not in own]
    return bool(set(words(key)) & {"consumer", "listener"} and set(before) - _READ)


def _may_be_a_name(text: str) -> bool:
    return bool(text.strip()) and not re.fullmatch(r"-?[\d.]+|true|false", text.strip().lower())


def topics_of(
    keys: Keys, known: Mapping[str, str], own: frozenset[str] = frozenset()
) -> Value | None:
    """The topics that the keys say are consumed; unknown where several could be meant."""
    found = topic_keys(keys, own)
    if not found:
        return None
    best = min(n.rank for n in found)
    chosen = [n for n in found if n.rank == best]
    read = [(n, resolved(n.text, known) if n.text is not None else None) for n in chosen]
    names = list(dict.fromkeys(t for _, said in read if said for t in split(said)))
    if not names:
        return unknown(place(chosen[0].key) or str(chosen[0].key))
    source = ", ".join(place(n.key) or str(n.key) for n, _ in read)
    if best < 2 or len(chosen) == 1:
        return stated(names, source)
    return inferred(names, source)


def split(text: str) -> list[str]:
    """A list of topics written as one text."""
    parts = (t.strip("\"' ") for t in re.split(r"[,;\s]+", text.strip().strip("[]")))
    return [t for t in parts if t]


def is_pattern(names: list[str]) -> bool:
    """Whether a topic is an expression: then what it matches is to be asked."""
    return any(re.search(r"[*^$|()\[\]+\\]", n) for n in names)


def topics_value(text: Text, known: Mapping[str, str]) -> Value:
    """Topics that a documented key lists."""
    said = resolved(text, known)
    return unknown(place(text)) if said is None else stated(split(said), place(text))
