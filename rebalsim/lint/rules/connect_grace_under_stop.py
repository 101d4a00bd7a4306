"""Kafka Connect's tasks need longer to stop than they are waited for."""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.domain.connect import SOURCE
from rebalsim.domain.instants import SECOND
from rebalsim.domain.scenario import Scenario
from rebalsim.lint.connect_facts import connectors_of, workers_of
from rebalsim.lint.facts import round_up, say, say_setting
from rebalsim.lint.figures import high
from rebalsim.lint.finding import Finding, Place
from rebalsim.lint.rule import Rule

KEY = "task.shutdown.graceful.timeout.ms"
RULE = Rule(
    id="connect-grace-under-stop",
    heading="Kafka Connect",
    title="Tasks are given up before they have stopped",
    what="A connector's poll() and stop() at their likely worst take longer than "
    "task.shutdown.graceful.timeout.ms.",
    why="A task that has not stopped by then is forgotten and not killed: it runs on until its "
    "code returns while its new copy starts elsewhere, and both process. Until then the worker "
    "does nothing else, and every round waits for it.",
    fix="Have poll() and stop() return sooner, or raise the timeout above them, which lets a "
    "round wait as long.",
    example="jdbc: {poll: 10s, stop: 2s}                # and the timeout is 5 s",
    source="Worker.stopAndAwaitTask; WorkerTask.cancel.",
)


def find(scenario: Scenario) -> Iterator[Finding]:
    workers = workers_of(scenario)
    if not workers or workers[0].worker is None:
        return
    grace = workers[0].worker.task_shutdown_graceful_timeout_us
    seen: set[str] = set()
    for connector in connectors_of(scenario):
        takes = high(connector.stop) + (high(connector.poll) if connector.kind == SOURCE else 0)
        if takes > grace and connector.name not in seen:
            seen.add(connector.name)
            yield Finding(
                f"a task of {connector.name} takes up to {say(takes)} to stop, longer than {KEY} "
                f"{say(grace)}: it is given up, and two copies run — write "
                f"{say_setting(round_up(1.25 * takes, SECOND))}, or have it stop sooner",
                Place("connect", connector.name, "stop|poll"),
                fix=((KEY, say_setting(round_up(1.25 * takes, SECOND))),),
            )
