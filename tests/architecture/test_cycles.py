"""Within a room, too, files build on each other in one direction: no two import each other, not even
for the type checker alone.
"""

from __future__ import annotations

from code_of_rebalsim import modules

from rebalsim.proof.house import cycles_within_rooms


def test_no_room_has_an_import_cycle() -> None:
    trees = {module.name: module.tree for module in modules()}
    assert list(cycles_within_rooms(trees)) == [], (
        "import in one direction: move what both need to a file below them"
    )
