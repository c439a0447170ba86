"""One look for all figures: colours that colour-blind readers distinguish (Okabe and Ito 2008), text that
reads at 900 pixels, no global state.

matplotlib is imported inside functions (it costs half a second), and never through pyplot, which keeps
figures alive and settings for everybody.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREEN, PURPLE, SKY, RED, YELLOW, DARK = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#C9B400",
    "#444444",
)
PALETTE = (BLUE, ORANGE, GREEN, PURPLE, SKY, RED, YELLOW, DARK)
INK, FAINT, GRID = "#222222", "#9A9A9A", "#E4E4E4"
DPI = 120
WIDTH = 9.0
MARGIN = 0.12
SMALL, NORMAL, TITLE = 9.0, 10.5, 12.5


def figure(height: float, width: float = WIDTH) -> tuple[Figure, Axes]:
    """Return an empty figure of `width` x `height` inches with one set of axes, laid out so that nothing is
    cut off."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    drawn = Figure(
        figsize=(width, height),
        dpi=DPI,
        layout=ConstrainedLayoutEngine(w_pad=MARGIN, h_pad=MARGIN),
        facecolor="white",
    )
    FigureCanvasAgg(drawn)
    return drawn, drawn.add_subplot()


def dress(axes: Axes, title: str, x: str = "", y: str = "", grid: str | None = "both") -> None:
    """Title at the left, axis labels, no box, a faint grid along `grid` ("x", "y", "both" or None)."""
    axes.set_title(title, loc="left", fontsize=TITLE, color=INK, pad=10)
    axes.set_xlabel(x, fontsize=NORMAL, color=INK)
    axes.set_ylabel(y, fontsize=NORMAL, color=INK)
    axes.tick_params(labelsize=SMALL, colors=INK, length=3)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(FAINT)
    axes.set_axisbelow(True)
    if grid:
        axes.grid(True, axis=grid, color=GRID, linewidth=0.8)  # type: ignore[arg-type]


def colours_of(names: Sequence[str]) -> dict[str, str]:
    """Return a colour for each different name, by order of first appearance; beyond eight names colours
    repeat."""
    different = list(dict.fromkeys(names))
    return {name: PALETTE[place % len(PALETTE)] for place, name in enumerate(different)}


def short(name: str, longest: int = 14) -> str:
    """Return a name that fits an axis: long ones (hashes) are cut."""
    return name if len(name) <= longest else name[: longest - 1] + "…"


def wrapped(name: str, width: int = 24, most: int = 4) -> str:
    """Return a name that is shown whole, over several lines where it is long; only beyond `most` lines it is
    cut."""
    return "\n".join(textwrap.wrap(name, width, max_lines=most, placeholder=" …")) or name


def halo() -> list:
    """Return path effects that put a thin white rim around text, so that it reads on top of lines."""
    from matplotlib.patheffects import Normal, Stroke

    return [Stroke(linewidth=2.2, foreground="white"), Normal()]


def say(axes: Axes, text: str) -> None:
    """Draw a sentence in the middle of empty axes: a figure without data says why."""
    axes.set_axis_off()
    axes.text(0.5, 0.5, text, ha="center", va="center", fontsize=NORMAL, color=INK, transform=axes.transAxes)


def to_png(drawn: Figure) -> bytes:
    """PNG bytes without date or version, so that the same figure gives the same bytes."""
    buffer = io.BytesIO()
    drawn.savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return buffer.getvalue()
