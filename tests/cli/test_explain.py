"""The catalogue is complete, every term is found under any spelling, and all of it is right in
80 columns.
"""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

import click
import pytest

from rebalsim.cli import exits
from rebalsim.cli.explain import FILE_FORM, catalogue, find
from rebalsim.cli.main import code_of
from rebalsim.domain.metrics import METRICS, PHASES
from rebalsim.domain.phase import PhaseKind
from rebalsim.lint.registry import RULES
from rebalsim.reports.glossary import WORDS
from rebalsim.reports.phases.card import cards
from rebalsim.scenario.action_language import DEEDS
from rebalsim.scenario.language import SCENARIO
from rebalsim.scenario.member_language import GROUP, MEMBER
from rebalsim.scenario.process_language import HANDLER, LIFE
from rebalsim.trace.events import EVENT_CLASSES


def said(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    assert code_of(["explain", *args]) == exits.WITHIN
    return capsys.readouterr().out


def test_every_phase_is_explained_and_no_other() -> None:
    assert sorted(cards()) == sorted(PHASES)


@pytest.mark.parametrize("name", PHASES)
def test_a_phase_names_only_events_that_exist(name: str) -> None:
    """CamelCase words in what a trace shows are its events or Kafka's requests and states."""
    kafka = {"PreparingRebalance", "OffsetCommit"}
    named = re.findall(r"\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b", cards()[PhaseKind(name)].shows)
    assert (
        named and [word for word in named if word not in EVENT_CLASSES and word not in kafka] == []
    )


@pytest.mark.parametrize("name", PHASES)
def test_a_phase_has_all_its_sections(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, name)
    for heading in ("What it is", "Why it hurts", "How it shows in a trace", "What to change"):
        assert f"\n{heading}\n" in text


def test_a_rule_is_told_with_its_example_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "session-under-three-heartbeats")
    assert (
        "\nWhy it hurts\n" in text and "\nWhat to write instead\n" in text and "\nSource\n" in text
    )
    assert "  heartbeat.interval.ms: 5s     # → 3s" in text


def test_the_list_names_every_rule_phase_metric_and_exit_code(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = said(capsys)
    words = re.split(r"[\s,]+", text)
    for term in (
        *(c.rule.id for c in RULES),
        *PHASES,
        *METRICS,
        *WORDS,
        *(f"exit-{code}" for code in exits.MEANINGS),
    ):
        assert term in words, term


@pytest.mark.slow
def test_everything_fits_into_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    terms = [e.term for listed in catalogue().values() for e in listed]
    text = said(capsys) + "".join(said(capsys, term) for term in terms)
    assert [line for line in text.split("\n") if len(line) > 79] == []


@pytest.mark.slow
def test_see_also_leads_somewhere() -> None:
    for entry in (e for listed in catalogue().values() for e in listed):
        assert [term for term in entry.see if not find(term)] == [], entry.term


@pytest.mark.parametrize("spelt", ["follow-up", "Follow Up", "follow_up", "FOLLOW-UP"])
def test_spelling_does_not_matter(spelt: str) -> None:
    assert [e.term for e in find(spelt)] == ["follow-up"]


def test_a_word_with_two_meanings_has_both(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "assignment")
    assert "assignment (phase of a pause)" in text and "assignment (word)" in text


def test_exit_codes_by_number_and_all_together(capsys: pytest.CaptureFixture[str]) -> None:
    assert "exit-3 (exit code)" in said(capsys, "3")
    assert said(capsys, "exit").count("(exit code)") == len(exits.MEANINGS)


def test_a_kafka_setting_has_its_default_and_its_rules(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "session.timeout.ms")
    assert "Default in Kafka 4.3: 45s." in text and "session-under-three-heartbeats" in text
    assert "Default in Kafka 4.3: 3s." in said(capsys, "group.initial.rebalance.delay.ms")


def test_stock_variants_and_profiles_are_terms(capsys: pytest.CaptureFixture[str]) -> None:
    from rebalsim.scenario.variants import STOCK_LAYERS

    for name in STOCK_LAYERS:
        assert "What it sets" in said(capsys, name)
    assert "  max.poll.records: 100\n" in said(capsys, "low-latency")
    text = said(capsys, "profiles")
    assert text.count("profiles (word)") == 1 and "Kafka 4.3" in text


def test_an_unknown_term_ends_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of(["explain", "barier"]) == exits.INVALID
    caught = capsys.readouterr()
    assert caught.out == "" and "'barier'" in caught.err and "Did you mean barrier" in caught.err


def test_a_term_that_is_nothing_like_any(capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of(["explain", "qqqqqq"]) == exits.INVALID
    assert "`rebalsim explain` lists the terms" in capsys.readouterr().err


def test_a_file_goes_to_the_file_form_with_all_its_options(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @click.command()
    @click.argument("file")
    @click.option("--partition")
    @click.option("--at")
    def stand_in(file: str, partition: str, at: str) -> int:
        click.echo(f"{Path(file).name} {partition} {at}")
        return exits.INCONCLUSIVE

    module = types.ModuleType(FILE_FORM)
    module.command = stand_in  # type: ignore[attr-defined]
    module.__spec__ = types.SimpleNamespace()  # type: ignore[assignment]
    monkeypatch.setitem(sys.modules, FILE_FORM, module)
    story = tmp_path / "barrier"  # a file named like a term is a file
    story.write_text("title: x\n")
    assert (
        code_of(["explain", str(story), "--partition", "orders-3", "--at", "41s"])
        == exits.INCONCLUSIVE
    )
    assert capsys.readouterr().out == "barrier orders-3 41s\n"
    assert (
        code_of(["explain", "scale-out", "--partition", "orders-3"]) == exits.INCONCLUSIVE
    )  # options make it a story's name


def test_terms_are_completed() -> None:
    from rebalsim.cli.explain import command

    found = command.shell_complete(
        click.Context(command), ""
    )  # options only here; the argument completes below
    assert isinstance(found, list)
    argument = command.params[0]
    assert "barrier" in [c.value for c in argument.shell_complete(click.Context(command), "barr")]


def test_metrics_lists_all_that_can_be_budgeted(capsys: pytest.CaptureFixture[str]) -> None:
    from rebalsim.domain.metrics import METRICS

    assert code_of(["explain", "metrics"]) == exits.WITHIN
    told = capsys.readouterr().out
    assert [name for name in METRICS if f"  {name} " not in told] == []


def test_every_action_and_block_says_what_it_takes(capsys: pytest.CaptureFixture[str]) -> None:
    for name, section in DEEDS.items():
        text = said(capsys, name)
        assert (
            f"{name} (action of the script)\n" in text
            and section.doc
            and all(f"\n  {key} " in text for key in section.fields if "." not in key)
        )
    assert "\n  per_batch " in said(capsys, "handler")


@pytest.mark.parametrize(
    ("term", "parts"),
    [
        (
            "ready_when",
            ["key of rolling_bounce, deploy", "One of started or assigned. Default: started."],
        ),
        ("max-unavailable", ["Write a number such as 1, or a percentage such as 25%."]),
        ("rate", ["key of topic", "key of set_rate"]),
        ("surge", ["surge (word)", "key of rolling_bounce, deploy"]),
    ],
)
def test_a_key_of_the_language_is_a_term(
    term: str, parts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = " ".join(said(capsys, term).split())
    assert [part for part in parts if part not in text] == []


@pytest.mark.slow
def test_every_key_of_the_language_is_found() -> None:
    for section in (SCENARIO, GROUP, MEMBER, HANDLER, LIFE, *DEEDS.values()):
        assert [key for key in section.fields if not find(key)] == []


def test_a_chain_of_the_consumer_protocol_says_that_it_is_one_sample_of_many(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert code_of(["explain", "scale-out", "--replay", "consumer"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert (
        "This is seed 1 of the consumer protocol, one sample: over 20 seeds the longest pause is"
        in told
    )
    assert code_of(["explain", "scale-out", "--variant", "eager"]) == 0
    assert "one sample" not in capsys.readouterr().out
