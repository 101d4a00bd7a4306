"""Kafka Streams: states of instances and threads, what callbacks took, what was restored.

Its consumers' own lines are Java's; these add how long a callback took and when a task runs again.
"""

from __future__ import annotations

import re

from rebalsim.worlds.logs.dialects import Dialect, Facts
from rebalsim.worlds.logs.facts import Fact, FactKind, Record

_PREFIX = re.compile(r"(stream-client|stream-thread|state-updater) \[([^\]]{1,300})\] ")
_STATE = re.compile(r"State transition from (\w{1,40}) to (\w{1,40})")
_TOOK = re.compile(r"partitions? (?:revocation|lost) took (\d{1,9}) ms")
_TASK = re.compile(
    r"task \[(\d{1,9}_\d{1,9})\] (Initialized|Restored and ready to run|Suspended from|Closed)"
)
_OF_TASKS = {
    "Initialized": "initialized",
    "Restored and ready to run": "running",
    "Suspended from": "suspended",
    "Closed": "closed",
}
_CHANGELOG = re.compile(
    r"Finished restoring changelog \S{1,300} to store \S{1,300} with a total number of (\d{1,15}) "
)
_RESTORED = re.compile(r"Restoration took (\d{1,9}) ms for all active tasks")


def read(record: Record) -> Facts | None:
    """What a line of Streams proves."""
    prefix = _PREFIX.search(record.text)
    if prefix is None:
        return None
    at, message = record.at_us, record.text[prefix.end() :]
    thread = prefix[2].replace("-StateUpdater-", "-StreamThread-")  # which restores for it
    client = f"{thread}-consumer" if prefix[1] != "stream-client" else ""
    if (found := _STATE.match(message)) is not None:
        why = f"{found[1]}>{found[2]}"
        return (Fact(at, FactKind.STREAMS_STATE, client=client, why=why, other=prefix[2]),)
    if (found := _TOOK.match(message)) is not None:
        return (Fact(at, FactKind.CALLBACK_TOOK, client=client, amount=int(found[1])),)
    if (found := _RESTORED.match(message)) is not None:
        return (Fact(at, FactKind.RESTORED, client=client, amount=int(found[1])),)
    if (found := _CHANGELOG.match(message)) is not None:
        return (Fact(at, FactKind.CHANGELOG, client=client, amount=int(found[1])),)
    if (found := _TASK.match(message)) is not None:
        return (Fact(at, FactKind.TASK, client=client, why=_OF_TASKS[found[2]], other=found[1]),)
    if "Detected that the thread is being fenced" in message:
        return (Fact(at, FactKind.THROWN_OUT, client=client, why="missed a rebalance"),)
    return ()


DIALECT = Dialect(
    "Streams", ("stream-thread [", "stream-client [", "state-updater ["), read, order=25
)
