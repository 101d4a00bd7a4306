"""Phases are told apart by whoever does not see all colours: by three weaves, and by colour within
each of them. Colour blindness as Machado, Oliveira and Fernandes (2009) model it.
"""

from __future__ import annotations

import itertools
import math

import pytest

from rebalsim.reports.page_data import WEAVES
from rebalsim.reports.palette import LOOKS

Rgb = tuple[float, float, float]
EYES = {
    "all colours": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "no green": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "no blue": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
BEHIND = {"light": "#ffffff", "dark": "#191d22"}
APART = 12.0  # in CIE Lab: 2 is just seen side by side


def linear(colour: str) -> Rgb:
    def one(part: str) -> float:
        value = int(part, 16) / 255
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    return one(colour[1:3]), one(colour[3:5]), one(colour[5:7])


def seen(colour: str, eye: str) -> Rgb:
    """CIE Lab of the colour as that eye sees it."""
    r, g, b = (
        min(1.0, max(0.0, sum(m * c for m, c in zip(row, linear(colour))))) for row in EYES[eye]
    )
    x, y, z = (
        0.4124 * r + 0.3576 * g + 0.1805 * b,
        0.2126 * r + 0.7152 * g + 0.0722 * b,
        0.0193 * r + 0.1192 * g + 0.9505 * b,
    )
    fx, fy, fz = (
        t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116
        for t in (x / 0.95047, y, z / 1.08883)
    )
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def lightness(colour: str) -> float:
    r, g, b = linear(colour)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


@pytest.mark.parametrize("theme", BEHIND)
@pytest.mark.parametrize("weave", [0, 1, 2])
def test_phases_of_one_weave_differ_for_every_eye(theme: str, weave: int) -> None:
    mine = {
        kind: getattr(look, theme) for kind, look in LOOKS.items() if WEAVES[look.fill] == weave
    }
    assert len(mine) > 1
    for (one, a), (other, b) in itertools.combinations(mine.items(), 2):
        for eye in EYES:
            apart = math.dist(seen(a, eye), seen(b, eye))
            assert apart > APART, f"{one} and {other}, {theme}, {eye}: {apart:.1f}"


@pytest.mark.parametrize("theme", BEHIND)
def test_a_phase_and_the_letter_on_it_stand_out(theme: str) -> None:
    """The letter has the colour of the card behind: 3 : 1, as large marks need."""
    for kind, look in LOOKS.items():
        a, b = lightness(getattr(look, theme)), lightness(BEHIND[theme])
        contrast = (max(a, b) + 0.05) / (min(a, b) + 0.05)
        assert contrast >= 3, f"{kind}, {theme}: {contrast:.1f}"


def test_no_two_phases_have_the_same_letter() -> None:
    letters = [look.letter for look in LOOKS.values()]
    assert len(set(letters)) == len(letters)
