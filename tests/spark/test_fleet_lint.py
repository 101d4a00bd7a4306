"""Settings that lint condemns, out of what members print; no Spark is needed for that."""

from __future__ import annotations

import json

from rebalsim.spark.fleet_lint import condemned, findings


def test_two_heartbeats_in_a_session_are_condemned_and_kafkas_defaults_are_not() -> None:
    assert any("three times" in text for text in findings(settings("6000", "3000")))
    assert findings(settings("45000", "3000")) == []


def test_each_group_is_named_with_each_finding_once() -> None:
    told = json.dumps(settings("6000", "3000"))
    found = condemned([("b", told), ("a", told), ("a", told)])
    assert [group for group, _ in found] == ["a", "b"]


def settings(session: str, beat: str) -> dict[str, str]:
    return {
        "session.timeout.ms": session,
        "heartbeat.interval.ms": beat,
        "partition.assignment.strategy": "[class org.apache.kafka.clients.consumer."
        "CooperativeStickyAssignor]",
    }
