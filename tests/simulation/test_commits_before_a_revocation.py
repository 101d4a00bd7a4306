"""What the application committed in quiet times is committed before an eager rebalance takes the
partitions.
"""

from __future__ import annotations

import pytest

from rebalsim.one_run import run_once
from rebalsim.scenario.load import story_of

STORY = """
topics: {t: {partitions: 4, rate: 200/s}}
group:
  members: 2
  handler: {per_record: 100us, commit: %s}
script: [{at: 62s, scale: 3}]
replay: [eager, cooperative]
horizon: 2m
"""


@pytest.mark.parametrize("style", ["sync-batch", "sync-record", "async"])
@pytest.mark.parametrize("variant", ["eager", "cooperative"])
def test_a_scale_out_reads_again_at_most_the_batch_at_hand(style: str, variant: str) -> None:
    story = story_of((STORY % style).encode(), "story.yaml")
    duplicates = run_once(story.scenario(variant)).analysis.measure("duplicates")
    assert duplicates is not None and duplicates <= 8
