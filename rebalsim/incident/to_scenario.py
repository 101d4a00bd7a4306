"""An observed group as a scenario: its members with the settings that their logs show, and what befell
them, at the moments at which it did. Ready to keep as a regression.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from rebalsim.incident.costs import AsObserved, Costs, listener_of
from rebalsim.incident.disturbance import last_us
from rebalsim.incident.growth import topics_of
from rebalsim.incident.lives import BEFORE_JOIN_US, Life, client_id_of, lives_of
from rebalsim.incident.script import script_of
from rebalsim.incident.settings import cluster_lines, config_of, is_consumer_group, kafka_of
from rebalsim.incident.spelling import played_name, spell_ms, spell_name
from rebalsim.scenario.profiles import CLIENTS
from rebalsim.worlds.logs.dialects import dialect
from rebalsim.worlds.logs.observation import GroupStory

RATE = "10/s/partition"
LEAD_US, TRAIL_US = 1_000_000, 5_000_000
PLAYED = frozenset(client for client, _ in CLIENTS)


@dataclass(slots=True)
class Written:
    """A scenario's text, and which instant of the logs is its second nought."""

    text: str
    zero_us: int
    lives: list[Life]
    group: str  # as it is called there


def to_scenario(
    story: GroupStory,
    costs: Costs | None = None,
    shifts: Mapping[str, int] | None = None,
    is_static: bool = False,
) -> Written:
    """The story's YAML. `costs`: what calls and assignments take, if not what they took.
    `shifts`: by how much each life must be started otherwise, so that it joins when it did.
    `is_static`: with an instance id for each process.
    """
    lives = lives_of(story)
    instances = {
        id(v): v.instance or (played_name(v.name) if is_static else "") for v in story.voices
    }
    zero = min((x.begin_us for x in lives), default=last_us(story)) - LEAD_US
    costs = costs or AsObserved.of(story)
    lines = [
        "# Written by rebalsim from logs. What says ASK is assumed: no log tells it.",
        f"title: {spell_name('What befell ' + story.name)}",
    ]
    if version := kafka_of(story):
        lines.append(f'kafka: "{version}"')
    lines += [*cluster_lines(story), "topics:", *_topics(story), "groups:"]
    group = played_name(story.name)
    lines += [f"  {spell_name(group)}:", *_shared(story, costs)]
    members, joins = _members(story, lives, costs, zero, shifts or {}, instances)
    lines += ["    members:", *members]
    script = sorted(joins + script_of(story, lives, zero))
    if script:
        lines += ["script:", *(line for _, line in script)]
    lines += ["start: cold", "replay: [as-written]", "heartbeat_phase: as-written"]
    lines.append(f"horizon: {spell_ms(last_us(story) - zero + TRAIL_US)}")
    return Written("\n".join(lines) + "\n", zero, lives, group)


def _members(
    story: GroupStory,
    lives: list[Life],
    costs: Costs,
    zero: int,
    shifts: Mapping[str, int],
    instances: Mapping[int, str],
) -> tuple[list[str], list[tuple[int, str]]]:
    """The members, and the script's entries for instances that came again."""
    lines, joins = [], []
    there: set[str] = set()
    for life in lives:
        at = life.begin_us - zero - BEFORE_JOIN_US + shifts.get(life.name, 0)
        name, instance = spell_name(life.name), instances[id(life.voice)]
        fields = _fields(life, story, costs, instance)
        if instance and instance in there:
            named = f"join: {{names: [{name}], {', '.join(fields)}}}"
            joins.append((at, f"  - {{at: {spell_ms(at)}, {named}}}"))
        else:
            there.add(instance)
            told = ", ".join([f"name: {name}", f"starts_at: {spell_ms(at)}", *fields])
            lines.append(f"      - {{{told}}}")
    return lines, joins


def _topics(story: GroupStory) -> list[str]:
    return [
        f"  {spell_name(topic)}: {{partitions: {count}, rate: {RATE}}}   # ASK: the rate"
        for topic, count in sorted(topics_of(story).items())
    ]


def _shared(story: GroupStory, costs: Costs) -> list[str]:
    """What all members have alike."""
    lines = ["    life: {start: 0s, stop: 0s}   # the script has the moments themselves"]
    polls = ", poll_timeout: 20ms" if is_consumer_group(story) else ""
    lines.append(f"    handler: {{per_record: 1ms{polls}}}   # ASK: what a record costs")
    if cost := costs.assignment():
        lines.append(f"    assignor_cost: {{fixed: {cost}}}   # from the barrier's end on")
    client = Counter(dialect(v.dialect).client for v in story.voices).most_common(1)
    if client and client[0][0] in PLAYED:
        lines.append(f"    client: {client[0][0]}")
    if config := config_of(story):
        lines += ["    config:", *(f"      {key}: {value}" for key, value in config.items())]
    return lines


def _fields(life: Life, story: GroupStory, costs: Costs, instance: str) -> list[str]:
    """Its own settings: its instance, or the beginning of its member id, by which assignors go; and
    what its listener's calls take.
    """
    fields = []
    if instance:
        fields.append(f"group.instance.id: {spell_name(instance)}")
    elif not is_consumer_group(story) and (client := client_id_of(life)):
        fields.append(f"config: {{client.id: {spell_name(played_name(client))}}}")
    if any(blow.what in ("crash", "freeze") for blow in life.blows):
        # its session began with its last beat, and a commit would have begun it anew
        fields.append("handler: {commit: none}")
    if calls := listener_of(costs, life):
        fields.append(f"listener: {{{', '.join(calls)}}}")
    return fields
