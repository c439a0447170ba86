"""The figures of a line's section: its module `report.figures` says as `FIGURES` what each is called, where
it is and how it is drawn. Nothing else lists them: the report, `evolake report --figures` and the metadata of
assets ask here.

    FIGURES = (Figure("The longest bridge", draw, place="bridges"),)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from evolake.errors import MachineryError
from evolake.lines import modules_of


@dataclass(frozen=True)
class Figure:
    """One figure.

    Attributes:
        title: its heading, and the name of its file.
        draw: from what the line's figures are drawn from to a PNG; None if there is nothing to draw.
        place: where it is in the line's template, which shows `placed[place]`.
        order: among all figures of the line, by title where equal.
        asset: the asset in whose metadata it is shown too; "" for none.
    """

    title: str
    draw: Callable[[Any], bytes | None]
    place: str = "figures"
    order: int = 100
    asset: str = ""


def figures_in(package: str) -> list[Figure]:
    """Return the figures of a module, or of all modules of a package, in order.

    Raises:
        MachineryError: a module without figures, or two figures of one title.
    """
    figures: list[Figure] = []
    for name, module in modules_of(package).items():
        if not (found := getattr(module, "FIGURES", ())):
            raise MachineryError(
                f"{name} of {package} draws no figure",
                wanted="FIGURES = (Figure(...),)",
                do="write it, or move the module elsewhere",
            )
        figures += found
    figures.sort(key=lambda figure: (figure.order, figure.title))
    titles = [figure.title for figure in figures]
    if twice := [title for title in titles if titles.count(title) > 1]:
        raise MachineryError(f"two figures of {package} are called {twice[0]!r}", do="rename one")
    return figures


def draw_figures(package: str, material: Any, asset: str | None = None) -> dict[str, bytes]:
    """Return title -> PNG, in order; those of one asset where it is named."""
    chosen = [figure for figure in figures_in(package) if asset is None or figure.asset == asset]
    return {figure.title: png for figure in chosen if (png := figure.draw(material)) is not None}


def by_place(package: str, figures: Mapping[str, bytes]) -> Mapping[str, dict[str, bytes]]:
    """Return place -> title -> PNG, for the template; nothing for a place without figures."""
    placed: dict[str, dict[str, bytes]] = defaultdict(dict)
    for figure in figures_in(package):
        if figure.title in figures:
            placed[figure.place][figure.title] = figures[figure.title]
    return placed
