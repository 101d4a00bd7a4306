"""What Connect's workers add to Kafka's rules: how long their doings take. Stated in one place.

Measured on the recordings of real workers of 4.3.1 (15 scripts, 40 processes; their logs and their
wire), on two cores that up to four runs shared. So a story takes the lower quartile of what was
seen, as near to a quiet machine as can be had, and a replay of such a recording takes the mean. In
ms, with how many were seen, lower quartile, median and mean:

    a task's clients are made (starting → start())            314   17   34   46
    a sink's consumer joins (start() → JoinGroup)             114   24   53   58
    a source's last offsets (stopping → stop())               107   64   99   99   with half a poll, 50
    what a task leaves is closed (stop() → all stopped)        72   11   25    -   some waited for seconds
    statuses are flushed (all stopped → JoinGroup)             96    2    5    8
    the last task has stopped → LeaveGroup                     12  515  680  738
    a connector is made (starting → start())                   92    2    4    8
    another worker reads a config after the first             133    1    3    6
    the config topic is read to its end                        23    7   17   21
    a request over REST → the first worker reads of it         35   18   28   47
    LeaveGroup → the process is gone                           12  354  389  432

Leaving takes that long on any machine: three stores (statuses, configs, offsets) are closed one
after the other, each with a consumer whose Fetch is parked at the broker for up to 500 ms, and its
last request waits behind that one (KafkaBasedLog.stop). Where in its wait each is, is chance: 13 to
516, 23 to 502 and 68 to 547 ms were seen. A worker of 4.3.1 whose Fetches were logged did just that:
of 18 logs closed each was when the parked Fetch was answered, 501 or 502 ms after that was sent. No
rule was found that foretells where the configs' one stands, so here leaving takes the mean.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.domain.draws import Draw, constantly
from rebalsim.domain.instants import MS


@dataclass(frozen=True, slots=True)
class WorkerCosts:
    """Of one worker's process."""

    launch: Draw = constantly(17 * MS)  # a task's clients are made, before its start()
    subscribe: Draw = constantly(24 * MS)  # … and a sink's consumer joins so long after that
    commit: Draw = constantly(30 * MS)  # a source's last offsets, before its stop()
    close: Draw = constantly(11 * MS)  # … and its producer is closed after it
    flush: Draw = constantly(2 * MS)  # what was stopped is written to the status topic
    leave: Draw = constantly(740 * MS)  # a stopping worker leaves the group so long after its tasks
    exit: Draw = constantly(354 * MS)  # … and its process is gone so long after that
    make_connector: Draw = constantly(2 * MS)  # before its start()
    request: Draw = constantly(13 * MS)  # one over REST is taken apart, validated and forwarded
    write: Draw = constantly(5 * MS)  # a record is written to the config topic, and read back
    config_lag: Draw = Draw("uniform", 1 * MS, 14 * MS)  # … and a worker reads it so much later
    config_read: Draw = constantly(7 * MS)  # the config topic is read to its end
    # exactly-once sources, not measured: an admin's call, and a producer's first transaction
    fence: Draw = constantly(30 * MS)
    begin_producer: Draw = constantly(30 * MS)


# Of a replay, whose workers share one machine. What its processor does for all of them, one after
# the other, stands here for one piece of work alone, such that over all replays together a task
# waits as long as it did in the recordings: 57 ms on average from the answer to its start() (314
# tasks, 58 in replays), and a sink's consumer 72 ms from there to its JoinGroup (114 and 73).
RECORDED = WorkerCosts(
    launch=constantly(17 * MS),
    subscribe=constantly(15 * MS),
    commit=constantly(49 * MS),
    close=constantly(25 * MS),
    flush=constantly(8 * MS),
    make_connector=constantly(8 * MS),
    config_read=constantly(21 * MS),
)

# … and of one in which they are drawn, between the tenths of what was seen at either end
DRAWN = WorkerCosts(
    launch=Draw("uniform", 6 * MS, 28 * MS),
    subscribe=Draw("uniform", 5 * MS, 25 * MS),
    commit=Draw("uniform", 10 * MS, 88 * MS),
    close=Draw("uniform", 5 * MS, 50 * MS),
    flush=Draw("uniform", 0, 18 * MS),
    leave=Draw("uniform", 440 * MS, 1_270 * MS),
    make_connector=Draw("uniform", 1 * MS, 19 * MS),
    config_read=Draw("uniform", 5 * MS, 48 * MS),
)
