"""A story of a Kafka Streams application: the scenario as something to play, its script carried out,
and the trace that comes of it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import Any

from rebalsim import __version__
from rebalsim.domain.collector import seldom_collecting
from rebalsim.domain.deed import Deed
from rebalsim.domain.draws import Draw
from rebalsim.domain.kafka_states import KafkaStreamsState
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script import (
    Action,
    Crash,
    Cut,
    Delay,
    Freeze,
    Hang,
    Join,
    Leave,
    RandomFault,
    RollingBounce,
    Scale,
)
from rebalsim.domain.script_shift import shift_of
from rebalsim.domain.streams import StreamsConfig
from rebalsim.scenario.action_words import say_names
from rebalsim.scenario.script_words import say_deed
from rebalsim.simulation.randomness import Randomness, Stream
from rebalsim.simulation.streams.beside import Play, apart, together
from rebalsim.simulation.streams.brokers import Brokers
from rebalsim.simulation.streams.cluster_deeds import CARRIED_OUT
from rebalsim.simulation.streams.from_scenario import (
    app_group,
    application_of,
    rate_of,
    settings_of,
)
from rebalsim.simulation.streams.play import Known, StreamsWorld
from rebalsim.simulation.streams.restarts import Restarts
from rebalsim.simulation.streams.rolls import LOOK_US, roll
from rebalsim.simulation.streams.telling import Teller
from rebalsim.trace.trace import Trace

Carried = Generator[Any, Any, None]


def play_story(
    scenario: Scenario, seed: int | None = None, play_others: Play | None = None
) -> Trace:
    """Play it, and tell what happened in the words of traces; `play_others` plays the groups that
    are no Streams applications.
    """
    seed = scenario.seed if seed is None else seed
    with seldom_collecting():
        if len(scenario.groups) == 1 or play_others is None:
            return _Story(scenario, seed).play()
        apps, others = apart(scenario)
        played = [_Story(app, seed).play() for app in apps]
    return together([*played, play_others(others)] if others.groups else played)


class _Story:
    def __init__(self, scenario: Scenario, seed: int) -> None:
        group = app_group(scenario)
        assert group is not None and group.streams is not None
        self.scenario, self._group, self._app, self._seed = scenario, group, group.streams, seed
        self._application = application_of(scenario, group)
        self.world = StreamsWorld(self._application, Known(), seed)
        self.port = self.world.port
        self.brokers = Brokers(scenario, group.name, self._busy)
        self.world.brokers = self.brokers
        self.rates = {topic.name: rate_of(topic.rate) for topic in scenario.topics}
        self.specs = {spec.name: spec for spec in group.consumers}
        self._configs: dict[str, StreamsConfig] = {}
        self._order: list[str] = []
        self._running: dict[str, None] = {}
        self._after: dict[str, list[tuple[Action, str]]] = {}
        self._left: dict[str, int] = {}
        self._chance: Randomness | None = None
        self._shift_us = shift_of(seed, scenario.shift_within_us)
        self._teller = Teller(scenario, group, self._application, seed, self._shift_us)
        self._restarts = Restarts(self)

    def play(self) -> Trace:
        for spec in self._group.consumers:
            if spec.starts_at is not None:
                self.world.instance(spec.name).is_warm = self._app.starts == "warm"
                at_us = self.draw(f"start/{spec.name}", spec.starts_at)
                self.port.call(at_us, self.start, spec.name)
        for number, action in enumerate(self.scenario.script, 1):
            name = action.id or f"{_dashed(type(action.deed).__name__)}-{number}"
            if action.id:
                self._left[action.id] = self._left.get(action.id, 0) + action.times
            if action.after is not None:
                self._after.setdefault(action.after, []).append((action, name))
            else:
                self._plan(action, name, self._shift_us)
        for number, fault in enumerate(self.scenario.random_faults, 1):
            for who in fault.consumers:
                self.port.begin(self._strike(number, fault, who))
        self.port.run_to(self.scenario.horizon_us)
        self.world.mark_end()
        return self._teller.trace(self.port.told, __version__, self.world.topics)

    def _plan(self, action: Action, name: str, from_us: int) -> None:
        for i in range(action.times):
            at_us = from_us + action.at_us + i * (action.every_us or 0)
            if action.jitter_us:
                at_us += int(self.port.draw(f"jitter/{name}").random() * action.jitter_us)
            self.port.call(at_us, self._begin, (action, name))

    def _begin(self, act: tuple[Action, str]) -> None:
        self.port.begin(self._act(*act))

    def _act(self, action: Action, name: str) -> Carried:
        if action.when is not None:
            while not self._holds(action.when):
                yield from self.wait(LOOK_US)
        self._nothing_is_given()
        yield from _DEEDS[type(action.deed)](self, name, action.deed)
        if action.id:
            self._left[action.id] -= 1
            if not self._left[action.id]:
                for waiting, its_name in self._after.pop(action.id, ()):
                    self._plan(waiting, its_name, self.port.now)

    def _nothing_is_given(self) -> None:
        """From the first deed on an instance has the state that it has."""
        for each in self.specs:
            self.world.instance(each).is_warm = False

    def _strike(self, number: int, fault: RandomFault, who: str) -> Carried:
        """A random fault of an instance: it strikes, lasts, and strikes again."""
        stream = self._streams_of_chance().stream(f"chance/{number}/{who}")
        between = Draw("exponential", fault.mean_between_us)
        ends = self.scenario.horizon_us if fault.until_us is None else fault.until_us
        yield from self.wait(fault.from_us)
        while True:
            yield from self.wait(int(stream.draw(between)))
            if self.port.now >= ends:
                return
            lasts = Draw(a=stream.draw(fault.for_))
            if who in self._running and self.world.instance(who).is_up:
                self._nothing_is_given()
                deed = _FAULTS[fault.kind]((who,), lasts)
                yield from _DEEDS[type(deed)](self, f"chance-{fault.kind}", deed)

    def _holds(self, when: Any) -> bool:
        """Stable: everybody who is up runs. Other conditions look at consumers' records."""
        return all(
            self.world.instance(name).state == KafkaStreamsState.RUNNING for name in self._running
        )

    # ------------------------------------------------------------------------------------- the deeds

    def tell(self, name: str, kind: str, text: str, targets: tuple[str, ...]) -> None:
        who = tuple((each, self.world.threads_of(each)) for each in targets)
        self._teller.acted(self.port.told, self.port.now, name, kind, text, who)

    def draw(self, stream: str, what: Draw) -> int:
        if what.is_constant:
            return int(what.a)
        return int(self._streams_of_chance().stream(stream).draw(what))

    def _busy(self) -> Stream:
        return self._streams_of_chance().stream(f"busy/{self._group.name}")

    def _streams_of_chance(self) -> Randomness:
        if self._chance is None:
            self._chance = Randomness(self._seed)
        return self._chance

    def wait(self, length_us: int) -> Carried:
        waiting = self.port.waiting()
        waiting.set(self.port.now + max(1, length_us))
        yield waiting

    def start(self, name: str) -> None:
        spec = self.specs[name]
        if name in self._running:
            return
        self._running[name] = None
        self._order.append(name)
        start_us = self.draw(f"life/{name}", spec.life.start)
        deployed = self._configs.get(name)
        instance = self.world.instance(name)
        instance.when_failed = self.died
        instance.start(settings_of(spec, self._app, start_us, deployed), {})
        self._restarts.watch(name, self.port.now + start_us)

    def died(self, name: str) -> None:
        """Nobody asked it to stop."""
        if name in self._running:
            del self._running[name]
            self._restarts.died(name)

    def stop(self, name: str) -> Carried:
        """Asked to stop, it closes after its stop time; killed when its grace is over. One that has
        yet to come stops nothing.
        """
        spec = self.specs.get(name)
        if spec is None:
            return
        instance = self.world.instance(name)
        self._running.pop(name, None)
        if spec.life.pre_stop_us:
            yield from self.wait(spec.life.pre_stop_us)
        self._teller.asked_to_stop(self.port.told, self.port.now, name)
        yield from self.wait(self.draw(f"stop/{name}", spec.life.stop))
        instance.close()
        if instance.is_up:
            down = self.port.waiting()
            down.set(self.port.now + max(1, spec.life.grace_us - spec.life.pre_stop_us))
            instance.when_down = down.give
            yield down
            instance.when_down = None
        if instance.is_up:
            instance.kill()

    def _join(self, name: str, deed: Join) -> Carried:
        for spec in deed.consumers:
            self.specs[spec.name] = spec
            self.tell(name, "Join", f"{spec.name} joins", (spec.name,))
            self.start(spec.name)
            yield from self.wait(deed.stagger_us)

    def _scale(self, name: str, deed: Scale) -> Carried:
        self.tell(name, "Scale", f"scale to {deed.to}", tuple(self._running))
        joiners = list(deed.joiners)
        while len(self._running) < deed.to and joiners:
            spec = joiners.pop(0)
            self.specs[spec.name] = spec
            self.start(spec.name)
            yield from self.wait(deed.stagger_us)
        while len(self._running) > deed.to:
            last = next(each for each in reversed(self._order) if each in self._running)
            yield from self.stop(last)

    def _leave(self, name: str, deed: Leave) -> Carried:
        for who in deed.consumers:
            self.tell(name, "Leave", f"stop {who}", (who,))
            yield from self.stop(who)
            yield from self.wait(deed.stagger_us)

    def _crash(self, name: str, deed: Crash) -> Carried:
        self.tell(name, "Crash", f"crash {say_names(deed.consumers)}", deed.consumers)
        for who in deed.consumers:
            self.world.instance(who).kill()
            if deed.loses_volume:
                self.world.instance(who).lose_disk()
            if deed.restart_after is None:
                self.died(who)
            else:
                self._running.pop(who, None)
        if deed.restart_after is not None:
            yield from self.wait(self.draw(f"script/{name}", deed.restart_after))
            for who in deed.consumers:
                self.start(who)

    def _freeze(self, name: str, deed: Freeze) -> Carried:
        self.tell(name, "Freeze", f"freeze {say_names(deed.consumers)}", deed.consumers)
        for who in deed.consumers:
            self.world.instance(who).freeze()
        yield from self.wait(self.draw(f"script/{name}", deed.for_))
        for who in deed.consumers:
            if self.world.instance(who).is_up:
                self.world.instance(who).thaw()

    def _hang(self, name: str, deed: Hang) -> Carried:
        self.tell(name, "Hang", f"hang {say_names(deed.consumers)}", deed.consumers)
        length_us = self.draw(f"script/{name}", deed.for_)
        for who in deed.consumers:
            self.world.instance(who).hang(length_us)
        yield from self.wait(length_us)

    def _cut(self, name: str, deed: Cut) -> Carried:
        self.tell(name, "Cut", say_deed(deed), deed.consumers)
        for who in deed.consumers:
            self.world.instance(who).cut(deed.from_all_brokers)
        yield from self.wait(self.draw(f"script/{name}", deed.for_))
        for who in deed.consumers:
            self.world.instance(who).heal(deed.from_all_brokers)

    def _delay(self, name: str, deed: Delay) -> Carried:
        self.tell(name, "Delay", say_deed(deed), deed.consumers)
        links = [self.world.instance(who).link for who in deed.consumers]
        for who, link in zip(deed.consumers, links):
            link.slow_down(deed.extra, partial(self.draw, f"delay/{who}"))
        yield from self.wait(deed.for_us)
        for link in links:
            link.speed_up(deed.extra)

    def _bounce(self, name: str, deed: RollingBounce) -> Carried:
        for spec in deed.deploy.consumers:
            if spec.name in self.specs:
                self.specs[spec.name] = spec
        if deed.deploy.streams is not None:
            back = (*deed.consumers, *(spec.name for spec in deed.surge_consumers))
            self._configs.update(dict.fromkeys(back, deed.deploy.streams))
        yield from roll(self, name, deed)


_FAULTS: dict[str, Callable[[tuple[str, ...], Draw], Deed]] = {
    "crash": Crash,
    "freeze": Freeze,
    "hang": Hang,
    "cut": lambda consumers, lasts: Cut(consumers, False, lasts),
}
_DEEDS: dict[type, Callable[..., Carried]] = {
    Join: _Story._join,
    Scale: _Story._scale,
    Leave: _Story._leave,
    Crash: _Story._crash,
    Freeze: _Story._freeze,
    Hang: _Story._hang,
    Cut: _Story._cut,
    Delay: _Story._delay,
    RollingBounce: _Story._bounce,
    **CARRIED_OUT,
}


def _dashed(name: str) -> str:
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)[1:]
