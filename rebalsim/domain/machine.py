"""What machines add to Kafka's rules: how late a timer wakes a thread. Stated defaults, in one
place.

Measured on nobody in particular: a thread on an idle machine wakes 1–4 ms after a timer of some
seconds, and half a millisecond after one of a tenth. A scenario may set them all to nothing;
tests of bare rules do.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.domain.draws import Draw
from rebalsim.domain.instants import MS
from rebalsim.domain.worker_costs import WorkerCosts


@dataclass(frozen=True, slots=True)
class RequestCosts:
    """What the requests of a rebalance cost the broker that serves them, in µs: the coordinator takes
    them in one at a time, and the broker's answers leave one at a time.

    Measured on one Kafka 4.3.1 (two cores that others used too, so the low quantiles count), with
    groups of 3 to 1,000 members played by one thread over a connection each: 1,000 JoinGroups were
    taken in 9 ms, as fast as they could be sent; of the answers that the last of them releases the
    first left 0.4 to 0.9 ms after it and the others followed 18 to 33 µs apart (5.5 ms for 300, 33
    for 1,000), the SyncGroups' 17 to 20 µs apart (5.6 ms for 300, 19 for 1,000). A leader's answer
    with 264 kB of metadata took no longer than one with 36 kB, nor did an assignment of such sizes.
    An OffsetFetch of ten partitions took 0.05 ms more than a heartbeat. Under the consumer protocol
    joining took 0.25 ms with 300 members and 0.55 with 1,000, on 1,000 partitions.

    A heartbeat or a commit with which nothing goes on takes 20 to 36 µs: of a thousand members one
    hundredth of the broker's time. It waits for nobody here, and nobody for it.
    """

    join_us: float = 9
    join_answer_us: float = 20
    sync_us: float = 9
    sync_answer_us: float = 18
    leave_us: float = 20
    offset_fetch_us: float = 50
    per_kilobyte_us: float = (
        0  # of the metadata or the assignments that an answer or a request holds
    )
    heartbeat_us: float = 35  # of the consumer protocol, where it joins, leaves or acknowledges
    target_per_member_us: float = 0.3  # of a group of the consumer protocol that somebody joins


FREE = RequestCosts(0, 0, 0, 0, 0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Machine:
    """Drawn once for each time a consumer joins, so that a quiet member's beats can be told in
    advance.
    """

    # an idle member's beat comes so much later than an interval after the last
    beat_late: Draw = Draw("uniform", 1 * MS, 4 * MS)
    service_us: int = 500  # a broker turns to a connection's next request so long after an answer
    connect_us: int = 10 * MS  # a client's new connection takes so much longer than its round trips
    first_fetch_us: int = 6 * MS  # the answer with a partition's first records takes so much longer
    backoff_percent: Draw = Draw("uniform", 80, 120)  # Kafka's clients vary each backoff by a fifth
    # how often that poll() reads the answer to an OffsetFetch sent at its end (30 of 43 recorded)
    spends_wake_up: float = 0.7
    tick_late_us: int = 500  # the heartbeat thread's looks are retry.backoff.ms and this apart
    # a round trip of a rebalance's requests takes so much longer than a beat's
    rebalance_work: Draw = Draw()
    # Kafka's asynchronous consumer (the consumer protocol's), whose threads wait for whole
    # milliseconds:
    async_beat_late_us: int = 240  # a beat comes so much late where records flow …
    async_idle_beat_late_us: int = 960  # … and where the thread is woken by nothing else
    async_wait_late_us: int = (
        100  # poll() waits so much longer than it means to (0.05 to 0.13 ms over 169 polls)
    )
    # … and is woken so long after an event of its own for which there is nothing to fetch
    async_turn_us: int = 1 * MS
    # its background thread commits for a rebalance, or acknowledges it, so long after the news
    async_act_us: int = 1300
    # … and joins anew so long after all was lost (10 recorded, 0 to 13)
    async_rejoin_us: int = 5 * MS
    # records that lie ready take so much longer to come than those that are waited for
    async_fetch_us: int = 2 * MS
    # a partition leader takes so long to say what it knows of an offset
    async_lookup_us: int = 2 * MS
    async_first_fetch_us: int = 10 * MS  # a partition's first records take so much longer
    # Its two threads run a race at each event: the application is woken, and may look before the
    # event is marked complete. How often it does
    looks_too_early: float = (
        0.6  # … while its process has not had partitions yet (15 of 25 recorded)
    )
    looks_too_early_warm: float = 0.1  # … and once it has had some (1 of 12)
    looks_too_early_committed: float = 0.4  # … when committed offsets were asked for (6 of 14)
    looks_too_early_validating: float = 0.4  # … when positions are validated (11 of 29)
    looks_too_early_called: float = 0.55  # … when it ran callbacks meanwhile (8 of 14)
    # … and how often an event that begins a reconciliation is complete before any look (8 of 85)
    looks_at_once: float = 0.1
    # … and how often the next Fetch goes out before the application polls again (901 of 2,212)
    fetches_ahead: float = 0.4
    wakes_again: float = (
        0.33  # … and how often poll() is awake once more soon after a beat (22 of 66)
    )
    # how often a client is connected with the broker it began with before it reads (46 of 56)
    knows_leader: float = 0.8
    costs: RequestCosts = RequestCosts()
    workers: WorkerCosts = WorkerCosts()  # of Connect


PROMPT = Machine(Draw(), 0, 0, 0, spends_wake_up=1.0, tick_late_us=0, costs=FREE)
