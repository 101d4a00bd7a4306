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

from rebalsim.proof.random_deeds import CLIENTS, World
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


def _has(client: ClientProfile, assignor: str) -> bool:
    """May its list of assignors be this one?"""
    if assignor == ASSIGNORS[-1]:
        return client.mixes_protocols and "cooperative-sticky" in client.allows
    return assignor in client.allows


def random_story(seed: int) -> str:
    """The text of a scenario file."""
    chances = (Random(f"{what}story {seed}") for what in ("", "clients of ", "load of "))
    return _Writer(*chances).text(seed)


class _Writer(World):
    def __init__(self, random: Random, clients: Random, load: Random) -> None:
        super().__init__(random)
        self.load = load
        self.racks = self.brokers > 1 and random.random() < 0.3
        self.is_static = random.random() < 0.35
        self.assignor = random.choice(ASSIGNORS)
        self.protocol = random.choice(PROTOCOLS)
        self.is_stock = random.random() < 0.25  # with Kafka's own time-outs
        able = (
            [name for name, client in CLIENTS.items() if _has(client, self.assignor)]
            if self.protocol == "classic"
            else []
        )
        self.client = clients.choice(able) if able and clients.random() < 0.4 else ""
        self.java_beside = clients.random() < 0.25  # c0 is a Java client all the same

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
        session, per_record = random.choice((6, 10, 20, 45)), random.choice((0, 100, 1000, 8000))
        lines.append(f"  config: {{{', '.join(self._config(session, per_record))}}}")
        lines.append(f"  handler: {{{', '.join(self._handler(per_record))}}}")
        if self.often(0.3):
            lines.append(f"  listener: {{{', '.join(self._listener())}}}")
        if self.often(0.1):
            lines.append("  state: {per_partition: 2MB, restore: 10MB/s, flush: 20MB/s}")
        start = self.one("0s", "1s..4s", "300ms")
        lines.append(f"  life: {{start: {start}, stop: {self.one('0s', '500ms', '0s..3s')}}}")
        if self.often(0.3):
            lines.append(f"  stagger: {random.choice((100, 2500))}ms")
        other = self._other_than_the_rest() if count > 1 else ""
        return [*lines, f"  overrides: {{c0: {other}}}"] if other else lines

    def _config(self, session: int, per_record: int) -> list[str]:
        random = self.random
        # a batch of several seconds outlasts a short session for ever
        most = random.choice((10, 100, 500 if per_record < 8000 else 100))
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
            config += self._of_classic(session)
        if self.often(0.2):
            config.append(f"metadata.max.age.ms: {random.choice((10, 60))}s")
        return config

    def _of_classic(self, session: int) -> list[str]:
        config = []
        if not self.is_stock:
            beat = self.random.choice((1, 2, 3)) if session > 6 else 1
            config += [f"session.timeout.ms: {session}s", f"heartbeat.interval.ms: {beat}s"]
        if not (self.is_stock and self.assignor == ASSIGNORS[-1]):
            config.append(f"partition.assignment.strategy: {self.assignor}")
        return config

    def _handler(self, per_record: int) -> list[str]:
        handler = [
            f"per_record: {per_record}us",
            f"per_batch: {self.random.choice((0, 0, 1, 30))}ms",
            f"commit: {self.one('auto', 'auto', 'auto', 'sync-batch', 'async', 'none')}",
            f"on_error: {self.one('retry', 'retry', 'crash', 'close')}",
        ]
        if self.often(0.3):
            handler.append(f"poll_timeout: {self.random.choice((10, 100, 1000))}ms")
        if self.often(0.2):
            handler.append(f"commit_on_revoke: {self.one('once', 'per-partition')}")
        return handler

    def _listener(self) -> list[str]:
        fixed = self.random.choice((0, 5, 300))
        listener = [
            f"on_revoked: {fixed}ms + {self.random.choice((0, 20))}ms/partition",
            f"on_assigned: {self.random.choice((0, 5, 300))}ms",
        ]
        if self.often(0.2):
            listener.append(f"throws_in: {self.one('revoked', 'assigned', 'lost')}")
        return listener

    def _other_than_the_rest(self) -> str:
        """What the first member is set to otherwise: other assignors, or another client."""
        has_mixed = self.assignor in ("range", "cooperative-sticky", ASSIGNORS[-1])
        if self.protocol == "classic" and has_mixed and self.often(0.4):
            listed = self.one("[cooperative-sticky, range]", "[range, cooperative-sticky]")
            if not self.client or _has(CLIENTS[self.client], ASSIGNORS[-1]):
                return f"{{config: {{partition.assignment.strategy: {listed}}}}}"
        return "{client: java}" if self.client and self.java_beside else ""

    # ----------------------------------------------------------------------------------------- harm

    def _script(self) -> list[str]:
        times = sorted(self.random.randint(5, LAST_S) for _ in range(self.random.randint(0, 7)))
        lines = ["script:", *self._busy()]
        for number, at in enumerate(times):
            deed = self.deed()
            if deed:
                lines.append(f"  - {{at: {at}s, id: a{number}{self._repeats(at, deed)}, {deed}}}")
                if self.often(0.1) and (then := self.deed()):
                    lines.append(
                        f"  - {{after: a{number}, delay: {self.random.choice((1, 4, 15))}s, "
                        f"{then}}}"
                    )
        if self.often(0.1) and (then := self.deed()):
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
            f"deploy: {{down: {self.lasts(8)}, {ready}, config: {{group.protocol: "
            f"{self.protocol[3:]}}}}}"
        )

    def _faults(self) -> list[str]:
        lines: list[str] = []
        for kind in ("crash", "freeze", "hang", "cut"):
            if self.often(0.15):
                lines = lines or ["random_faults:"]
                lines.append(
                    f"  - {{kind: {kind}, about_every: {self.random.choice((30, 90))}s, for: "
                    f"{self.lasts(25)}, from: 5s, until: {HEALED_S - 40}s}}"
                )
        return lines
