"""Random stories: small worlds of every kind, and harm of every kind until an instant from which on
they are left alone.

Both protocols and the road between them, static and dynamic members, short time-outs and Kafka's
own, every action of the language, and in some classic groups the other client libraries, by
themselves or beside Java's. Those, and a broker's other load, are drawn apart: all other draws of a
seed are what they are without.

Written as scenario files, so that whoever finds a bad one can run it, shrink it and keep it.
What harm remains possible after the healing (batches longer than max.poll.interval.ms, and the
like) is left out: such a group never settles, and that is no bug.
"""

from __future__ import annotations

from random import Random

from rebalsim.scenario.profiles import CLIENTS as PROFILES
from rebalsim.scenario.profiles import ClientProfile

ASSIGNORS = ("range", "roundrobin", "sticky", "cooperative-sticky", "[range, cooperative-sticky]")
PROTOCOLS = ("classic",) * 13 + ("consumer",) * 5 + ("to-consumer", "to-classic")
HEALED_S = 240  # no action begins later, and no fault lasts longer
LAST_S = HEALED_S - 80  # … and no action of the script
SETTLE_S = 300  # … and so much later the group must have settled
DELETED_S = (
    4 * 300
    # … and this, with Kafka's own time-outs: commits of a deleted topic are tried again for
    # max.poll.interval.ms, one after another
)
REFRESHED_S = (
    2 * 300
    # … or this: a leader sees that a topic is gone at its next refresh (metadata.max.age.ms), and such
    # commits follow
)

# Each client library but Java's in its newest version
CLIENTS = {p.client: p for p in PROFILES.values() if not p.has_brokers_version}


def _has(client: ClientProfile, assignor: str) -> bool:
    """May its list of assignors be this one?"""
    if assignor == ASSIGNORS[-1]:
        return client.mixes_protocols and "cooperative-sticky" in client.allows
    return assignor in client.allows


def random_story(seed: int) -> str:
    """The text of a scenario file."""
    chances = (Random(f"{what}story {seed}") for what in ("", "clients of ", "load of "))
    return _Writer(*chances).text(seed)


class _Writer:
    def __init__(self, random: Random, clients: Random, load: Random) -> None:
        self.random = random
        self.load = load
        self.names: list[str] = []
        self.topics: list[str] = []
        self.unborn: list[str] = []
        self.counts: dict[str, int] = {}
        self.brokers = random.choice((1, 1, 2, 3))
        self.racks = self.brokers > 1 and random.random() < 0.3
        self.is_static = random.random() < 0.35
        self.assignor = random.choice(ASSIGNORS)
        self.protocol = random.choice(PROTOCOLS)
        self.is_stock = random.random() < 0.25  # with Kafka's own time-outs
        self.joined = 0
        self.has_deleted = False
        able = (
            [name for name, client in CLIENTS.items() if _has(client, self.assignor)]
            if self.protocol == "classic"
            else []
        )
        self.client = clients.choice(able) if able and clients.random() < 0.4 else ""
        self.java_beside = clients.random() < 0.25  # c0 is a Java client all the same

    def one(self, *of: str) -> str:
        return self.random.choice(of)

    def often(self, share: float) -> bool:
        return self.random.random() < share

    def text(self, seed: int) -> str:
        lines = [f"title: Random story {seed}", f"seed: {seed}"]
        lines += self._cluster() + self._topics() + self._group() + self._script() + self._faults()
        settles_s = SETTLE_S + (
            0 if not self.has_deleted else DELETED_S if self.is_stock else REFRESHED_S
        )
        return "\n".join([*lines, "replay: as-written", f"horizon: {HEALED_S + settles_s}s"]) + "\n"

    def _cluster(self) -> list[str]:
        random = self.random
        lines = ["cluster:", f"  brokers: {self.brokers}"]
        if self.racks:
            lines.append("  racks: [a, b]")
            lines.append(f"  cross_rack: {random.choice((1, 5, 30))}ms")
        lines.append(
            "  latency: "
            f"{self.one('200us', '1ms', '1ms', '1ms..3ms', '20ms', '2ms, 1% up to 80ms')}"
        )
        config = []
        if self.often(0.3):
            config.append(f"group.initial.rebalance.delay.ms: {random.choice((0, 1000, 3000))}")
        if self.protocol != "classic" and not self.is_stock:
            session, beat = random.choice(((6, 1), (10, 2), (20, 5)))
            config += [
                f"group.consumer.min.session.timeout.ms: {session}s",
                f"group.consumer.session.timeout.ms: {session}s",
                f"group.consumer.min.heartbeat.interval.ms: {beat}s",
                f"group.consumer.heartbeat.interval.ms: {beat}s",
                f"group.consumer.assignment.interval.ms: {random.choice((0, 400, 1000))}",
            ]
        if config:
            lines.append(f"  config: {{{', '.join(config)}}}")
        if self.often(0.2):
            lines.append("  log_append: 1ms..6ms")
        return lines

    def _topics(self) -> list[str]:
        random = self.random
        lines = ["topics:"]
        for name in ("orders", "bills", "mails")[: random.choice((1, 1, 1, 2, 3))]:
            count = random.randint(1, 9)
            self.topics.append(name)
            self.counts[name] = count
            rate = random.choice((0, 3, 40, 300))
            backlog = random.choice((0, 0, 0, 50, 700))
            replicas = f", replicas: {random.randint(1, self.brokers)}" if self.brokers > 1 else ""
            lines.append(
                f"  {name}: {{partitions: {count}, rate: {rate}/s, backlog: {backlog}{replicas}}}"
            )
        if self.often(0.1):
            lines.append("  later: {partitions: 3, rate: 10/s, exists: false}")
            self.unborn = ["later"]
        return lines

    def _group(self) -> list[str]:
        random = self.random
        count = random.randint(1, 6)
        per_process = random.choice((1, 1, 1, 2)) if count > 1 else 1
        self.names = [f"c{n}" for n in range(count)]
        lines = ["group:", f"  members: {count}"]
        if per_process > 1:
            lines.append(f"  per_process: {per_process}")
        if self.is_static:
            lines.append('  group.instance.id: "{name}"')
        if self.racks:
            lines.append("  racks: [a, b]")
        if self.client:
            lines.append(f"  client: {self.client}")
        session = random.choice((6, 10, 20, 45))
        per_record = random.choice((0, 100, 1000, 8000))
        most = random.choice(
            (10, 100, 500 if per_record < 8000 else 100)
        )  # a batch of several seconds outlasts a short session for ever
        config = [
            f"max.poll.records: {most}",
            f"auto.offset.reset: {self.one('earliest', 'latest')}",
        ]
        if not self.is_stock:
            limit = f"max.poll.interval.ms: {random.choice((20, 30, 60))}s"
            has_limit = not self.client or CLIENTS[self.client].habits.has_poll_limit
            config += [limit] if has_limit else []
        if self.protocol in ("consumer", "to-classic"):
            config.append("group.protocol: consumer")
            if self.often(0.5):
                config.append(f"group.remote.assignor: {self.one('uniform', 'range')}")
        if self.protocol == "classic":
            if not self.is_stock:
                config += [
                    f"session.timeout.ms: {session}s",
                    f"heartbeat.interval.ms: {random.choice((1, 2, 3)) if session > 6 else 1}s",
                ]
            if not (self.is_stock and self.assignor == ASSIGNORS[-1]):
                config.append(f"partition.assignment.strategy: {self.assignor}")
        if self.often(0.2):
            config.append(f"metadata.max.age.ms: {random.choice((10, 60))}s")
        lines.append(f"  config: {{{', '.join(config)}}}")
        handler = [
            f"per_record: {per_record}us",
            f"per_batch: {random.choice((0, 0, 1, 30))}ms",
            f"commit: {self.one('auto', 'auto', 'auto', 'sync-batch', 'async', 'none')}",
            f"on_error: {self.one('retry', 'retry', 'crash', 'close')}",
        ]
        if self.often(0.3):
            handler.append(f"poll_timeout: {random.choice((10, 100, 1000))}ms")
        if self.often(0.2):
            handler.append(f"commit_on_revoke: {self.one('once', 'per-partition')}")
        lines.append(f"  handler: {{{', '.join(handler)}}}")
        if self.often(0.3):
            listener = [
                f"on_revoked: {random.choice((0, 5, 300))}ms + "
                f"{random.choice((0, 20))}ms/partition",
                f"on_assigned: {random.choice((0, 5, 300))}ms",
            ]
            if self.often(0.2):
                listener.append(f"throws_in: {self.one('revoked', 'assigned', 'lost')}")
            lines.append(f"  listener: {{{', '.join(listener)}}}")
        if self.often(0.1):
            lines.append("  state: {per_partition: 2MB, restore: 10MB/s, flush: 20MB/s}")
        lines.append(
            f"  life: {{start: {self.one('0s', '1s..4s', '300ms')}, stop: "
            f"{self.one('0s', '500ms', '0s..3s')}}}"
        )
        if self.often(0.3):
            lines.append(f"  stagger: {random.choice((100, 2500))}ms")
        if (
            count > 1
            and self.protocol == "classic"
            and self.assignor in ("range", "cooperative-sticky", ASSIGNORS[-1])
            and self.often(0.4)
        ):
            listed = self.one("[cooperative-sticky, range]", "[range, cooperative-sticky]")
            if not self.client or _has(CLIENTS[self.client], ASSIGNORS[-1]):
                lines.append(
                    f"  overrides: {{c0: {{config: {{partition.assignment.strategy: {listed}}}}}}}"
                )
        if (
            count > 1
            and self.client
            and self.java_beside
            and not lines[-1].startswith("  overrides")
        ):
            lines.append("  overrides: {c0: {client: java}}")
        return lines

    # ----------------------------------------------------------------------------------------- harm

    def _who(self) -> str:
        if self.often(0.15) or not self.names:
            return "all"
        return f"[{', '.join(sorted(self.random.sample(self.names, self.random.randint(1, max(1, len(self.names) // 2)))))}]"

    def _lasts(self, most: int = 60) -> str:
        return f"{self.random.choice([s for s in (1, 3, 8, 12, 25, 50) if s <= most])}s"

    def _script(self) -> list[str]:
        times = sorted(self.random.randint(5, LAST_S) for _ in range(self.random.randint(0, 7)))
        lines = ["script:", *self._busy()]
        for number, at in enumerate(times):
            deed = self._deed()
            if deed:
                lines.append(f"  - {{at: {at}s, id: a{number}{self._repeats(at, deed)}, {deed}}}")
                if self.often(0.1) and (then := self._deed()):
                    lines.append(
                        f"  - {{after: a{number}, delay: {self.random.choice((1, 4, 15))}s, "
                        f"{then}}}"
                    )
        if self.often(0.1) and (then := self._deed()):
            lines.append(
                f"  - {{when: "
                f"{self.one('group is stable', '{group: group, is: stable, for: 5s}')}, {then}}}"
            )
        if self.protocol.startswith("to-"):
            lines.append(f"  - {{at: {LAST_S}s, {self._migrate()}}}")
        return lines if len(lines) > 1 else []

    def _busy(self) -> list[str]:
        """Other load on a broker, in some stories."""
        load = self.load
        if load.random() > 0.08:
            return []
        at, lasts = load.randint(1, 5), load.choice((10, 60, 200))
        wait = load.choice(("5ms", "100ms", "20ms..600ms"))
        which = f"broker: {load.randrange(self.brokers)}, wait: {wait}, for: {lasts}s"
        return [f"  - {{at: {at}s, broker_busy: {{{which}}}}}"]

    def _repeats(self, at: int, deed: str) -> str:
        if not deed.startswith(
            ("crash", "freeze", "hang", "cut", "enforce", "coordinator_failover")
        ) or not self.often(0.15):
            return ""
        every = self.random.choice((5, 13, 30))
        times = min(self.random.randint(2, 5), 1 + (LAST_S - at) // every)
        return f", every: {every}s, times: {times}" if times > 1 else ""

    def _migrate(self) -> str:
        """Everybody comes back with the other protocol, one by one."""
        self.names = []
        ready = self.one("settle: 2s", "ready_when: assigned")
        return (
            f"deploy: {{down: {self._lasts(8)}, {ready}, config: {{group.protocol: "
            f"{self.protocol[3:]}}}}}"
        )

    def _deed(self) -> str:
        random = self.random
        kind = random.randrange(24)
        if kind == 0:
            self.joined += 1
            name = f"j{self.joined}"
            self.names.append(name)
            return f"join: {{names: [{name}]}}"
        if kind == 1:
            return f"crash: {{members: {self._who()}, restart_after: {self._lasts()}}}"
        if kind == 2:
            return f"freeze: {{members: {self._who()}, for: {self._lasts()}}}"
        if kind == 3:
            return f"hang: {{members: {self._who()}, for: {self._lasts()}}}"
        if kind == 4:
            return f"slow: {{members: {self._who()}, factor: {random.choice((2, 5))}, for: 20s}}"
        if kind == 5:
            return (
                f"rolling_bounce: {{down: {self._lasts(12)}, max_unavailable: "
                f"1{self.one(', ready_when: assigned', ', settle: 2s', '')}}}"
            )
        if kind == 6:
            return (
                f"cut: {{members: {self._who()}, for: {self._lasts()}, from: "
                f"{self.one('coordinator', 'brokers')}}}"
            )
        if kind == 7:
            return (
                f"add_latency: {{members: {self._who()}, extra: "
                f"{self.one('50ms', '10ms..200ms')}, for: 20s}}"
            )
        if kind == 8:
            return (
                f"broker_restart: {{broker: {random.randrange(self.brokers)}, down: "
                f"{self._lasts(25)}, load: {self.one('0s', '2s')}}}"
            )
        if kind == 9:
            return f"coordinator_failover: {{load: {self.one('0s', '100ms', '4s')}}}"
        if kind == 10:
            topic = random.choice(self.topics)
            self.counts[topic] += random.randint(1, 4)
            return f"add_partitions: {{topic: {topic}, to: {self.counts[topic]}}}"
        if kind == 11:
            return f"enforce_rebalance: {{members: {self._who()}}}"
        if kind == 12:
            return (
                f"set_rate: {{topic: {random.choice(self.topics)}, rate: "
                f"{random.choice((0, 10, 200))}/s}}"
            )
        if kind == 13:
            topic = random.choice(self.topics)
            return (
                f"poison: {{partition: {topic}-{random.randrange(self.counts[topic])}, for: "
                f"{self._lasts(25)}, times: {random.randint(1, 3)}}}"
            )
        if (
            kind == 14
            and len(self.topics) > 1
            and (self.assignor in ("range", "roundrobin") or self.protocol == "consumer")
        ):
            # Kafka's sticky ones give back what is not wanted
            wanted = sorted(random.sample(self.topics, random.randint(1, len(self.topics))))
            return f"subscribe: {{members: {self._who()}, topics: [{', '.join(wanted)}]}}"
        if kind == 15:
            return f'broker_upgrade: {{to: "4.3", down: {self._lasts(8)}, settle: 2s}}'
        if kind == 16:
            return f"join: {{count: {random.randint(1, 3)}, stagger: {random.choice((0, 700))}ms}}"
        if kind == 17 and len(self.names) > 1:
            gone = self.names.pop(random.randrange(len(self.names)))
            option = self.one("default", "default", "leave", "remain")
            # it is Java's
            return f"leave: {{members: [{gone}], option: {'default' if self.client else option}}}"
        if kind == 18:
            self.names = []
            return f"scale: {{to: {random.randint(1, 7)}, stagger: {random.choice((0, 300))}ms}}"
        if kind == 19 and not self.is_static:
            self.names = []
            return (
                f"rolling_bounce: {{as: deployment, surge: {random.choice((0, 1))}, "
                f"max_unavailable: 1{self.one(', settle: 1s', '')}}}"
            )
        if kind == 20:
            return (
                f"rolling_bounce: {{as: statefulset, down: {self._lasts(8)}, "
                f"{self.one('ready_when: assigned', 'ready_after: 4s')}}}"
            )
        if kind == 21:
            return (
                f"deploy: {{down: {self._lasts(3)}, config: {{max.poll.records: "
                f"{random.choice((5, 50))}}}}}"
            )
        if kind == 22 and self.unborn:
            return f"create_topic: {self.unborn.pop()}"
        if kind == 23 and len(self.topics) > 1:
            self.has_deleted = True
            topic = self.topics.pop(random.randrange(len(self.topics)))
            return f"delete_topic: {topic}"
        who = random.choice(self.names) if self.names else "all"
        return f"crash: {{members: {who}, restart_after: {self._lasts(12)}}}"

    def _faults(self) -> list[str]:
        lines: list[str] = []
        for kind in ("crash", "freeze", "hang", "cut"):
            if self.often(0.15):
                lines = lines or ["random_faults:"]
                lines.append(
                    f"  - {{kind: {kind}, about_every: {self.random.choice((30, 90))}s, for: "
                    f"{self._lasts(25)}, from: 5s, until: {HEALED_S - 40}s}}"
                )
        return lines
