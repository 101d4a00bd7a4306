"""A result of --json read back as the report that it told: for comparing with what was kept. Only
what needs the events themselves is gone.

An analysis keeps what it has worked out; here its parts are put in from the document instead,
and nothing is worked out anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rebalsim.analysis import Analysis
from rebalsim.analysis.lag import LagBook
from rebalsim.analysis.lanes import find_lanes
from rebalsim.analysis.values import (
    Alarm,
    Answer,
    Cause,
    Disturbance,
    Facts,
    Holding,
    LagCurve,
    Mark,
    MemberLife,
    Pause,
    Phase,
    Rebalance,
    Redelivery,
    Span,
    StateSpan,
    Story,
    Violation,
)
from rebalsim.domain.alarm import AlarmKind
from rebalsim.domain.cause import CauseKind
from rebalsim.domain.completion import Completion
from rebalsim.domain.doing import Doing
from rebalsim.domain.errors import InputError
from rebalsim.domain.holding_end import HoldingEnd
from rebalsim.domain.ids import Partition, partition_named
from rebalsim.domain.mark_kind import MarkKind
from rebalsim.domain.metrics import METRICS
from rebalsim.domain.pause_start import PauseStart
from rebalsim.domain.phase import PhaseKind
from rebalsim.domain.position_from import PositionFrom
from rebalsim.domain.timer import Timer
from rebalsim.domain.trigger import Trigger
from rebalsim.reports.report import Report, Spread, VariantReport
from rebalsim.reports.to_json import SCHEMA_VERSION
from rebalsim.trace.trace import ConsumerFacts, TopicFacts, Trace, TraceHeader

Doc = Mapping[str, Any]


def report_from(document: Any, name: str) -> Report:
    """The report in a document; `name` is the file's, for messages."""
    version = document.get("schema_version") if isinstance(document, dict) else None
    if version != SCHEMA_VERSION:
        raise InputError(
            f"{name}: is a result of schema version {version!r}; this rebalsim reads "
            f"{SCHEMA_VERSION} — write it anew with this version"
        )
    try:
        variants = tuple(_variant(v, document, name) for v in document["variants"])
        return Report(
            document["title"],
            variants,
            document["description"],
            name,
            digest=document["digest"],
            kafka=document["kafka"],
            seed=document["seed"],
            version=document["rebalsim"],
            command=document["command"],
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as e:
        what = f"lacks {e}" if isinstance(e, KeyError) else str(e)
        raise InputError(
            f"{name}: is not a result as `rebalsim schema --result` describes it ({what})"
        ) from None


def _variant(v: Doc, document: Doc, name: str) -> VariantReport:
    spread = {metric: Spread(**found) for metric, found in v["spread"].items()}
    return VariantReport(
        v["name"], _analysis(v, document), v["heading"], name, spread, tuple(v["notes"])
    )


def _analysis(v: Doc, document: Doc) -> Analysis:
    """An empty trace's analysis, with every part told by the document."""
    members = [_member(m) for m in v["members"]]
    header = _header(v, document, members)
    analysis = Analysis(Trace(header, []))
    pauses = [_pause(p) for p in v["pauses"]]
    holdings = {
        (told["group"], partition_named(told["partition"])): [_holding(h) for h in told["owners"]]
        for told in v["partitions"]
    }
    states = _states(v)
    lag = [_curve(c) for c in v["lag"]]
    book = LagBook(analysis.trace, analysis.horizon_us, "")
    book.corners = {(c.group, c.partition): list(c.corners) for c in lag}
    parts: dict[str, Any] = {
        "groups": tuple(dict.fromkeys((*states, *(group for group, _ in holdings)))),
        "pauses": pauses,
        "holdings": dict(sorted(holdings.items())),
        "lanes": find_lanes(holdings, pauses, header.topics, analysis.horizon_us),
        "group_states": states,
        "state_shares": v["state_shares"],
        **_disturbed(v),
        "members": members,
        "client_metrics": {
            c: {n: m["value"] for n, m in found.items()} for c, found in v["client_metrics"].items()
        },
        "lag": lag,
        "lag_book": book,
        **_told(v),
    }
    analysis.__dict__.update(parts)  # as if they had been asked for already
    analysis.measured.update((metric, v["metrics"][metric]["value"]) for metric in METRICS)
    return analysis


def _header(v: Doc, document: Doc, members: list[MemberLife]) -> TraceHeader:
    counts: dict[str, int] = {}
    for told in v["partitions"]:
        p = partition_named(told["partition"])
        counts[p.topic] = max(counts.get(p.topic, 0), p.number + 1)
    return TraceHeader(
        source=v["source"],
        title=document["title"],
        variant=v["name"],
        heading=v["heading"],
        kafka=v["kafka"],
        digest=document["digest"],
        seed=v["seed"],
        horizon_us=v["horizon_us"],
        topics={topic: TopicFacts(count) for topic, count in sorted(counts.items())},
        consumers={m.consumer: ConsumerFacts(m.group, instance_id=m.instance_id) for m in members},
    )


def _states(v: Doc) -> dict[str, list[StateSpan]]:
    states: dict[str, list[StateSpan]] = {}
    for s in v["group_states"]:
        states.setdefault(s["group"], []).append(
            StateSpan(s["group"], s["state"], s["started_us"], s["ended_us"], _or(s["generation"]))
        )
    return states


def _curve(c: Doc) -> LagCurve:
    return LagCurve(
        partition_named(c["partition"]),
        c["group"],
        tuple((at, x) for at, x in c["corners"]),
        c["peak"],
        c["peak_us"],
        _or(c["caught_up_us"]),
    )


def _told(v: Doc) -> dict[str, Any]:
    """What is told beside the bars."""
    return {
        "redeliveries": [_redelivery(r) for r in v["redeliveries"]],
        "answers": [_plain(Answer, a, tuples=("consumers", "evidence")) for a in v["answers"]],
        "marks": [_mark(m) for m in v["marks"]],
        "alarms": [_alarm(x) for x in v.get("alarms", ())],
        "violations": [_plain(Violation, x, tuples=("evidence",)) for x in v["violations"]],
    }


def _disturbed(v: Doc) -> dict[str, Any]:
    """Rounds and disturbances; a group's first settling, which the document tells apart, comes
    after the others, so that their places stay.
    """
    counted, first = v["disturbances"], v["first_settlings"]
    rebalances = [_rebalance(r) for r in v["rebalances"]]
    by_group: dict[str, list[Rebalance]] = {}
    for r in rebalances:
        by_group.setdefault(r.group, []).append(r)
        if r.is_formation:
            r.disturbance = next(
                (len(counted) + n for n, d in enumerate(first) if d["group"] == r.group), -1
            )
    disturbances = [_disturbance(d) for d in (*counted, *first)]
    return {"rebalances": rebalances, "disturbances": disturbances, "_rounds": by_group}


def _or(value: int | None) -> int:
    """null is unknown, and −1 here."""
    return -1 if value is None else value


def _plain(kind: Callable[..., Any], told: Doc, tuples: tuple[str, ...] = ()) -> Any:
    """A value whose document has its very fields."""
    return kind(**{key: tuple(value) if key in tuples else value for key, value in told.items()})


def _pause(p: Doc) -> Pause:
    cause = p["cause"]
    phases = tuple(
        Phase(
            PhaseKind(x["kind"]),
            x["started_us"],
            x["ended_us"],
            Facts(
                x["consumer"],
                Doing(x["doing"]),
                _or(x["since_us"]),
                _or(x["until_us"]),
                Timer(x["timer"]),
                Trigger(x["trigger"]),
                _or(x.get("heard_us")),
                _or(x.get("left_us")),
            ),
            tuple(x["evidence"]),
        )
        for x in p["phases"]
    )
    story = Story(
        phases,
        Cause(
            CauseKind(cause["kind"]),
            cause["consumer"],
            cause["action"],
            _or(cause["disturbance"]),
            tuple(cause["evidence"]),
        ),
    )
    return Pause(
        partition_named(p["partition"]),
        p["group"],
        p["started_us"],
        p["ended_us"],
        p["is_open"],
        PauseStart(p["why"]),
        p["owner_before"],
        p["owner_after"],
        -1,
        -1,
        _story=story,
    )


def _holding(h: Doc) -> Holding:
    return Holding(
        h["consumer"], h["started_us"], h["ended_us"], _or(h["generation"]), HoldingEnd(h["how"])
    )


def _member(m: Doc) -> MemberLife:
    told = {
        **m,
        "removed": tuple(m["removed"]),
        "spans": tuple(Span(Doing(s["what"]), s["started_us"], s["ended_us"]) for s in m["spans"]),
    }
    return MemberLife(**told)


def _rebalance(r: Doc) -> Rebalance:
    told = {**r, "kicked": tuple(r["kicked"]), "evidence": tuple(r["evidence"])}
    told["trigger"], told["completed_by"] = Trigger(r["trigger"]), Completion(r["completed_by"])
    del told["felt_us"]
    for key in (
        "generation",
        "prepared_us",
        "barrier_us",
        "stable_us",
        "settled_us",
        "moved",
        "least",
        "disturbance",
    ):
        told[key] = _or(told[key])
    return Rebalance(**told, joins={}, notices={}, is_complete=True)


def _disturbance(d: Doc) -> Disturbance:
    told = {
        **d,
        "trigger": Trigger(d["trigger"]),
        "rebalances": tuple(d["rebalances"]),
        "evidence": tuple(d["evidence"]),
        "moved": _or(d["moved"]),
        "least": _or(d["least"]),
    }
    return Disturbance(**told)


def _redelivery(r: Doc) -> Redelivery:
    return Redelivery(
        **{
            **r,
            "partition": _partition(r),
            "how": PositionFrom(r["how"]),
            "disturbance": _or(r["disturbance"]),
            "event": _or(r["event"]),
        }
    )


def _partition(told: Doc) -> Partition:
    return partition_named(told["partition"])


def _alarm(x: Doc) -> Alarm:
    told = {key: value for key, value in x.items() if key != "text"}
    lists = {key: tuple(x[key]) for key in ("consumers", "others", "evidence")}
    partitions = tuple(map(partition_named, x.get("partitions", ())))
    kind = AlarmKind(x["kind"])
    return Alarm(
        **{**told, **lists, "kind": kind, "back_us": _or(x["back_us"]), "partitions": partitions}
    )


def _mark(m: Doc) -> Mark:
    return Mark(
        **{
            **m,
            "kind": MarkKind(m["kind"]),
            "targets": tuple(m["targets"]),
            "event": _or(m["event"]),
        }
    )
