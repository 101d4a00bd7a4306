"""Who acts in a run: brokers, group coordinators, heartbeat threads and poll loops, each a process
of SimPy's, and what the script does is one too.
"""

from __future__ import annotations

import re
from pathlib import Path

import rebalsim
from rebalsim.quiet import Quiet
from rebalsim.scenario.load import load_scenario, story_of
from rebalsim.simulation.world import World

SIMULATION = Path(rebalsim.__file__).parent / "simulation"


def processes(text: str, variant: str = "as-written") -> dict[str, int]:
    story = story_of(f"{text}replay: [{variant}]\n".encode(), "a story").check()
    return _begun(story.scenario(variant))


def _begun(scenario: object) -> dict[str, int]:
    world = World(scenario, 1, is_wire=False, drive=None, quiet=Quiet())  # type: ignore[arg-type]
    world.play()
    return dict(world.engine.begun)


def test_the_scale_out_is_played_by_a_broker_a_coordinator_and_two_threads_for_each_consumer() -> (
    None
):
    scale_out = load_scenario("scale-out").scenario("eager")
    brokers = len(scale_out.cluster.brokers)
    assert _begun(scale_out) == {
        "broker": brokers,
        "group_coordinator": 1,
        "heartbeat_thread": 3,
        "poll_loop": 3,
        "action": 1,
    }


GROUPS = """\
cluster: {config: {offsets.topic.num.partitions: %d}}
topics: {orders: {partitions: 2, rate: 10/s}}
groups:
  one: {members: 1}
  other: {members: 1}
script:
  - {at: 10s, rolling_bounce: {group: one, down: 1s}}
random_faults:
  - {kind: hang, about_every: 30s, for: 1s}
horizon: 1m
"""


def test_groups_of_one_partition_of_the_offsets_topic_share_a_coordinator() -> None:
    assert processes(GROUPS % 1)["group_coordinator"] == 1
    assert processes(GROUPS % 50)["group_coordinator"] == 2


def test_actions_bounces_and_faults_are_processes_and_so_is_each_life_of_a_consumer() -> None:
    begun = processes(GROUPS % 50)
    assert begun["action"] == begun["bounce_in_place"] == 1
    assert begun["random_fault"] == 2
    assert begun["poll_loop"] == begun["heartbeat_thread"] == 3


def test_nobody_but_the_engine_touches_what_simpy_keeps_to_itself() -> None:
    private = re.compile(r"\b(env|engine|event|process)\._(now|queue|eid|ok|value|generator)\b")
    others = [path for path in SIMULATION.rglob("*.py") if path.name != "engine.py"]
    assert [path.name for path in others if private.search(path.read_text("utf-8"))] == []
    assert [path.name for path in others if "import simpy" in path.read_text("utf-8")] == []
