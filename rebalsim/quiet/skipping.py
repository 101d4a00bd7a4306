"""A client skips quiet time: from when all is quiet until somebody touches it, or until something
is to happen that is no repetition.
"""

from __future__ import annotations

from typing import Any

from rebalsim.quiet.clocks import Clock, Tick
from rebalsim.quiet.committing import Committing
from rebalsim.quiet.consumer_protocol import AsyncReading, playing_of
from rebalsim.quiet.foretelling import Foretold
from rebalsim.quiet.idling import Passes
from rebalsim.quiet.learning import Learning, Lessons
from rebalsim.quiet.playing import Playing
from rebalsim.quiet.reading import ClassicReading
from rebalsim.quiet.recurrence import Recurring
from rebalsim.quiet.rounds import Parked
from rebalsim.quiet.timeline import (
    Handed,
    Moment,
    Timeline,
    flight_of,
    last_empty_us,
    parked_of,
    timeline_of,
)
from rebalsim.simulation.engine import NEWS
from rebalsim.simulation.standing import (
    ANSWERED,
    APP,
    BEAT,
    NEVER,
    Flight,
    Sent,
    Since,
    Standing,
    has_good_standing,
)

WORTH_US = 400_000  # less than this is played
OFTEN_US = 500_000  # records come so often that one does not wait from one to the next
SEEN_FOR_US = 5_000_000
MANY_WAITS = 64
MANY_POLLS = 16
MOST_INSTANTS = 500_000
SOON_US = 50_000
HOPELESS_US = 60_000_000
UNTHINKABLE_US = 2_000_000  # so long it is not asked again


class Quiet:
    """Who lets clients skip."""

    __slots__ = (
        "_busy",
        "_foretold",
        "_instants",
        "_learning",
        "_lessons",
        "_plays",
        "_repeats",
        "_uneven",
        "_unlike",
        "_waited",
        "_watched",
        "compared",
        "leaves_out_refreshes",
    )

    def __init__(self, *, leaves_out_refreshes: bool = False) -> None:
        self.leaves_out_refreshes = leaves_out_refreshes  # of metadata
        self._foretold: list[Foretold] = []
        # clients, and up to when it was seen that …
        self._uneven: dict[int, int] = {}  # … their rounds differ
        self._repeats: dict[int, int] = {}  # … they fit no form, but may repeat themselves
        self._unlike: dict[int, int] = {}  # … they never will
        self._plays: dict[int, int] = {}  # … there is nothing to leave out
        self._busy: dict[int, int] = {}  # how many polls in a row had work at hand
        self._waited: dict[int, int] = {}  # how often they waited in a row, and were not quiet
        self._instants: dict[Any, dict[int, int]] = {}
        self._lessons: dict[tuple[Any, ...], Lessons] = {}
        self._learning: dict[int, Learning] = {}  # whose states are learnt
        self._watched: dict[int, Recurring] = {}  # whose polls are compared while they are awake
        self.compared: dict[int, Recurring] = {}  # whose past is played now, poll by poll

    def plays_until(self, client: Any, until_us: int) -> None:
        """This client plays in full up to then."""
        self._plays[client.rank] = until_us

    def foretold_on(self, ground: tuple[Any, ...]) -> Foretold:
        """What is known of periodic commits on this ground."""
        for found in self._foretold:
            if found.ground == ground:
                return found
        self._foretold.append(Foretold(ground))
        return self._foretold[-1]

    def lessons_on(self, ground: tuple[Any, ...]) -> Lessons:
        """What was learnt on this ground."""
        found = self._lessons.get(ground)
        if found is None:
            found = self._lessons[ground] = Lessons()
        return found

    def instants_of(self, flow: Any) -> dict[int, int]:
        """When its records come, as far as somebody has asked; of all flows that are like it."""
        told = flow.told
        found = self._instants.get(told)
        if found is None or len(found) > MOST_INSTANTS:
            found = self._instants[told] = {}
        return found

    def lets_repeat(self, client: Any) -> bool:
        """A poll() begins: does this client rest from here on, and what repeats is played once?"""
        now, rank = client.engine.now, client.rank
        if self._is_played_apart(client):
            return False
        if self._repeats.get(rank, 0) <= now and not self._is_always_busy(client):
            return False
        if not self._may_begin_here(client):
            return False
        watched = self._watched.get(rank)
        if watched is None or not watched.is_of(client.feed.shares.values()):
            watched = self._watched[rank] = Recurring(client)
            if not watched.is_thinkable():
                del self._watched[rank]
                self._unlike[rank] = now + UNTHINKABLE_US
                return False
        if not watched.rests_from_here():
            return False
        del self._watched[rank]
        watched.begin()
        return True

    def lets_learn(self, client: Any) -> bool:
        """The same of a client of the consumer protocol, whose states are learnt."""
        now, rank = client.engine.now, client.rank
        if self._is_played_apart(client) or not self._may_begin_here(client):
            return False
        learning = self._learning.get(rank)
        if learning is None or not learning.is_of(client.feed.shares.values()):
            learning = self._learning[rank] = Learning(client)
        learning.since_us = now
        if not learning.is_thinkable() or AsyncReading(client).is_thinkable():
            del self._learning[rank]
            self._unlike[rank] = now + UNTHINKABLE_US
            return False
        if learning.is_hopeless:
            del self._learning[rank]
            self._unlike[rank] = now + HOPELESS_US
            return False
        if learning.is_worth_it() and learning.is_possible():
            learning.begin()
            return True
        self.plays_until(client, now + SOON_US)
        return False

    def _is_played_apart(self, client: Any) -> bool:
        """Its past is played now: whoever compares its polls takes note of this one."""
        if client.engine.is_apart and (compared := self.compared.get(client.rank)) is not None:
            compared.passes()
        return bool(client.engine.is_apart)

    def _may_begin_here(self, client: Any) -> bool:
        """Has it something to read, and was nothing seen that speaks against it?"""
        seen_us = max(self._plays.get(client.rank, 0), self._unlike.get(client.rank, 0))
        return seen_us <= client.engine.now and bool(client.feed.shares)

    def compare(self, client: Any) -> None:
        """Its past is played from here on: perhaps it repeats itself."""
        if client.rank not in self.compared:
            recurring = Recurring(client)
            if recurring.is_thinkable():
                self.compared[client.rank] = recurring

    def _is_always_busy(self, client: Any) -> bool:
        """Was there work at hand for it in so many polls, without a wait between two of them?"""
        if not client.feed.buffer and not client.inbox:
            return False
        times = self._busy.get(client.rank, 0) + 1
        self._busy[client.rank] = times
        return times >= MANY_POLLS

    def lets_skip(self, client: Any) -> bool:
        """Does this client skip from now on? It is touched when that is over."""
        link, engine, rank = client.coordinator_link, client.engine, client.rank
        self._busy[rank] = 0
        if self._plays.get(rank, 0) > engine.now or self._repeats.get(rank, 0) > engine.now:
            return False
        is_uneven = engine.is_apart or (link is not None and link.fixed_us < 0)
        if is_uneven or self._uneven.get(rank, 0) > engine.now:
            return self._lets_read(client)
        standing: Standing | None = client.standing()
        if standing is None:
            self._waits_on(client)
            return False
        comes_often = standing.next_us - standing.now_us < OFTEN_US
        if standing.is_mixed and comes_often:
            self._uneven[rank] = standing.now_us + SEEN_FOR_US
            return self._lets_read(client)
        timeline = timeline_of(standing)
        if standing.commits_each and timeline is not None:
            if self._lets_play(Committing(client, standing, timeline), self._repeats):
                return True
            if standing.until_us < NEVER:  # its next beat may bring news: it plays up to then
                self.plays_until(client, standing.until_us)
            return False
        until, worth = standing.until_us, WORTH_US
        if timeline is not None:
            worth = min(worth, 4 * timeline.shortest_us)
        else:
            until = min(until, standing.next_us - 1)
        if until - standing.now_us < worth:
            if timeline is None and comes_often:
                self._waits_on(client)
            else:
                self.plays_until(client, until)
            return False
        self._waited.pop(rank, None)
        client.skipped = Skip(client, standing, timeline)
        client.sleep_through(until)
        return True

    def _waits_on(self, client: Any) -> None:
        """It waits once more without being quiet: where that goes on, it may repeat itself."""
        if client.feed.is_behind or not client.feed.shares:
            return
        times = self._waited.get(client.rank, 0) + 1
        if times > MANY_WAITS and has_good_standing(client):
            self._repeats[client.rank] = client.engine.now + UNTHINKABLE_US
            times = 0
        self._waited[client.rank] = times

    def _lets_read(self, client: Any) -> bool:
        engine = client.engine
        if min(engine.until_us, client.heartbeat.timers.due_us) - engine.now < WORTH_US:
            return False
        return client.rests() and self._lets_play(ClassicReading(client), self._repeats)

    def lets_keep_up(self, client: Any) -> bool:
        """The same for a client of the consumer protocol."""
        if self._plays.get(client.rank, 0) > client.engine.now:
            return False
        playing = playing_of(client)
        if playing is None:
            return False
        if playing.wakes_us < NEVER and not playing.is_worth_it():
            self.plays_until(client, max(playing.wakes_us, client.engine.now + SOON_US))
            return False
        return self._lets_play(playing, self._plays)

    def _lets_play(self, playing: Playing, else_seen: dict[int, int]) -> bool:
        if not playing.is_thinkable():
            else_seen[playing.client.rank] = playing.since_us + UNTHINKABLE_US
            return False
        if not playing.is_possible() or not playing.is_worth_it():
            return False
        playing.begin()
        return True


class Skip:
    """One client's quiet time, since it began."""

    __slots__ = ("_client", "_standing", "_timeline")

    wakes_in_time = False  # what reaches the coordinator meanwhile is made up for
    makes_up_for_refreshes = True  # of metadata, when it is over

    def __init__(self, client: Any, standing: Standing, timeline: Timeline | None) -> None:
        self._client = client
        self._standing = standing
        self._timeline = timeline

    def end(self) -> None:
        """It goes on from now as if it had played it all."""
        client = self._client
        client.skipped = None
        moment = (client.engine.now, client.engine.rank)
        self._make_up_for_refreshes(moment)
        client.catch_up(self.by(moment))

    @property
    def beats(self) -> bool:
        """Does it beat in this quiet time?"""
        return self._standing.beat_due_us < NEVER

    def offset_of(self, share: Any) -> int:
        """How far a partition has been handed over by now, without an end to the quiet."""
        engine = self._client.engine
        return self._first_left(share, self._handed_by((engine.now, engine.rank)))

    def _first_left(self, share: Any, handed: Handed) -> int:
        """The first of its records that is not handed over."""
        timeline, flow = self._timeline, self._standing.flow
        if timeline is None or not (share.flow is flow or share.flow.is_like(flow)):
            return int(share.offset)
        return handed.taken.get(share.broker, timeline.count(handed))

    def by(self, moment: Moment) -> Since:
        """What it did by this moment."""
        standing, timeline = self._standing, self._timeline
        beats = Clock(standing, timeline, is_beat=True)
        commits = Clock(standing, timeline, is_beat=False)
        beaten, committed = beats.up_to(moment), commits.up_to(moment)
        handed = self._handed_by(moment)
        busy_until = -1
        if handed.begun:
            ends = handed.arrived_us + handed.begun[-1].ends_us
            if (ends, standing.first_rank + APP) >= moment:
                busy_until = ends
        since = Since(
            standing.flow if timeline is not None else None,
            timeline.count(handed) if timeline is not None else 0,
            handed.taken,
            self._flights(handed, moment, beats),
            standing.poll_began_us,
            busy_until,
            standing.polled_us,
            standing.heard_us,
            beat_due_us=beats.due_us,
            looked_us=beaten[-1][0] if beaten else standing.looked_us,
            commit_due_us=commits.due_us,
        )
        self._send(since, beaten, committed, moment)
        self._pass(since, handed, committed, moment)
        return since

    # -------------------------------------------------------------------------------- the metadata

    def _make_up_for_refreshes(self, moment: Moment) -> None:
        """Metadata were asked for meanwhile, and brought nothing new."""
        metadata, rank = self._client.metadata, self._client.rank + NEWS
        if metadata.is_left_out or metadata.is_asked_for or (metadata.next_us(), rank) > moment:
            return
        while (asked_us := metadata.next_us(), rank) <= moment:
            came_us = self._answered_us(asked_us)
            if (came_us, rank) > moment:
                metadata.is_answered_at(came_us)
                return
            metadata.stands_as_of(came_us)
        metadata.plan()

    def _answered_us(self, asked_us: int) -> int:
        """When metadata come that were asked for at this instant."""
        client, standing, timeline = self._client, self._standing, self._timeline
        if not client.metadata.may_wait(asked_us):
            return asked_us
        moment = (asked_us, client.rank + NEWS)
        beats = Clock(standing, timeline, is_beat=True)
        beats.up_to(moment)
        handed = self._handed_by(moment)
        for flight in self._flights(handed, moment, beats):
            if flight.broker == client.metadata.asked_broker:
                has_left = flight.leaves_us >= 0
                leaves_us = flight.leaves_us if has_left else self._leaves_us(flight, handed)
                return int(client.metadata.answered_us(asked_us, leaves_us))
        return asked_us

    def _leaves_us(self, flight: Flight, handed: Handed) -> int:
        """When this Fetch is answered."""
        feed = self._client.feed
        there = [share for share in feed.shares.values() if share.broker == flight.broker]
        asked = [(share, self._first_left(share, handed)) for share in there]
        return int(feed.answered_at(asked, flight.arrives_us))

    # ------------------------------------------------------------------------------------ the data

    def _handed_by(self, moment: Moment) -> Handed:
        timeline = self._timeline
        return timeline.handed_by(moment) if timeline is not None else Handed(0, 0, None, (), {})

    def _flights(self, handed: Handed, moment: Moment, beats: Clock) -> list[Flight]:
        standing, timeline, rank = self._standing, self._timeline, self._standing.first_rank
        wait = standing.max_wait_us
        if handed.round is None or timeline is None:
            found = [flight_of(fetch, 0, moment, rank, wait) for fetch in parked_of(standing)]
            return sorted(found, key=lambda flight: flight.arrives_us)
        arrived, played = handed.arrived_us, handed.round
        read = {broker for batch in handed.begun for broker in batch.brokers}
        from_us, before = timeline.parked_before(handed)
        flights: list[Flight] = []
        waited = {fetch.broker: fetch for fetch in before}
        for broker, lands in played.answers:
            if broker in read:
                continue
            fetch = waited[broker]
            period = wait + fetch.again_us
            since = from_us + fetch.since_us
            since += max(0, -((since + wait - arrived) // period)) * period
            came = arrived + lands
            flight = Flight(broker, since, arrived)
            if (came, rank + ANSWERED) < moment:
                flight.lands_us = came
                flight.is_read = self._is_read(came, moment, beats)
            flights.append(flight)
        again = [
            flight_of(fetch, arrived, moment, rank, wait)
            for fetch in played.parked
            if fetch.broker in read
        ]
        if busy_free(handed):
            again.sort(key=lambda flight: flight.arrives_us)
        return flights + again

    def _is_read(self, came_us: int, moment: Moment, beats: Clock) -> bool:
        """Was this read though the application was busy: by a thread of the client's own, or by
        the heartbeat thread at its look?
        """
        if self._standing.is_threaded:
            return True
        return (self._look_after(came_us, beats), self._standing.first_rank + BEAT) < moment

    def _look_after(self, at_us: int, beats: Clock) -> int:
        """The heartbeat thread's next look by itself."""
        tick = self._standing.tick_us
        looked = beats.due_us - beats.interval_us
        if looked > at_us or beats.due_us == self._standing.beat_due_us:
            looked = self._standing.looked_us
        return looked + tick * max(1, -((looked - at_us) // tick))

    # ------------------------------------------------------------------- beats, commits and passes

    def _send(
        self, since: Since, beaten: list[Tick], committed: list[Tick], moment: Moment
    ) -> None:
        """The last beats and commits, back to the last whose answer was read: what came before
        it does not matter any more.
        """
        standing = self._standing
        for tick in reversed(beaten):
            lands = tick[0] + 2 * standing.latency_us
            sent = Sent(tick[0], tick[1], True, lands)
            since.sent.append(sent)
            read = self._read_at(lands, tick[0])
            if read < moment:
                sent.is_read = True
                since.heard_us = max(since.heard_us, read[0])
                since.polled_us = max(since.polled_us, self._passed(lands, read))
                break
        for tick in reversed(committed) if standing.has_offsets else ():
            sent = Sent(tick[0], tick[1], False, standing.answered_us(tick[0]))
            since.sent.append(sent)
            if self._timeline is not None:
                handed = self._timeline.handed_by((tick[0], tick[1]))
                sent.handed, sent.taken = self._timeline.count(handed), handed.taken
            read = self._read_at(sent.lands_us, tick[0])
            if read < moment:
                sent.is_read = True
                since.polled_us = max(since.polled_us, self._passed(sent.lands_us, read))
                break
        since.sent.sort(key=lambda one: (one.at_us, one.rank))

    def _read_at(self, lands_us: int, sent_us: int) -> Moment:
        """When an answer that comes at this instant is read."""
        rank = self._standing.first_rank
        free = self._free_at(lands_us)
        if free < 0 or self._standing.is_threaded:
            return lands_us, rank + ANSWERED
        tick = self._standing.tick_us
        looked = sent_us
        look = looked + tick * max(1, -((looked - lands_us) // tick))
        return (look, rank + BEAT) if look < free else (free, rank + APP)

    def _passed(self, lands_us: int, read: Moment) -> int:
        """The pass of poll() that an answer's coming meant; 0 if it was busy."""
        return 0 if self._free_at(lands_us) >= 0 else read[0]

    def _free_at(self, at_us: int) -> int:
        return self._timeline.free_at(at_us) if self._timeline is not None else -1

    def _pass(self, since: Since, handed: Handed, committed: list[Tick], moment: Moment) -> None:
        """poll()'s own passes: where it began, and where it looked again."""
        standing = self._standing
        if standing.is_idle:
            Passes(standing, since, committed).up_to(moment)
            return
        if not standing.is_threaded:
            for tick in committed:
                since.polled_us = max(since.polled_us, tick[0])
            looked = standing.looks_us
            if (looked, standing.first_rank + APP) < moment and self._free_at(looked) < 0:
                since.polled_us = max(since.polled_us, looked)
        played = handed.round
        if played is None or not handed.begun:
            self._wait(since, *self._before(handed), moment)
        elif since.busy_until_us < 0:
            began = handed.arrived_us + played.ends_us
            self._wait(since, began, handed.arrived_us, played.parked, moment)
        else:
            first = handed.arrived_us + played.begins_us
            self._wait(since, *self._before(handed), (first, standing.first_rank + ANSWERED))
            batch = handed.arrived_us + handed.begun[-1].begins_us
            if batch > first or standing.is_threaded:
                since.poll_began_us = batch
                since.polled_us = max(since.polled_us, batch)

    def _before(self, handed: Handed) -> tuple[int, int, tuple[Parked, ...]]:
        """The poll() in which the last arrival found the application: when it was called, and how
        the Fetches waited.
        """
        if self._timeline is None:
            return self._standing.poll_began_us, 0, parked_of(self._standing)
        from_us, parked = self._timeline.parked_before(handed)
        return self._began_before(handed), from_us, parked

    def _wait(
        self,
        since: Since,
        began_us: int,
        from_us: int,
        parked: tuple[Parked, ...],
        moment: Moment,
    ) -> None:
        """poll() waits from then on up to this moment: called again whenever its time is over,
        and woken by empty answers.
        """
        standing, rank = self._standing, self._standing.first_rank
        timeout = standing.poll_timeout_us
        times = max(0, moment[0] - began_us) // timeout
        if times and (began_us + times * timeout, rank + APP) >= moment:
            times -= 1
        since.poll_began_us = began_us + times * timeout
        since.polled_us = max(since.polled_us, since.poll_began_us)
        for fetch in parked:
            came = last_empty_us(fetch, from_us, moment, rank, standing.max_wait_us)
            since.polled_us = max(since.polled_us, came)

    def _began_before(self, handed: Handed) -> int:
        """When the poll() was called in which the last round found the application."""
        timeline, standing = self._timeline, self._standing
        assert timeline is not None
        began = standing.poll_began_us
        if handed.rounds > 1:
            before = timeline.handed_by((handed.arrived_us, standing.first_rank))
            assert before.round is not None
            began = before.arrived_us + before.round.ends_us
        return began


def busy_free(handed: Handed) -> bool:
    """Are all batches of the last round begun?"""
    return handed.round is not None and len(handed.begun) == len(handed.round.batches)
