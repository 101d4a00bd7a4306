"""`--what-if`: the same stories without and with some settings, and what that does to each
budget and headline.
"""

from __future__ import annotations

from collections.abc import Iterator

from rebalsim.check.many import StoriesChecked
from rebalsim.domain.metrics import HEADLINES
from rebalsim.reports.check_notes import said_of_fact
from rebalsim.reports.check_report import Checked, Flip, StoryChecked
from rebalsim.reports.figures import title_of
from rebalsim.reports.verdict_told import say_amount


def flips_of(before: StoriesChecked, after: StoriesChecked) -> tuple[Flip, ...]:
    """Budgets that come out otherwise or are measured otherwise, and the headlines that change;
    story by story, flips first.
    """
    found: list[Flip] = []
    for old, new in zip(before.stories, after.stories):
        found += sorted(_budgets(old, new), key=lambda f: not f.is_flipped)
        found += _headlines(before, after, new)
    return tuple(found)


def _key(c: Checked) -> tuple[str, str, int, int]:
    return c.variant, c.name, c.line, c.column


def _budgets(old: StoryChecked, new: StoryChecked) -> Iterator[Flip]:
    olds = {_key(c): c for c in old.checked}
    for c in new.checked:
        was = olds.get(_key(c))
        if was is not None and (was.observed != c.observed or was.outcome != c.outcome):
            told = (
                (
                    say_amount(c.metric, was.observed, c.observed),
                    say_amount(c.metric, c.observed, was.observed),
                )
                if c.metric
                else (said_of_fact(was.outcome), said_of_fact(c.outcome))
            )
            yield Flip(c.file, c.variant, c.name, *told, was.outcome, c.outcome, c.line)


def _headlines(
    before: StoriesChecked, after: StoriesChecked, story: StoryChecked
) -> Iterator[Flip]:
    """What the headline metrics come to, before and after, of those that no budget of the whole run
    tells already.
    """
    olds, news = before.tallies.get(story.file, {}), after.tallies.get(story.file, {})
    for variant in news:
        told = dict.fromkeys(
            c.metric for c in story.checked if c.variant == variant and "[" not in c.name
        )
        was = olds[variant].metrics if variant in olds else {}
        for metric in HEADLINES:
            old, new = was.get(metric), news[variant].metrics.get(metric)
            if metric not in told and old is not None and new is not None and old != new:
                yield Flip(
                    story.file,
                    variant,
                    title_of(metric),
                    say_amount(metric, old, new),
                    say_amount(metric, new, old),
                )
