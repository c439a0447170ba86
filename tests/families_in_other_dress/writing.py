"""A family from its texts."""

from __future__ import annotations

from collections.abc import Mapping

from evolake.families.model.contract import Family
from evolake.families.model.family_files import UncheckedFamily, make_family


def family(name: str, *, generator: str, template: str, reader: str, voters: Mapping[str, str]) -> Family:
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
