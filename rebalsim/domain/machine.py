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


@dataclass(frozen=True, slots=True)
class Machine:
    """Drawn once for each time a consumer joins, so that a quiet member's beats can be told in
    advance.
    """

    beat_late: Draw = Draw(
        "uniform", 1 * MS, 4 * MS
    )  # an idle member's beat comes so much later than an interval after the last
    service_us: int = 500  # a broker turns to a connection's next request so long after an answer
    connect_us: int = 10 * MS  # a client's new connection takes so much longer than its round trips
    first_fetch_us: int = 6 * MS  # the answer with a partition's first records takes so much longer
    backoff_percent: Draw = Draw("uniform", 80, 120)  # Kafka's clients vary each backoff by a fifth
    # how often that poll() reads the answer to an OffsetFetch sent at its end (30 of 43 recorded)
    spends_wake_up: float = 0.7
    tick_late_us: int = 500  # the heartbeat thread's looks are retry.backoff.ms and this apart
    rebalance_work: Draw = (
        Draw()
    )  # a round trip of a rebalance's requests takes so much longer than a beat's
    # Kafka's asynchronous consumer (the consumer protocol's), whose threads wait for whole
    # milliseconds:
    async_beat_late_us: int = 240  # a beat comes so much late where records flow …
    async_idle_beat_late_us: int = 960  # … and where the thread is woken by nothing else
    async_wait_late_us: int = (
        100  # poll() waits so much longer than it means to (0.05 to 0.13 ms over 169 polls)
    )
    async_turn_us: int = (
        1 * MS
    )  # … and is woken so long after an event of its own for which there is nothing to fetch
    # its background thread commits for a rebalance, or acknowledges it, so long after the news
    async_act_us: int = 1300
    async_rejoin_us: int = (
        5 * MS
    )  # … and joins anew so long after all was lost (10 recorded, 0 to 13)
    async_fetch_us: int = (
        2 * MS
    )  # records that lie ready take so much longer to come than those that are waited for
    async_lookup_us: int = (
        2 * MS
    )  # a partition leader takes so long to say what it knows of an offset
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


PROMPT = Machine(Draw(), 0, 0, 0, spends_wake_up=1.0, tick_late_us=0)
