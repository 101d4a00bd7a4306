"""A prediction that is a recording itself with known mistakes: what a judge must find can be
told beforehand.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from rebalsim.verify.judge import callbacks_of, deliveries


def tampered(document: dict[str, Any]) -> dict[str, Any]:
    """The recording as a prediction of itself: every callback 7 ms late, the third one's
    partitions wrong, and of the gaps over 60 ms every fifth missing, every seventh 150 ms too
    long, and one that never was.
    """
    callbacks = [{**callback, "t": callback["t"] + 7} for callback in callbacks_of(document)]
    if len(callbacks) > 2:
        callbacks[2] = {**callbacks[2], "partitions": callbacks[2]["partitions"][:-1] or ["t-99"]}
    pauses = []
    for partition, times in sorted(deliveries(document).items()):
        for (start, _), (end, _) in pairwise(times):
            if end - start > 60:
                pauses.append({"partition": partition, "start": start, "end": end})
    kept = [
        {**p, "end": p["end"] + (150 if i % 7 == 0 else 0)} for i, p in enumerate(pauses) if i % 5
    ]
    first = next(iter(sorted(deliveries(document).items())))
    kept.append(
        {"partition": first[0], "start": first[1][0][0] + 1000, "end": first[1][0][0] + 1900}
    )
    return {
        "generations": max(
            (e["generation"] for e in document["events"] if e["ev"] == "joined"), default=0
        ),
        "callbacks": callbacks,
        "pauses": kept,
    }
