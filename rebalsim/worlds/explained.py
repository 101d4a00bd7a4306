"""What was understood, in sentences: for `--explain`, and for files in which nothing consumes."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.words.lists import joined
from rebalsim.worlds.asks import QUESTIONS
from rebalsim.worlds.understood import Consumer, Understood
from rebalsim.worlds.values import Value


def nothing_consumes(made: Understood) -> str:
    """One sentence that says what was looked for, and what was there instead."""
    if made.unread and not made.ignored:
        file, line, why = made.unread[0]
        return f"{file}:{line}: cannot be read: {why} — mend it, or render it first"
    seen = list(_seen(made))
    seen += [f"{kind}, a kind that is not known here" for kind in dict.fromkeys(made.strange)]
    there = f"There is {joined(seen)}." if seen else "Nothing here speaks of Kafka."
    return (
        "Nothing in these files consumes: no workload, client settings or listing of a consumer "
        f"group was found. {there}"
    )


def _seen(made: Understood) -> Iterator[str]:
    for scaling in made.scalings:
        what = "a group's lag" if scaling.triggers else ", ".join(scaling.others) or "nothing told"
        yield f"{scaling.kind} {scaling.name} for {scaling.target} on {what}"
    for workload, why in made.maybe:
        yield f"{workload} ({why})"
    if made.topics:
        yield f"{len(made.topics)} topic{'s' if len(made.topics) > 1 else ''}"
    yield from made.connect
    if made.kafka_version is not None:
        yield f"a broker of Kafka {made.kafka_version.value}"
    for ignored in made.ignored[:5]:
        yield ignored.replace(": ", " (", 1) + ")"
    for group in made.listed.groups.values():
        yield f"group {group.name}, {group.state or 'without members'}"
    if made.measured is not None:
        yield f"metrics of {len(made.measured.clients)} clients, which go with a manifest"
    for path in made.missing:
        yield f"word of {path}, which is not among the files"
    for missing in dict.fromkeys(made.listed.missing):
        yield f"word of a group {missing} that does not exist"


def explained(made: Understood) -> str:
    """Everything, heading by heading: understood, ignored, contradictory, hurtful, asked."""
    lines: list[str] = []
    for consumer in made.consumers:
        lines += _consumer(consumer)
    for scaling in made.scalings:
        lines.append(f"{scaling.kind} {scaling.name} scales {scaling.target}")
        lines += [f"  min {_told(scaling.min)}", f"  max {_told(scaling.max)}"]
    for topic, told in made.topics.items():
        parts = ", ".join(f"{k} {_told(v)}" for k, v in told.items())
        lines.append(f"topic {topic}: {parts}")
    for group in made.listed.groups.values():
        lines.append(f"listing of group {group.name}: {len(group.members)} members seen")
    lines += _section("Would hurt", [f"{h.what}: {h.why}{_at(h.where)}" for h in made.hurts])
    lines += _section("Unknown keys", _unknown_keys(made))
    lines += _section("Ignored", made.ignored)
    lines += _section("Not read", [f"{f}:{line}: {why}" for f, line, why in made.unread])
    lines += _section(
        "Render first",
        [
            f"{f}: a template: read as far as it goes; render it and import that"
            for f in made.to_render
        ],
    )
    lines += _section("Named, but not among the files", made.missing)
    lines += _section("Share groups", _share_groups(made))
    lines += _section(
        "Asked",
        [f"{w}: {QUESTIONS[w].what}: {QUESTIONS[w].how}" for w in made.asks if w in QUESTIONS],
    )
    return "\n".join(lines)


def _share_groups(made: Understood) -> list[str]:
    return [
        f"{where}: a share group (KIP-932) has no rebalance of this kind and is not played"
        for where in made.share_groups
    ]


def _unknown_keys(made: Understood) -> list[str]:
    from rebalsim.worlds.kafka_names import nearest

    found = [k for c in made.consumers for k in c.reading.unknown_keys]
    found += [k for s in made.scalings for k in s.unknown_keys]
    return [f"{k}{f' (did you mean {n}?)' if (n := nearest(k)) else ''}" for k in found]


def _consumer(consumer: Consumer) -> list[str]:
    name = consumer.workload or consumer.name or "a client"
    lines = [f"{name}{' · ' + consumer.container if consumer.container else ''}"]
    for word, value in (
        ("replicas", consumer.replicas),
        ("client", consumer.client),
        ("members a pod", consumer.members),
        ("group", consumer.group),
        ("instance id", consumer.instance),
        ("topics", consumer.topics),
        ("grace", consumer.grace),
        ("preStop", consumer.pre_stop),
        *consumer.settings.items(),
    ):
        if value is not None and not (value.value is None and value.sure == "default"):
            lines.append(f"  {word:32} {_told(value)}")
    return lines


def _told(value: Value) -> str:
    said = ", ".join(map(str, value.value)) if isinstance(value.value, list) else value.value
    where = f"  ({value.sure}{': ' + value.source if value.source else ''})"
    return f"{said if value.known else '?'}{where}"


def _at(where: str) -> str:
    return f" [{where}]" if where else ""


def _section(title: str, lines: list[str]) -> list[str]:
    return ["", title, *(f"  {line}" for line in lines)] if lines else []
