"""`rebalsim explain`: the catalogue of rules, phases, metrics, words, settings and exit codes; with
a file, the pauses in it.

What a term means stands where the thing itself lives (lint's rules, reports' phases and words,
the registry of metrics); here it is only gathered and looked up.
"""

from __future__ import annotations

import importlib
import importlib.util
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rebalsim.cli import exits
from rebalsim.domain.errors import InputError
from rebalsim.reports.catalogue import Entry, render_catalogue, render_entry
from rebalsim.words.lists import one_of
from rebalsim.words.nearest import several_nearest

if TYPE_CHECKING:
    from rebalsim.scenario.vocabulary import Block

WIDTH = 79
FILE_FORM = (
    "rebalsim.cli.explain_file"  # has a click `command` for `explain FILE --partition P --at T`
)


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return sorted(
        {
            e.term
            for entries in catalogue().values()
            for e in entries
            if e.term.startswith(incomplete)
        }
    )


@click.command(
    "explain",
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    epilog="Examples: rebalsim explain barrier · rebalsim explain range-skew · rebalsim explain "
    "longest_pause · "
    "rebalsim explain scenarios/scale-out.yaml --partition orders-3 --at 41s",
)
@click.argument("term", required=False, shell_complete=_complete)
@click.pass_context
def command(ctx: click.Context, term: str | None) -> int:
    """Say what a TERM means: a rule of lint, a phase of a pause, a metric, a word, an action or key
    of scenarios, a Kafka setting, an exit code.

    Without a TERM the whole catalogue is listed. If TERM is a file (a story, a trace, a
    recording), the pauses in it are explained instead: --partition says which one, --at when.

    It says why: `describe` says how a group stood at a moment, `show` what a scenario means.
    """
    if term is None:
        click.echo(render_catalogue(catalogue(), WIDTH))
        click.echo(
            "\nKafka's settings, such as session.timeout.ms, and a scenario's keys, such "
            "as\nready_when, are terms too."
            " `rebalsim explain TERM` prints what one means."
        )
        return exits.WITHIN
    if Path(term).exists() or ctx.args:
        return _explain_file([term, *ctx.args])
    entries = find(term)
    if not entries:
        known = list(
            dict.fromkeys(
                [
                    *(e.term for listed in catalogue().values() for e in listed),
                    *_settings(),
                    *_key_names(),
                ]
            )
        )
        near = several_nearest(_plain(term), known, 3)
        hint = f"Did you mean {one_of(near)}?" if near else "`rebalsim explain` lists the terms."
        raise InputError(f"There is no term and no file '{term}'. {hint}")
    click.echo("\n\n".join(render_entry(entry, WIDTH) for entry in entries))
    return exits.WITHIN


def _explain_file(args: list[str]) -> int:
    if importlib.util.find_spec(FILE_FORM) is None:
        raise InputError(
            f"'{args[0]}' would be explained as a file, and this version explains terms only. "
            "`rebalsim explain` lists them; a term takes no options."
        )
    command: click.Command = importlib.import_module(FILE_FORM).command
    outcome = command.main(args=args, prog_name="rebalsim explain", standalone_mode=False)
    return outcome if isinstance(outcome, int) else exits.WITHIN


# ------------------------------------------------------------------------------------ the catalogue


def catalogue() -> dict[str, list[Entry]]:
    """Every term by heading, in the order in which it is listed. Settings are left out: `find`
    knows them.
    """
    from rebalsim.reports.glossary import WORDS
    from rebalsim.scenario import vocabulary

    words, actions, blocks = WORDS.items(), vocabulary.actions(), vocabulary.blocks()
    codes = exits.MEANINGS.items()
    return {
        **_rules(),
        "Phases of a pause": _phases(),
        "Words": [Entry(word, "word", "", (("", text),), see) for word, (text, see) in words],
        "Stock variants and profiles": [*_stock_variants(), _profiles()],
        "Metrics": _of_metrics(),
        "Actions of the script": [_block(each, "action of the script") for each in actions],
        "Blocks of a scenario": [_block(each, "block of a scenario") for each in blocks],
        "Exit codes": [Entry(f"exit-{code}", "exit code", says, ()) for code, says in codes],
    }


def _rules() -> dict[str, list[Entry]]:
    from rebalsim.lint.registry import CATALOGUE

    return {
        f"Rules of lint: {heading[:1].lower()}{heading[1:]}": [
            Entry(
                rule.id,
                "rule of lint",
                rule.title,
                (
                    ("What it looks for", rule.what),
                    ("Why it hurts", rule.why),
                    ("What to write instead", rule.fix),
                    ("Example:", rule.example),
                    ("Source", rule.source),
                ),
            )
            for rule in (checked.rule for checked in rules)
        ]
        for heading, rules in CATALOGUE.items()
    }


def _phases() -> list[Entry]:
    from rebalsim.reports.phases.card import cards

    return [
        Entry(
            name,
            "phase of a pause",
            phase.title,
            (
                ("What it is", phase.what),
                ("Why it hurts", phase.why),
                ("How it shows in a trace", phase.shows),
                ("What to change", phase.change),
            ),
        )
        for name, phase in cards().items()
    ]


def _of_metrics() -> list[Entry]:
    from rebalsim.domain.metrics import METRICS

    found = []
    for metric in METRICS.values():
        told = f"Measured as a {_unit(metric.unit)}, over {metric.population}; {_better(metric.better)}."
        if metric.kafka_name:
            told += f" Kafka's own name: {metric.kafka_name}."
        if not metric.is_known_to_consumer_protocol:
            told += " Unknown under the consumer protocol."
        found.append(Entry(metric.name, "metric", metric.meaning, (("", told),)))
    return found


def _stock_variants() -> list[Entry]:
    """The stock variants that are settings: what they set, and why."""
    from rebalsim.scenario.variants import STOCK_LAYERS, stock_layer

    found = []
    for name in STOCK_LAYERS:
        layer = stock_layer(name)
        assert layer is not None
        config = layer.get("config")
        settings = "\n".join(
            f"{key}: {config.section.fields[key].kind.say(value)}"
            for key, value in config.values.items()
        )
        found.append(
            Entry(
                name,
                "stock variant",
                str(layer.get("why", "")),
                (("What it sets:", settings),),
                ("variant", "cooperative"),
            )
        )
    return found


def _span(versions: list[str]) -> str:
    """2.8, 3.0, … as 2.8 to 4.4."""
    ordered = sorted(versions, key=lambda version: [int(part) for part in version.split(".")])
    return ", ".join(ordered) if len(ordered) < 3 else f"{ordered[0]} to {ordered[-1]}"


def _profiles() -> Entry:
    from rebalsim.scenario.known_differences import HABITS
    from rebalsim.scenario.profiles import BROKERS, CLIENTS, DEFAULT_KAFKA

    by_client: dict[str, list[str]] = {}
    for client, version in CLIENTS:
        by_client.setdefault(client, []).append(version)
    clients = "; ".join(f"{client} {_span(versions)}" for client, versions in by_client.items())
    known = (
        f"Brokers: {_span(list(BROKERS))} (Kafka {DEFAULT_KAFKA} if none is named). Clients: "
        f"{clients}."
    )
    told = [
        f"{h.who}: {h.what}{'' if h.is_modelled else ' (not modelled)'} [{h.source}]"
        for h in HABITS
    ]
    habits = "\n".join(textwrap.fill(line, 76, subsequent_indent="  ") for line in told)
    return Entry(
        "profiles",
        "word",
        "the versions of Kafka and of client libraries whose defaults and habits rebalsim knows",
        (
            (
                "",
                f"{known} A scenario names them with kafka:, client: and client_version:; one "
                "that is not known is refused, not guessed.",
            ),
            ("What differs, and where that is said:", habits),
        ),
        ("scenario",),
    )


def _block(block: Block, kind: str) -> Entry:
    """What a block or an action takes, key by key."""
    room = max(len(name) for name, _ in block.keys) + 2
    lines = [
        textwrap.fill(
            says, WIDTH - 2, initial_indent=f"{name:<{room}}", subsequent_indent=" " * room
        )
        for name, says in block.keys
    ]
    see = ("scenario",) if kind.startswith("block") else ("action", "script")
    return Entry(block.name, kind, block.doc, (("What it takes:", "\n".join(lines)),), see)


def _keys(plain: str) -> list[Entry]:
    """A key of the scenario's language, once for each meaning."""
    from rebalsim.scenario import vocabulary

    return [
        Entry(key.name, f"key of {', '.join(key.blocks)}", "", (("", key.says),), key.blocks)
        for key in vocabulary.all_keys()
        if _plain(key.name) == plain
    ]


def _metrics() -> Entry:
    """All of them, for whoever writes a budget."""
    from rebalsim.domain.metrics import METRICS

    room = max(map(len, METRICS)) + 2
    lines = "\n".join(f"{metric.name:<{room}}{metric.meaning}" for metric in METRICS.values())
    return Entry(
        "metrics",
        "word",
        "everything that budgets, sweeps and reports know",
        (("By name, with what each means:", lines),),
        ("metric", "budget"),
    )


def _unit(unit: str) -> str:
    words = {
        "partition-time": "time summed over partitions",
        "count": "number",
        "per-hour": "rate per hour",
    }
    return words.get(unit, f"number of {unit}" if unit.endswith("s") else unit)


def _better(better: str) -> str:
    return {"less": "less is better", "more": "more is better"}.get(
        better, "neither more nor less is better by itself"
    )


def find(term: str) -> list[Entry]:
    """Everything of that name; upper case, blanks, dashes and underscores do not matter. `exit`
    and `3` find exit codes.
    """
    plain = _plain(term)
    if plain in ("exit", "exit-code", "exit-codes"):
        return catalogue()["Exit codes"]
    if plain == "metrics":
        return [_metrics()]
    if plain.isdigit():
        plain = f"exit-{plain}"
    found = [e for listed in catalogue().values() for e in listed if _plain(e.term) == plain]
    if not found and plain.startswith("kip-848"):
        return find("consumer-protocol")
    found = found or _setting(term.strip())
    return (
        found
        if any(e.kind.startswith(("block", "action")) for e in found)
        else found + _keys(plain)
    )


def _plain(term: str) -> str:
    return "-".join(term.lower().replace("_", " ").replace("-", " ").split())


def _settings() -> list[str]:
    from rebalsim.scenario.config_language import BROKER_KEYS, CLIENT_KEYS
    from rebalsim.scenario.connect_language import WORKER_KEYS
    from rebalsim.scenario.streams_language import STREAMS_CONFIG

    of_streams = STREAMS_CONFIG.fields.values()
    return [field.name for field in (*CLIENT_KEYS, *BROKER_KEYS, *WORKER_KEYS, *of_streams)]


def _key_names() -> list[str]:
    from rebalsim.scenario import vocabulary

    return [key.name for key in vocabulary.all_keys()]


def _setting(key: str) -> list[Entry]:
    """A Kafka setting: what it is, its default, and the rules of lint that speak of it."""
    from rebalsim.domain.client import BrokerConfig, ClientConfig
    from rebalsim.domain.connect import Connector, WorkerConfig
    from rebalsim.domain.streams import StreamsConfig
    from rebalsim.lint.registry import RULES
    from rebalsim.scenario.config_language import BROKER_KEYS, CLIENT_KEYS
    from rebalsim.scenario.connect_language import WORKER_KEYS
    from rebalsim.scenario.streams_language import STREAMS_CONFIG

    found: list[Entry] = []
    for fields, defaults, whose in (
        (CLIENT_KEYS, ClientConfig(), "consumer's setting"),
        (BROKER_KEYS, BrokerConfig(), "brokers' setting"),
        (WORKER_KEYS[:-1], WorkerConfig(), "Connect worker's setting"),
        (WORKER_KEYS[-1:], Connector(""), "connector's setting"),
        (
            tuple(STREAMS_CONFIG.fields.values()),
            StreamsConfig(commit_interval_us=StreamsConfig().commits_every_us),
            "Kafka Streams' setting",
        ),
    ):
        for field in fields:
            if field.name == key:
                value = getattr(defaults, field.target)
                default = "none" if value in (None, "", ()) else field.kind.say(value)
                rules = tuple(
                    c.rule.id
                    for c in RULES
                    if key in f"{c.rule.what} {c.rule.fix} {c.rule.example}".split(" ")
                    or f"{key}:" in c.rule.example
                )
                found.append(
                    Entry(
                        key, whose, field.doc, (("", f"Default in Kafka 4.3: {default}."),), rules
                    )
                )
    return found
