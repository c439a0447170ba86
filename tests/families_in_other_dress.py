"""Sound families whose statements look unlike the seeds': loose brackets, a Markdown table, a list with `1)`,
an edge list, the word "None", rows of signs; and for five of them one fault of text against code.
"""

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from evolake.families.model.contract import Family
from evolake.families.model.family_files import UncheckedFamily, make_family


def _family(name: str, *, generator: str, template: str, reader: str, voters: Mapping[str, str]) -> Family:
    """voters: the primary first."""
    (_, primary), *others = voters.items()
    return make_family(
        name,
        UncheckedFamily(
            name=name,
            title=name,
            category="logical",
            language="en",
            generator=generator,
            template=template,
            validator=primary,
            validators=dict(others),
            reader=reader,
            answer={"type": "integer"},
            parents=[],
            operator="written",
            mutations={},
        ),
    )


DRESSED = {
    name: _family(name, **texts)
    for name, texts in tomllib.loads(Path(__file__).with_suffix(".toml").read_text()).items()
}


def reworded(family: Family, old: str, new: str) -> Family:
    """The family with other words in its template."""
    assert old in family.template
    return replace(family, template=family.template.replace(old, new))


def without_the_number_of_mines(family: Family) -> Family:
    """Every voter counts the ways whatever the number of mines is; the reader hands it on as before."""
    changes = {
        "primary": (
            'combinations(covered, inputs["mines"])',
            "(one for count in range(len(covered) + 1) for one in combinations(covered, count))",
        ),
        "states": ("used == mines and owed", "owed"),
        "placing": ("int(left == 0 and fits(mines, place - 1))", "int(fits(mines, place - 1))"),
    }
    changed = {}
    for name, source in family.voters().items():
        assert changes[name][0] in source
        changed[name] = source.replace(*changes[name])
    changed["placing"] = changed["placing"].replace(" or not left", "")
    return replace(family, validator=changed.pop("primary"), validators=changed)


FAULTY: dict[str, tuple[Callable[[], Family], str]] = {
    "a week of five days against seven": (
        lambda: reworded(DRESSED["visits-in-weeks"], "has seven days", "has five days"),
        "families-quantities",
    ),
    "never two overlap, taken out": (
        lambda: reworded(
            DRESSED["meeting-table"], "Never two of the chosen meetings overlap; one may", "One may"
        ),
        "families-sentences-declared",
    ),
    "tie-break taken out": (
        lambda: reworded(
            DRESSED["cheapest-road"],
            "; when several have the same toll, the one that leads to the town with the lowest number",
            "",
        ),
        "families-ties",
    ),
    "half a rule in every voter": (
        lambda: without_the_number_of_mines(DRESSED["mines-in-a-row"]),
        "families-idle",
    ),
    "a steep road": (
        lambda: reworded(
            DRESSED["cheapest-road"],
            "No road is taken twice",
            "Roads that are steep are left out, and no road is taken twice",
        ),
        "families-terms",
    ),
}
"""Fault -> (the family with it, the rule that is to block it)."""
