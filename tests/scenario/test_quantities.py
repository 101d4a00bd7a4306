"""Amounts as people write them, and back."""

from __future__ import annotations

import random

import pytest

from rebalsim.domain.draws import Draw
from rebalsim.domain.instants import DAY, HOUR, MINUTE, MS, SECOND
from rebalsim.scenario import quantities as q
from rebalsim.scenario.kinds import draw_of, say_draw


@pytest.mark.parametrize(
    ("text", "us"),
    [
        ("45s", 45 * SECOND),
        ("1m30s", 90 * SECOND),
        ("300ms", 300 * MS),
        ("250us", 250),
        ("250µs", 250),
        ("1.5s", 1500 * MS),
        ("2h", 2 * HOUR),
        ("1d", DAY),
        ("1 m 30 s", 90 * SECOND),
        ("0.5ms", 500),
        ("0s", 0),
        ("1h0m5s", HOUR + 5 * SECOND),
        ("8.217s", 8_217 * MS),
        ("0.000007s", 7),
    ],
)
def test_a_duration_is_read_to_the_microsecond(text: str, us: int) -> None:
    assert q.duration(text) == us


@pytest.mark.parametrize(
    "text",
    [
        "45",
        "1:30",
        "30s1m",
        "1m1m",
        "-5s",
        "5 sec",
        "s",
        "",
        "01s",
        "1e3s",
        "400d",
        "5s ",
        "5x",
        "٣s",
    ],
)
def test_what_is_no_duration_is_none(text: str) -> None:
    assert q.duration(text) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("99999999h", "is longer than a year"),
        ("400d", "is longer than a year"),
        ("99999999999999h", "is longer than a year"),
        ("5y", "has an unknown unit"),
        ("30s1m", "out of order"),
    ],
)
def test_what_is_wrong_with_a_duration_is_told_as_it_is(text: str, said: str) -> None:
    assert said in q.why_no_duration(text)


def test_a_duration_written_back_is_read_as_the_same() -> None:
    chance = random.Random(1)
    for _ in range(2000):
        us = chance.choice(
            (
                chance.randrange(1000),
                chance.randrange(100) * MS,
                chance.randrange(10**7),
                chance.randrange(90) * MINUTE,
                chance.randrange(100 * DAY),
            )
        )
        assert q.duration(q.say_us(us)) == us


@pytest.mark.parametrize(
    ("read", "text", "value"),
    [
        (q.size, "4GiB", 4 << 30),
        (q.size, "50MB", 50_000_000),
        (q.size, "1.5KB", 1500),
        (q.size, "7B", 7),
        (q.byte_rate, "50MB/s", 5e7),
        (q.rate, "200/s", 200),
        (q.rate, "30/m", 0.5),
        (q.rate, "7200 / h", 2),
        (q.share, "25%", 0.25),
        (q.share, "0.5 %", 0.005),
    ],
)
def test_sizes_rates_and_shares(read: object, text: str, value: float) -> None:
    assert callable(read) and read(text) == value


@pytest.mark.parametrize(
    ("text", "draw"),
    [
        ("5s", Draw("constant", 5e6)),
        ("18s ± 6s", Draw("uniform", 12e6, 24e6)),
        ("18s +- 6s", Draw("uniform", 12e6, 24e6)),
        ("18s +/- 6s", Draw("uniform", 12e6, 24e6)),
        ("1s..5s", Draw("uniform", 1e6, 5e6)),
        ("1s to 5s", Draw("uniform", 1e6, 5e6)),
        ("2ms, 1% up to 40ms", Draw("constant", 2e3, tail_share=0.01, tail_us=40e3)),
        ("1ms..2ms, 5% up to 1s", Draw("uniform", 1e3, 2e3, tail_share=0.05, tail_us=1e6)),
    ],
)
def test_a_draw_in_a_line_of_text(text: str, draw: Draw) -> None:
    assert draw_of(text) == draw
    assert draw_of(say_draw(draw)) == draw


@pytest.mark.parametrize(
    "text",
    [
        "5",
        "6s ± 18s",
        "5s..1s",
        "fast",
        "",
        ".5s",
        "1s, 200% up to 5s",
        "1s .. ",
        "1s ± ± 2s",
        "5s" * 60,
    ],
)
def test_what_is_no_draw_says_why_or_nothing(text: str) -> None:
    assert isinstance(draw_of(text), str)
