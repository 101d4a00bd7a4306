"""How far apart the same stretch of a worker's heartbeats is from one time to the next, as real
workers sent them: what no replay that is not told of the beats can do better.

A round begins when somebody joins or is missed, and is full when the others' beats have brought
them the news. So what is left of a delay is some beats' drift off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.percentiles import percentile

BEATS = 7  # between two rounds of a delay there were six and seven
NEAR_MS = 20
DEFAULT_INTERVAL_MS = 3_000


def drifts(document: Mapping[str, Any], beats: int = BEATS) -> list[float]:
    """How much longer than so many intervals they took, from each join's answer on; of a process
    that was not frozen meanwhile.
    """
    interval = float(document["conf"].get("heartbeat.interval.ms", DEFAULT_INTERVAL_MS))
    return [
        took - beats * interval
        for took in _stretches(document, beats)
        if took < (beats + 1) * interval
    ]


def _stretches(document: Mapping[str, Any], beats: int) -> Iterator[float]:
    since: dict[tuple[str, int], tuple[float, int]] = {}  # joined when, and beats since
    for e in document["events"]:
        if "task" in e or "life" not in e:
            continue
        who, what = (e["worker"], e["life"]), (e["ev"], e.get("api"))
        if what == ("got", KafkaApi.JOIN) and not e.get("error"):
            since[who] = (e["t"], 0)
        elif what in (("sent", KafkaApi.JOIN), ("sent", KafkaApi.LEAVE)):
            since.pop(who, None)
        elif what == ("sent", KafkaApi.HEARTBEAT) and who in since:
            joined, sent = since[who]
            since[who] = (joined, sent + 1)
            if sent + 1 == beats:
                yield e["t"] - joined


def say(found: Sequence[float]) -> str:
    """How far two of these are apart; empty where there are no two."""
    apart = sorted(abs(a - b) for place, a in enumerate(found) for b in found[:place])
    middle, most = percentile(apart, 50), percentile(apart, 90)
    if middle is None or most is None:
        return ""
    near = 100 * sum(ms <= NEAR_MS for ms in apart) / len(apart)
    return (
        f"what is left of a delay hangs on beats: two of {len(found)} stretches of {BEATS} beats of "
        f"these workers are {middle:.0f} ms apart in the middle, "
        f"{most:.0f} at nine of ten, {near:.0f} % of them within {NEAR_MS}"
    )
