"""Reports for tests: from the frozen traces of the golden stories, from a trace with hostile
names, and from large ones made here.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rebalsim.analysis import analyse
from rebalsim.domain.ids import Partition
from rebalsim.reports.report import Report, VariantReport
from rebalsim.trace import events as ev
from rebalsim.trace.jsonl import read_trace
from rebalsim.trace.trace import ConsumerFacts, TopicFacts, Trace, TraceHeader

STORIES = Path(__file__).parent.parent / "golden" / "reports"
SECOND = 1_000_000

# what a name may be in the worst case: markup, an escape sequence, text turned around, a line
# break, quotes, a formula, Markdown, a fence
HOSTILE = "=<script>alert(1)</script>\x1b[31m\u202e'\"\n|`*_[x](javascript:1)\\@all&amp;"


def story(name: str) -> Report:
    """The report of a golden story, as `run` would make it."""
    variants = []
    for path in sorted(STORIES.joinpath(name).glob("*.trace.jsonl"), reverse=True):
        trace = read_trace(path)
        variants.append(
            VariantReport(
                trace.header.variant, analyse(trace), trace.header.heading, f"{name}.yaml"
            )
        )
    variants.sort(key=lambda v: v.name != "eager")
    header = variants[0].analysis.header
    return Report(
        header.title,
        tuple(variants),
        file=f"{name}.yaml",
        scenario="topics: {}\n",
        digest=header.digest,
        kafka=header.kafka,
        seed=header.seed,
        version="0.0.0",
        command=f"rebalsim run {name}.yaml --seed 1",
    )


def one(trace: Trace, name: str = "eager") -> Report:
    """A report of one trace."""
    return Report(
        trace.header.title or "a trace",
        (VariantReport(name, analyse(trace), file="t.jsonl"),),
        version="0.0.0",
        command="rebalsim report t.jsonl",
    )


def hostile() -> Report:
    """One hand-over in which every name is hostile: topic, group, consumers, action, title,
    command, file.
    """
    p, q = Partition(HOSTILE, 0), Partition(HOSTILE, 1)
    a, b, group = f"a{HOSTILE}", f"b{HOSTILE}", f"g{HOSTILE}"
    events = [
        ev.ConsumerStarted(0, a, 1),
        ev.CallbackBegan(SECOND, a, "assigned", (p, q)),
        ev.CallbackEnded(SECOND, a, "assigned", (p, q)),
        ev.RecordsDelivered(SECOND, a, {p: (0, 0, 0), q: (0, 0, 0)}),
        ev.ScriptActed(10 * SECOND, HOSTILE, "Crash", HOSTILE, (a,)),
        ev.ConsumerExited(10 * SECOND, a, 1, "killed"),
        ev.MemberRemoved(20 * SECOND, group, a, f"id{HOSTILE}", "session-expired"),
        ev.GroupStateChanged(
            20 * SECOND, group, "Stable", "PreparingRebalance", 1, "session-expired", a, HOSTILE
        ),
        ev.RebalanceNoticed(21 * SECOND, b, "heartbeat"),
        ev.BarrierCompleted(22 * SECOND, group, 2, 1, "all-joined", b, (), b, HOSTILE),
        ev.GroupStateChanged(22 * SECOND, group, "PreparingRebalance", "CompletingRebalance", 2),
        ev.GenerationJoined(22 * SECOND, b, 2, f"id{HOSTILE}", HOSTILE),
        ev.AssignmentStored(22 * SECOND, group, 2),
        ev.GroupStateChanged(22 * SECOND, group, "CompletingRebalance", "Stable", 2),
        ev.AssignmentReceived(22 * SECOND, b, 2, (p, q)),
        ev.CallbackBegan(22 * SECOND, b, "assigned", (p, q)),
        ev.CallbackEnded(22 * SECOND, b, "assigned", (p, q)),
        ev.RecordsDelivered(23 * SECOND, b, {p: (1, 9, 0), q: (1, 9, 0)}),
    ]
    facts = ConsumerFacts(
        group,
        protocol="eager",
        session_timeout_us=10 * SECOND,
        heartbeat_interval_us=3 * SECOND,
        instance_id=HOSTILE,
    )
    header = TraceHeader(
        source="logs",
        title=HOSTILE,
        variant=HOSTILE,
        heading=HOSTILE,
        kafka=HOSTILE,
        horizon_us=40 * SECOND,
        topics={HOSTILE: TopicFacts(2, ((0, 10.0, False),))},
        consumers={a: facts, b: facts},
    )
    made = one(Trace(header, events), HOSTILE)
    return replace(
        made,
        title=HOSTILE,
        file=HOSTILE,
        command=HOSTILE,
        scenario=HOSTILE,
        description=HOSTILE,
        notes=(HOSTILE,),
        kafka=HOSTILE,
    )


def bounced(partitions: int, members: int, bounces: int, shift_us: int = 1_000) -> Trace:
    """A group whose members leave and come back one after another, eagerly; no two partitions
    stand still for quite the same time.
    """
    names, group = [f"orders-processor-{i}" for i in range(members)], "orders"
    topic = {i: Partition("orders", i) for i in range(partitions)}
    events: list[ev.TraceEvent] = [ev.ConsumerStarted(0, name, 1) for name in names]
    at, generation = SECOND, 0

    def assign(at_us: int, living: list[str]) -> int:
        nonlocal generation
        generation += 1
        share = -(-partitions // len(living))
        last = at_us
        events.append(
            ev.BarrierCompleted(at_us, group, generation, len(living), "all-joined", living[-1])
        )
        for place, name in enumerate(living):
            mine = tuple(
                topic[i] for i in range(place * share, min(partitions, (place + 1) * share))
            )
            events.extend(
                (
                    ev.GenerationJoined(at_us, name, generation, f"{name}-id", "range"),
                    ev.AssignmentReceived(at_us, name, generation, mine),
                    ev.CallbackBegan(at_us, name, "assigned", mine),
                    ev.CallbackEnded(at_us, name, "assigned", mine),
                )
            )
        events.append(ev.AssignmentStored(at_us, group, generation))
        deliveries = []
        for place, name in enumerate(living):
            for n, i in enumerate(range(place * share, min(partitions, (place + 1) * share))):
                last = at_us + (n + 1) * shift_us
                deliveries.append(ev.RecordsDelivered(last, name, {topic[i]: (0, 1, 0)}))
        events.extend(sorted(deliveries, key=lambda e: e.at_us))
        return max([e.at_us for e in deliveries], default=at_us) + 1

    at = assign(at, names)
    for bounce in range(bounces):
        gone = names[bounce % members]
        living = [name for name in names if name != gone]
        for who, kind, group_members in ((gone, "left", living), (gone, "joined", names)):
            at += 5 * SECOND
            events.append(
                ev.ScriptActed(at, f"bounce-{bounce}", "RollingBounce", f"{kind} {who}", (who,))
            )
            events.append(
                ev.GroupStateChanged(
                    at, group, "Stable", "PreparingRebalance", generation, kind, who
                )
            )
            for name in names if kind == "left" else living:
                share = -(-partitions // (members if kind == "left" else len(living)))
                place = (names if kind == "left" else living).index(name)
                mine = tuple(
                    topic[i] for i in range(place * share, min(partitions, (place + 1) * share))
                )
                events.extend(
                    (
                        ev.CallbackBegan(at, name, "revoked", mine),
                        ev.CallbackEnded(at, name, "revoked", mine),
                    )
                )
            at = assign(at + SECOND, group_members)
    horizon = at + 10 * SECOND
    facts = {
        name: ConsumerFacts(
            group,
            protocol="eager",
            heartbeat_interval_us=3 * SECOND,
            session_timeout_us=45 * SECOND,
        )
        for name in names
    }
    return Trace(
        TraceHeader(
            source="logs",
            title=f"{members} members on {partitions} partitions",
            horizon_us=horizon,
            topics={"orders": TopicFacts(partitions, ((0, 100.0, False),))},
            consumers=facts,
        ),
        events,
    )
