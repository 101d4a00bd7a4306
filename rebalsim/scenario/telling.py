"""The script in words: what an action does, and when. For timetables, marks and traces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rebalsim.domain import script as deeds
from rebalsim.domain.autoscaling import Autoscale
from rebalsim.domain.draws import Draw
from rebalsim.domain.kubernetes import DrainNode, Evict, Probe, Recreate
from rebalsim.domain.script import Action, Deed, RandomFault
from rebalsim.scenario.kinds import say_draw
from rebalsim.scenario.quantities import say_rate, say_us
from rebalsim.words.lists import first_to_last


def say_names(names: Sequence[str]) -> str:
    """`c0, c1 and c2`, or `c0 … c11` where they are many."""
    return first_to_last(names, 4)


def _verb(names: Sequence[str], one: str, many: str) -> str:
    return f"{say_names(names)} {one if len(names) == 1 else many}"


def _for(draw: Draw) -> str:
    return f" for {say_draw(draw)}"


def _stagger(us: int) -> str:
    return f", {say_us(us)} apart" if us else ""


def say_deed(deed: Deed) -> str:
    """What is done, in a sentence without its full stop."""
    match deed:
        case deeds.Join(consumers, stagger):
            return _verb([c.name for c in consumers], "joins", "join") + _stagger(stagger)
        case Probe(consumers, looks_at):
            return f"a probe looks at the {looks_at.replace('_', ' ')} of {say_names(consumers)}"
        case DrainNode(_, consumers, _, keep):
            return f"the node of {say_names(consumers)} is drained, {keep} stay available"
        case Evict(consumers, _, notice):
            return f"the machine of {say_names(consumers)} is gone in {say_us(notice)}"
        case Recreate(consumers):
            return f"{say_names(consumers)} stop, and start when all are gone"
        case Autoscale():
            by = (
                f"how busy they are (target {deed.cpu_target:.0%})"
                if deed.cpu_target is not None
                else f"lag (threshold {deed.lag_threshold:g})"
            )
            return f"an autoscaler keeps {deed.least} to {deed.most} members by {by}"
        case deeds.Scale(_, to, joiners, stagger):
            come = (
                ": " + _verb([c.name for c in joiners], "joins", "join")
                if joiners
                else ": the last ones leave"
            )
            return f"scale to {to}{come}{_stagger(stagger)}"
        case deeds.Leave(consumers, stagger, option):
            return (
                _verb(consumers, "leaves", "leave")
                + _stagger(stagger)
                + (f" with close option {option}" if option != "default" else "")
            )
        case deeds.Crash(consumers, restart):
            return _verb(consumers, "crashes", "crash") + (
                f", started again after {say_draw(restart)}" if restart is not None else ""
            )
        case deeds.Freeze(consumers, for_):
            return _verb(consumers, "freezes", "freeze") + _for(for_)
        case deeds.Hang(consumers, for_):
            return f"the handler of {say_names(consumers)} hangs{_for(for_)}"
        case deeds.Poison(topic, partition, offset, for_, times):
            which = "the next record" if offset is None else f"record {offset}"
            return f"{which} of {topic}-{partition} hangs its handler{_for(for_)}" + (
                f", {times} times" if times else ""
            )
        case deeds.Slow(consumers, factor, for_us):
            return (
                f"the handler of {say_names(consumers)} takes {factor:g} × as long for "
                f"{say_us(for_us)}"
            )
        case deeds.RollingBounce():
            return _bounce(deed)
        case deeds.Cut(consumers, is_all, for_):
            return (
                f"{say_names(consumers)} cut off from "
                f"{'all brokers' if is_all else 'the coordinator'}{_for(for_)}"
            )
        case deeds.Delay(consumers, extra, for_us):
            return (
                f"network of {say_names(consumers)} slower by {say_draw(extra)} for "
                f"{say_us(for_us)}"
            )
        case deeds.BrokerRestart(broker, down, _, group):
            return (
                f"{f'the coordinator of {group}' if broker is None else f'broker {broker}'} "
                f"restarts, away{_for(down)}"
            )
        case deeds.BrokerBusy(broker, wait, for_us, group):
            return (
                f"{f'the coordinator of {group}' if broker is None else f'broker {broker}'} is busy: "
                f"requests wait {say_draw(wait)} for {say_us(for_us)}"
            )
        case deeds.BrokerUpgrade(kafka, down, _, _):
            return f"brokers upgraded to Kafka {kafka} one by one, each away{_for(down)}"
        case deeds.Failover(group, load):
            return f"the coordinator of {group} moves" + (
                f" and loads{_for(load)}" if not load.is_zero else ""
            )
        case deeds.AddPartitions(topic, to):
            return f"{topic} grows to {to} partitions"
        case deeds.CreateTopic(topic):
            return f"{topic} is created"
        case deeds.DeleteTopic(topic):
            return f"{topic} is deleted"
        case deeds.Subscribe(consumers, topics, pattern):
            return (
                _verb(consumers, "subscribes", "subscribe")
                + f" to {pattern if pattern is not None else ', '.join(topics)}"
            )
        case deeds.EnforceRebalance(consumers):
            return _verb(consumers, "enforces a rebalance", "enforce a rebalance")
        case deeds.SetRate(topic, per_second):
            return f"records arrive at {topic} at {say_rate(per_second)}"
        case _:
            return _connectors(deed)


def _connectors(deed: Deed) -> str:
    match deed:
        case deeds.CreateConnector(_, connector):
            return f"connector {connector.name} is created with {connector.tasks_max} tasks"
        case deeds.DeleteConnector(_, name):
            return f"connector {name} is deleted"
        case deeds.ReconfigureConnector(_, connector):
            return f"connector {connector.name} is reconfigured"
        case deeds.RestartConnector(_, name):
            return f"connector {name} is restarted"
        case deeds.TargetConnector(_, name, target):
            how = {"paused": "paused", "stopped": "stopped"}.get(target, "resumed")
            return f"connector {name} is {how}"
        case deeds.FailTask(_, connector_name, number):
            return f"task {connector_name}-{number} fails"
        case _:
            return type(deed).__name__


def _bounce(deed: deeds.RollingBounce) -> str:
    text = ("deploy to " if deed.deploy.consumers else "rolling bounce of ") + say_names(
        deed.consumers
    )
    if deed.surge_consumers:
        text += f", replaced by {say_names([c.name for c in deed.surge_consumers])}"
    parts = [f"{deed.max_unavailable} at a time"]
    if deed.surge:
        parts.append(f"surge {deed.surge}")
    if deed.down is not None:
        parts.append(f"away{_for(deed.down)}")
    if deed.ready_after_us:
        parts.append(f"ready {say_us(deed.ready_after_us)} after start")
    if deed.ready_when_assigned:
        parts.append("ready when assigned")
    if deed.settle_us:
        parts.append(f"{say_us(deed.settle_us)} between")
    return f"{text}: {', '.join(parts)}"


def say_when(action: Action) -> str:
    """`1m`, `after bounce + 10s`, `when group is stable`; with its repeats."""
    parts = []
    if action.after is not None:
        parts.append(
            f"after {action.after}" + (f" + {say_us(action.at_us)}" if action.at_us else "")
        )
    elif action.when is None or action.at_us:
        parts.append(say_us(action.at_us))
    if action.when is not None:
        parts.append(
            f"when {action.when.group} is {action.when.is_}"
            + (f" for {say_us(action.when.for_us)}" if action.when.for_us else "")
        )
    if action.jitter_us:
        parts.append(f"+ up to {say_us(action.jitter_us)}")
    if action.every_us is not None and action.times > 1:
        parts.append(f"every {say_us(action.every_us)}, {action.times} times")
    return ", ".join(parts)


def say_fault(fault: RandomFault) -> str:
    text = {
        "crash": "crash",
        "freeze": "freeze",
        "hang": "handler hangs",
        "cut": "cut off from the coordinator",
    }[fault.kind]
    window = (f" from {say_us(fault.from_us)}" if fault.from_us else "") + (
        f" until {say_us(fault.until_us)}" if fault.until_us is not None else ""
    )
    back = f", back after {say_draw(fault.for_)}" if fault.kind == "crash" else _for(fault.for_)
    return (
        f"{text}: {say_names(fault.consumers)}, each about every "
        f"{say_us(fault.mean_between_us)}{back}{window}"
    )


def joined(lines: Iterable[str]) -> str:
    return "\n".join(lines)
