"""What commands call. An `Advisor` sees the runs that are played anyway, and then tries what is
proposed within a number of events; `remedies_of` is all of that for whoever has a story alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice

from rebalsim.advice.case import Asked, Case
from rebalsim.advice.cure import smallest_of_all
from rebalsim.advice.judging import Outcome, is_less, outcome_of
from rebalsim.advice.proposals import proposals
from rebalsim.advice.size import cost_of_change
from rebalsim.advice.trial import SEEDS, OutOfEvents, Played, Purse, changed, seeds_for
from rebalsim.analysis.analysis import Analysis
from rebalsim.analysis.baseline import key_of
from rebalsim.domain.budget import Budget
from rebalsim.domain.metrics import METRICS
from rebalsim.domain.remedy import HEADLINES_OF_ADVICE, Patch, Remedy, Symptom
from rebalsim.domain.unit import Population
from rebalsim.one_run import run_once
from rebalsim.reports.sentences import recurring, together, worth_telling
from rebalsim.scenario.story import Story

DEFAULT_EVENTS = 200_000  # a few tenths of a second for a small story, ten seconds for a large one
MOST_CASES = 4  # pauses that something is done about, the longest first
MOST_PER_CASE = 2
WANTED = ("longest_pause", "partition_seconds")
OF_TASKS = ("longest_task_pause", "task_seconds")  # of a pause of Kafka Connect's


def remedies_of(
    story: Story,
    events: int = DEFAULT_EVENTS,
    variants: Iterable[str] = (),
    broken: Mapping[str, Sequence[Budget]] | None = None,
    watch: Callable[[int, int], None] | None = None,
) -> dict[str, tuple[Remedy, ...]]:
    """Variant → what helps there, tried within so many events; empty where nothing does.
    `broken`: budgets that shall be kept, by variant; `watch` is told how many of the events have
    been played, as long as it takes.
    """
    advisor = Advisor(story, events, watch)
    for variant in tuple(variants) or story.variants:
        advisor.saw(variant, story.seed, run_once(story.scenario(variant), story.seed).analysis)
    return advisor.remedies(broken, broken is not None)


class Advisor:
    """Gathers what is known of a story's variants, and tries what could help them."""

    def __init__(
        self,
        story: Story,
        events: int = DEFAULT_EVENTS,
        watch: Callable[[int, int], None] | None = None,
    ) -> None:
        self.story = story
        self.events = events
        self.watch = watch
        self._most = events  # grows, where a variant is tried once more
        self.paid = 0  # events
        self._played: dict[str, Played] = {}
        self._first: dict[str, Analysis] = {}

    def saw(self, variant: str, seed: int, analysis: Analysis) -> None:
        """A run that was played anyway, beginning with the story's own seed."""
        if variant not in self._played:
            budgets = tuple(
                b
                for b in self.story.budgets
                if not b.relative_to and b.variant in ("", variant) and b.op in ("<=", "<", "==")
            )
            others = [b for b in self.story.budgets if b.variant in ("", variant)]
            is_all = len(others) == len(budgets) and not self.story.expectations
            cases = _pauses(self.story, variant, analysis)
            actions = tuple(dict.fromkeys(case.action for case, _, _ in cases if case.action))
            self._played[variant] = Played(self.story, variant, budgets, actions, is_all)
            self._first[variant] = analysis
        if self.story.seed <= seed < self.story.seed + SEEDS[0]:
            self._played[variant].keep(seed, analysis)

    def remedies(
        self,
        broken: Mapping[str, Sequence[Budget]] | None = None,
        is_of_budgets: bool = False,
        most: int | None = None,
    ) -> dict[str, tuple[Remedy, ...]]:
        """Variant → remedies, each variant with its share of the events. `broken`: the budgets
        that are, by variant; `is_of_budgets`: these are all that shall be helped; `most`: so many
        of a variant are enough, and nothing more is tried then. A variant whose runs are so dear
        that its share tells nothing is tried with what helped others, within as many events again.
        """
        found: dict[str, tuple[Remedy, ...]] = {}
        poor: list[tuple[Played, Asked]] = []
        of_variants: dict[str, tuple[Played, list[Asked]]] = {}
        left = self.events
        for place, (variant, played) in enumerate(self._played.items()):
            purse = Purse(left // (len(self._played) - place), self._pays)
            left -= purse.left
            first, budgets = self._first[variant], (broken or {}).get(variant, ())
            asked = [] if is_of_budgets else _pauses(self.story, variant, first)
            asked += _of_budgets(played, first, budgets)
            if asked and budgets:
                of_variants[variant] = played, asked
            found[variant] = self._within(played, asked, purse, most)
            left += max(0, purse.left)
            if asked and not found[variant] and not _leaves_enough(played, purse):
                poor.append((played, asked[0]))
        if not is_of_budgets and 1 < len(of_variants) == len(self._played):
            found |= self._cured(of_variants, found, Purse(left + 2 * self.events, self._pays))
        poor = [one for one in poor if not found[one[0].variant]]
        return found | self._as_for_others(poor, found, Purse(left + self.events, self._pays))

    def _cured(
        self,
        asked: Mapping[str, tuple[Played, Sequence[Asked]]],
        found: Mapping[str, tuple[Remedy, ...]],
        purse: Purse,
    ) -> dict[str, tuple[Remedy, ...]]:
        """Variant → its remedies, with the smallest change of all that keeps the budgets; the others
        over as many seeds as that one, as far as they can be paid for.
        """
        kept = [r.cost for remedies in found.values() for r in remedies if r.keeps_budgets]
        if not kept:
            return {}
        self._most = max(self._most, self.paid + purse.left)
        first = {name: (played, _first_of_each(ones)) for name, (played, ones) in asked.items()}
        cures = smallest_of_all(first, round(min(kept), 3), _judged, purse, Purse(self.events))
        return {
            cure.variant: tuple(
                as_sure
                for remedy in _with(found[cure.variant], cure)
                if (as_sure := _as_sure(remedy, cure, *asked[cure.variant], purse)) is not None
            )
            for cure in cures
        }

    def _as_for_others(
        self,
        poor: Sequence[tuple[Played, Asked]],
        found: Mapping[str, Sequence[Remedy]],
        purse: Purse,
    ) -> dict[str, tuple[Remedy, ...]]:
        """Variant → what helps its longest pause, of what helped other variants alone."""
        turns = {t for remedies in found.values() for r in remedies for t in r.patch.turns}
        helped: dict[str, tuple[Remedy, ...]] = {}
        for played, asked in poor if turns else ():
            self._most = max(self._most, self.paid + purse.left)
            known = (p for p in proposals(asked[0]) if turns.issuperset(p.turns))
            patch = max(known, key=lambda p: len(p.turns), default=None)
            other = None if patch is None else changed(played, patch)
            if patch is None or other is None:
                continue
            with suppress(OutOfEvents):
                played.play(self.story.seed, purse)
                other.play(self.story.seed, purse)
                outcome, seeds = _over_seeds(asked, played, other, purse)
                if outcome is not None:
                    remedy = _remedy(other.variant, patch, outcome, seeds, asked[1])
                    helped[played.variant] = (remedy,)
        return helped

    def _pays(self, events: int) -> None:
        self.paid += events
        if self.watch is not None:
            self.watch(self.paid, self._most)

    def _within(
        self, played: Played, asked: list[Asked], purse: Purse, most: int | None
    ) -> tuple[Remedy, ...]:
        try:
            self._as_it_is(played, purse)
        except OutOfEvents:
            return ()
        return tuple(islice(_tried(played, asked, purse), most))

    def _as_it_is(self, played: Played, purse: Purse) -> None:
        """Plays the variant itself over as many seeds as a third of the events allow, which says
        how sure its figures are.
        """
        first = self.story.seed
        played.play(first, purse)
        for number in SEEDS:
            seeds = range(first, first + number)
            if played.price_of(seeds) <= purse.left // 3:
                for seed in seeds:
                    played.play(seed, purse)
                return

    def by_seed(self, variant: str) -> tuple[tuple[int, ...], dict[str, tuple[float, ...]]]:
        """The seeds that the variant itself was played with, and its headlines in each."""
        played = self._played[variant]
        seeds = tuple(sorted(played.paid))
        return seeds, {
            name: tuple(played.figures[seed].get(name, 0.0) for seed in seeds)
            for name in HEADLINES_OF_ADVICE
        }


def asked_of(
    story: Story, variant: str, analysis: Analysis, budgets: Sequence[Budget]
) -> list[Asked]:
    """All that could be done something about in one run: pauses, and these budgets."""
    played = Played(story, variant, tuple(budgets))
    return [*_pauses(story, variant, analysis), *_of_budgets(played, analysis, budgets)]


def _pauses(story: Story, variant: str, analysis: Analysis) -> list[Asked]:
    """The pauses that are told of."""
    scenario = story.scenario(variant)
    return [
        (
            Case(story, variant, scenario, analysis, group.first),
            Symptom(group.first.group, str(group.first.partition), group.first.started_us),
            OF_TASKS if group.first.group in analysis.worker_groups else WANTED,
        )
        for group, _ in worth_telling(recurring(together(analysis.pauses)), MOST_CASES)
    ]


def _of_budgets(played: Played, analysis: Analysis, broken: Sequence[Budget]) -> Iterator[Asked]:
    """The metrics of broken budgets, with the pauses that they may be about."""
    scenario = played.scenario
    told = [case.pause for case, _, _ in _pauses(played.story, played.variant, analysis)]
    for budget in broken:
        key = key_of(budget)
        for pause in told or [None]:
            case = Case(played.story, played.variant, scenario, analysis, pause, budget.metric)
            yield case, Symptom(metric=key), (key,)


def _first_of_each(asked: Sequence[Asked]) -> list[Asked]:
    """The longest pause, and each metric of a broken budget with the pause that it is about first."""
    found = {"": asked[0]}
    for one in asked:
        if one[1].metric:
            found.setdefault(one[1].metric, one)
    return list(found.values())


def _as_sure(
    remedy: Remedy, cure: Remedy, played: Played, asked: Sequence[Asked], purse: Purse
) -> Remedy | None:
    """A remedy over the seeds of the one that leads; None where it does not help over all of them.
    As it was, where these cannot be paid for.
    """
    other = changed(played, remedy.patch)
    one = next((each for each in asked if each[1] == remedy.of), None)
    is_as_sure = len(remedy.seeds) >= len(cure.seeds)
    if is_as_sure or other is None or one is None or other.price_of(cure.seeds) > purse.left:
        return remedy
    try:
        for seed in cure.seeds:
            played.play(seed, purse)
            other.play(seed, purse)
    except OutOfEvents:
        return remedy
    outcome = _judged(one, played, other, cure.seeds)
    if outcome is None:
        return None
    return _remedy(other.variant, remedy.patch, outcome, cure.seeds, remedy.of)


def _judged(asked: Asked, played: Played, other: Played, seeds: Sequence[int]) -> Outcome | None:
    return outcome_of(played, other, seeds, asked[2], _action(asked))


def _with(remedies: Sequence[Remedy], cure: Remedy) -> tuple[Remedy, ...]:
    """A variant's remedies with one more for the same pause; of too many the largest change goes."""
    others = [r for r in remedies if r.patch != cure.patch or r.of != cure.of]
    alike = [r for r in others if r.of == cure.of]
    if len(alike) >= MOST_PER_CASE:
        others.remove(max(alike, key=lambda r: r.cost))
    rest = [r for r in others if r.of != cure.of]
    return (*sorted((cure, *(r for r in others if r.of == cure.of)), key=_by_gain), *rest)


def _by_gain(remedy: Remedy) -> tuple[float, ...]:
    return (len(remedy.breaks), remedy.after.get(remedy.gains[0], 0.0))


def _tried(played: Played, asked: Sequence[Asked], purse: Purse) -> Iterator[Remedy]:
    """The remedies of one variant, until nothing is left to try them with."""
    found: list[Remedy] = []
    try:
        played.play(played.story.seed, purse)
        for one in asked:
            metric = one[1].metric
            if metric and any(_lowers(remedy, metric) for remedy in found):
                continue
            for remedy in _of_case(one, played, purse, found):
                found.append(remedy)
                yield remedy
    except OutOfEvents:
        return


def _lowers(remedy: Remedy, metric: str) -> bool:
    return is_less(metric, remedy.after, remedy.before)


def _of_case(
    asked: Asked, played: Played, purse: Purse, found: Sequence[Remedy]
) -> Iterator[Remedy]:
    symptom = asked[1]
    mine: list[Remedy] = []
    for patch, other in _promising(asked, played, purse):
        if len(mine) == MOST_PER_CASE:
            break
        others = mine if symptom.metric else (*found, *mine)
        if any(_same_settings(patch, one) for one in others):
            continue
        try:
            outcome, seeds = _over_seeds(asked, played, other, purse)
        except OutOfEvents:
            break
        if outcome is not None and not (mine and _is_lesser(outcome, mine[0])):
            mine.append(_remedy(other.variant, patch, outcome, seeds, symptom))
    yield from sorted(mine, key=lambda remedy: len(remedy.breaks))


def _over_seeds(
    asked: Asked, played: Played, other: Played, purse: Purse
) -> tuple[Outcome | None, tuple[int, ...]]:
    """What a change comes to over as many seeds as can be paid for; over a few at first, for what
    does not help in these is not played on.
    """
    most = seeds_for(played, other, purse)
    outcome = None
    for seeds in dict.fromkeys((most[: SEEDS[-1]], most)):
        for seed in seeds:
            played.play(seed, purse)
            other.play(seed, purse)
        outcome = outcome_of(played, other, seeds, asked[2], _action(asked))
        if outcome is None:
            break
    return outcome, most


def _same_settings(patch: Patch, remedy: Remedy) -> bool:
    """Whether it turns what another one turns, only less or further."""
    return [turn.setting for turn in patch.turns] == [t.setting for t in remedy.patch.turns]


def _is_lesser(outcome: Outcome, best: Remedy) -> bool:
    """Whether a second remedy is not worth telling beside the best one: it costs something, and
    brings less than half as much.
    """
    gain = best.gains[0]
    if outcome.breaks or best.breaks:
        return len(outcome.breaks) >= len(best.breaks)
    return bool(outcome.price) and outcome.after.get(gain, 0.0) > 2 * best.after.get(gain, 0.0)


def _action(asked: Asked) -> str:
    """What of the script shall hurt less; a budget does not ask which of it does."""
    case, symptom, _ = asked
    is_of_pauses = METRICS[case.metric].population in (
        Population.PAUSES,
        Population.PARTITIONS,
    )
    return case.action if is_of_pauses or not symptom.metric else ""


def _promising(asked: Asked, played: Played, purse: Purse) -> list[tuple[Patch, Played]]:
    """The proposals that help with the story's own seed, the best first; as many as leave enough to
    try the best of them over seeds, without which none would be told.
    """
    case, _, wanted = asked
    seed = played.story.seed
    ranked = []
    for patch in proposals(case):
        other = changed(played, patch)
        if other is None:
            continue
        if seed not in other.paid and not _leaves_enough(played, purse):
            break
        other.play(seed, purse)
        outcome = outcome_of(played, other, (seed,), wanted, _action(asked))
        if outcome is not None:
            ranked.append((outcome.rank, len(patch.turns), patch, other))
    ranked.sort(key=lambda each: each[:2])
    return [(patch, other) for _, _, patch, other in ranked]


def _leaves_enough(played: Played, purse: Purse) -> bool:
    """Whether one more change can be played, and one over the fewest seeds that are told."""
    first = played.story.seed
    seeds = range(first, first + SEEDS[-1])
    each = max((played.costs[seed] for seed in played.paid), default=0)
    return purse.left >= played.price_of(seeds) + len(seeds) * each


def _remedy(
    variant: str, patch: Patch, outcome: Outcome, seeds: tuple[int, ...], of: Symptom
) -> Remedy:
    return Remedy(
        variant,
        patch,
        outcome.before,
        outcome.after,
        seeds,
        outcome.gains,
        outcome.price,
        outcome.breaks,
        outcome.keeps,
        cost_of_change(patch, outcome.before, outcome.after, outcome.price),
        of,
    )
