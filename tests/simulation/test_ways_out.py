"""How a consumer ends and how it comes back to its brokers: what close() waits for, what a
callback or a commit that throws does, and how long TCP and the client take to notice that a line
has healed.
"""

from __future__ import annotations

from played_stories import at, played

from rebalsim.analysis import analyse
from rebalsim.domain.instants import MS, SECOND
from rebalsim.simulation.network import gets_through
from rebalsim.trace import events as ev

PATIENCE = 30 * SECOND  # request.timeout.ms

GROUP = """
topics: {orders: {partitions: 6, rate: 600/s}}
group: {members: 3, handler: 1ms%s}
script: [%s]
horizon: 3m
"""


def test_a_callback_that_throws_in_close_keeps_the_member_from_leaving() -> None:
    trace = played(
        GROUP % (", listener: {throws_in: revoked}", "{at: 1m, leave: c1}"), "cooperative"
    )
    assert at(trace, ev.LeaveSent) == [] and len(at(trace, ev.CloseEnded, consumer="c1")) == 1
    [removed] = [e for e in trace.events if type(e) is ev.MemberRemoved]
    assert (removed.consumer, removed.why, 100 < removed.at_us / SECOND < 106) == (
        "c1",
        "session-expired",
        True,
    )


def test_a_static_member_that_closes_waits_for_the_answer_to_its_parked_join() -> None:
    static = ', config: {group.instance.id: "{name}"}'
    trace = played(
        GROUP
        % (
            static,
            "{at: 59s, hang: {members: c2, for: 25s}}, {at: 60s, join: {names: [d], "
            "group.instance.id: d}}, {at: 65s, leave: c0}",
        ),
        "eager",
    )
    [barrier] = at(trace, ev.BarrierCompleted, since_s=65)[:1]
    assert (
        at(trace, ev.CloseBegan, consumer="c0") == [65.0]
        and at(trace, ev.CloseEnded, consumer="c0")[0] > barrier > 83
    )


def test_a_quiet_member_closes_behind_its_parked_fetch() -> None:
    quiet = (GROUP % (', config: {group.instance.id: "{name}"}', "{at: 65s, leave: c0}")).replace(
        "600/s", "1/m"
    )
    trace = played(quiet)
    [began], [ended] = (
        at(trace, ev.CloseBegan, consumer="c0"),
        at(trace, ev.CloseEnded, consumer="c0"),
    )
    assert 0.05 < ended - began < 0.51  # fetch.max.wait.ms is 500


def test_a_leader_that_computes_longer_than_its_session_is_put_out_by_the_brokers() -> None:
    trace = played("""
topics: {orders: {partitions: 6, rate: 600/s}}
group: {members: 1, handler: 1ms, assignor_cost: {fixed: 15s}, config: {session.timeout.ms: 10s}}
horizon: 1m
""")
    removed = [e for e in trace.events if type(e) is ev.MemberRemoved]
    assert removed and removed[0].why == "session-expired" and at(trace, ev.AssignmentStored) == []


def test_who_is_put_out_during_its_revocation_loses_the_rest_before_it_claims_it() -> None:
    trace = played(
        """
topics: {orders: {partitions: 6, rate: 600/s}, audit: {partitions: 6, rate: 600/s}}
group:
  members: [{name: c0}, {name: c1, listener: {on_revoked: 30s}}, {name: c2}]
  handler: 1ms
  config: {max.poll.interval.ms: 20s, auto.offset.reset: earliest}
script: [{at: 60s, subscribe: {members: c1, topics: [orders]}}]
horizon: 100s
""",
        "cooperative",
    )
    told = [
        (e.callback, sorted({p.topic for p in e.partitions}))
        for e in trace.events
        if type(e) is ev.CallbackBegan
        and e.consumer == "c1"
        and e.at_us > 60 * SECOND
        and e.partitions
    ]
    assert told[:2] == [("revoked", ["audit"]), ("lost", ["orders"])]


def test_an_application_that_dies_of_exceptions_dies_of_a_refused_commit() -> None:
    text = """
topics: {orders: {partitions: 6, rate: 3300/s}}
group: {members: 3, handler: {per_record: 1ms, commit: sync-batch, on_error: %s}, config: {max.poll.interval.ms: 20s}}
script: [{at: 1m, hang: {members: c1, for: 30s}}]
horizon: 3m
"""
    ended = {
        how: [
            (e.how, e.error)
            for e in played(text % how, "cooperative").events
            if type(e) is ev.ConsumerExited
        ]
        for how in ("crash", "close", "retry")
    }
    assert (
        ("fatal", "RebalanceInProgressException") in ended["crash"]
        and ("closed", "") in ended["close"]
        and ended["retry"] == []
    )


def test_a_commit_that_found_no_coordinator_goes_when_there_is_one() -> None:
    trace = played(
        """
cluster: {brokers: 2, latency: 100ms}
topics: {orders: {partitions: 2, rate: 200/s}}
group: {members: 1, handler: {per_record: 10ms, commit: async}, config: {max.poll.records: 10}}
script: [{at: 30s, coordinator_failover: {load: 0s}}]
horizon: 1m
""",
        wire=True,
    )
    [lost], found = at(trace, ev.CoordinatorLost), at(trace, ev.CoordinatorFound, since_s=30)[0]
    sent = [at_s for at_s in at(trace, ev.RequestSent, api="OffsetCommit") if at_s > lost]
    assert sent[0] == found  # that of the batch that ended meanwhile


# -------------------------------------------------------------------------------- a line that heals


def test_tcp_sends_again_after_200_ms_and_twice_as_long_each_time() -> None:
    assert gets_through(SECOND, SECOND + 10 * MS, True, PATIENCE) == (SECOND + 200 * MS, True)
    assert gets_through(SECOND, 3 * SECOND, True, PATIENCE) == (
        SECOND + 3_000 * MS,
        True,
    )  # 0.2 + 0.4 + 0.8 + 1.6
    assert gets_through(0, 20 * SECOND, True, PATIENCE) == (25_400 * MS, True)


def test_a_connection_without_an_answer_is_given_up_with_the_request_and_made_anew() -> None:
    assert gets_through(0, 28 * SECOND, True, PATIENCE) == (30 * SECOND, False)
    assert gets_through(0, 35 * SECOND, True, PATIENCE) == (
        37 * SECOND,
        False,
    )  # asked for at 30, 31, 33 and 37


def test_however_long_a_cut_lasts_the_next_attempt_comes_within_16_seconds() -> None:
    for healed_s in range(31, 3_600, 7):
        again, _ = gets_through(0, healed_s * SECOND, True, PATIENCE)
        assert 0 <= again - healed_s * SECOND <= 16 * SECOND


def test_a_fetch_that_was_cut_off_comes_with_the_next_attempt_and_not_at_once() -> None:
    trace = played(GROUP % ("", "{at: 60s, cut: {members: c1, from: brokers, for: 20s}}"))
    resumed = [
        p.ended_us / SECOND
        for p in analyse(trace).pauses
        if p.owner_before == "c1" and p.why == "cut"
    ]
    assert resumed and all(
        85 < at_s < 86 for at_s in resumed
    )  # sent at some 60, and again at + 25.4
