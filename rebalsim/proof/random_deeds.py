"""What may befall a random world, and what that leaves of it: a drawn deed is a line of a script."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from rebalsim.scenario.profiles import CLIENTS as PROFILES

# Each client library but Java's in its newest version
CLIENTS = {p.client: p for p in PROFILES.values() if not p.has_brokers_version}


class World:
    """Who and what is there, as far as the script has come, and the chances by which it goes on."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.names: list[str] = []
        self.topics: list[str] = []
        self.unborn: list[str] = []
        self.counts: dict[str, int] = {}
        self.joined = 0
        self.has_deleted = False
        self.brokers = random.choice((1, 1, 2, 3))
        self.is_static = False
        self.assignor = self.protocol = self.client = ""

    def one(self, *of: str) -> str:
        return self.random.choice(of)

    def often(self, share: float) -> bool:
        return self.random.random() < share

    def who(self) -> str:
        if self.often(0.15) or not self.names:
            return "all"
        most = max(1, len(self.names) // 2)
        some = self.random.sample(self.names, self.random.randint(1, most))
        return f"[{', '.join(sorted(some))}]"

    def lasts(self, most: int = 60) -> str:
        return f"{self.random.choice([s for s in (1, 3, 8, 12, 25, 50) if s <= most])}s"

    def deed(self) -> str:
        """One of them; where it cannot be in this world, a crash."""
        made = DEEDS[self.random.randrange(len(DEEDS))](self)
        if made:
            return made
        who = self.random.choice(self.names) if self.names else "all"
        return f"crash: {{members: {who}, restart_after: {self.lasts(12)}}}"


def _join(w: World) -> str:
    w.joined += 1
    name = f"j{w.joined}"
    w.names.append(name)
    return f"join: {{names: [{name}]}}"


def _crash(w: World) -> str:
    return f"crash: {{members: {w.who()}, restart_after: {w.lasts()}}}"


def _freeze(w: World) -> str:
    return f"freeze: {{members: {w.who()}, for: {w.lasts()}}}"


def _hang(w: World) -> str:
    return f"hang: {{members: {w.who()}, for: {w.lasts()}}}"


def _slow(w: World) -> str:
    return f"slow: {{members: {w.who()}, factor: {w.random.choice((2, 5))}, for: 20s}}"


def _bounce(w: World) -> str:
    paced = f"down: {w.lasts(12)}, max_unavailable: 1"
    return f"rolling_bounce: {{{paced}{w.one(', ready_when: assigned', ', settle: 2s', '')}}}"


def _cut(w: World) -> str:
    cut = f"members: {w.who()}, for: {w.lasts()}"
    return f"cut: {{{cut}, from: {w.one('coordinator', 'brokers')}}}"


def _add_latency(w: World) -> str:
    who = w.who()
    return f"add_latency: {{members: {who}, extra: {w.one('50ms', '10ms..200ms')}, for: 20s}}"


def _restart_broker(w: World) -> str:
    which = f"broker: {w.random.randrange(w.brokers)}, down: {w.lasts(25)}"
    return f"broker_restart: {{{which}, load: {w.one('0s', '2s')}}}"


def _fail_over(w: World) -> str:
    return f"coordinator_failover: {{load: {w.one('0s', '100ms', '4s')}}}"


def _add_partitions(w: World) -> str:
    topic = w.random.choice(w.topics)
    w.counts[topic] += w.random.randint(1, 4)
    return f"add_partitions: {{topic: {topic}, to: {w.counts[topic]}}}"


def _enforce(w: World) -> str:
    return f"enforce_rebalance: {{members: {w.who()}}}"


def _set_rate(w: World) -> str:
    topic = w.random.choice(w.topics)
    return f"set_rate: {{topic: {topic}, rate: {w.random.choice((0, 10, 200))}/s}}"


def _poison(w: World) -> str:
    topic = w.random.choice(w.topics)
    which = f"partition: {topic}-{w.random.randrange(w.counts[topic])}, for: {w.lasts(25)}"
    return f"poison: {{{which}, times: {w.random.randint(1, 3)}}}"


def _subscribe(w: World) -> str:
    """Kafka's sticky assignors give back what is not wanted."""
    gives_wanted = w.assignor in ("range", "roundrobin") or w.protocol == "consumer"
    if len(w.topics) < 2 or not gives_wanted:
        return ""
    wanted = sorted(w.random.sample(w.topics, w.random.randint(1, len(w.topics))))
    return f"subscribe: {{members: {w.who()}, topics: [{', '.join(wanted)}]}}"


def _upgrade_brokers(w: World) -> str:
    return f'broker_upgrade: {{to: "4.3", down: {w.lasts(8)}, settle: 2s}}'


def _join_many(w: World) -> str:
    count = w.random.randint(1, 3)
    return f"join: {{count: {count}, stagger: {w.random.choice((0, 700))}ms}}"


def _leave(w: World) -> str:
    if len(w.names) < 2:
        return ""
    gone = w.names.pop(w.random.randrange(len(w.names)))
    option = w.one("default", "default", "leave", "remain")  # which is Java's
    return f"leave: {{members: [{gone}], option: {'default' if w.client else option}}}"


def _scale(w: World) -> str:
    w.names = []
    to = w.random.randint(1, 7)
    return f"scale: {{to: {to}, stagger: {w.random.choice((0, 300))}ms}}"


def _bounce_deployment(w: World) -> str:
    if w.is_static:
        return ""
    w.names = []
    how = f"as: deployment, surge: {w.random.choice((0, 1))}, max_unavailable: 1"
    return f"rolling_bounce: {{{how}{w.one(', settle: 1s', '')}}}"


def _bounce_set(w: World) -> str:
    how = f"as: statefulset, down: {w.lasts(8)}"
    return f"rolling_bounce: {{{how}, {w.one('ready_when: assigned', 'ready_after: 4s')}}}"


def _deploy(w: World) -> str:
    down = w.lasts(3)
    return f"deploy: {{down: {down}, config: {{max.poll.records: {w.random.choice((5, 50))}}}}}"


def _create_topic(w: World) -> str:
    return f"create_topic: {w.unborn.pop()}" if w.unborn else ""


def _delete_topic(w: World) -> str:
    if len(w.topics) < 2:
        return ""
    w.has_deleted = True
    return f"delete_topic: {w.topics.pop(w.random.randrange(len(w.topics)))}"


# one of these is drawn by its place; it writes nothing where the world does not allow it
DEEDS: tuple[Callable[[World], str], ...] = (
    _join,
    _crash,
    _freeze,
    _hang,
    _slow,
    _bounce,
    _cut,
    _add_latency,
    _restart_broker,
    _fail_over,
    _add_partitions,
    _enforce,
    _set_rate,
    _poison,
    _subscribe,
    _upgrade_brokers,
    _join_many,
    _leave,
    _scale,
    _bounce_deployment,
    _bounce_set,
    _deploy,
    _create_topic,
    _delete_topic,
)
