"""Render pages as one HTML file each, from Jinja2 templates: no script, no outside reference, figures inside.

Titles, names and reasons may come from a model. A template escapes whatever it is given, and no module writes
markup, so that what a candidate says is text on every page. A line's section is its own template package,
which takes what all share from `evolake/`:

    {% from "evolake/parts.html.j2" import section, pictures %}
    <h1>Bridges</h1>
    {{ section("Longest", longest) }}
    {{ pictures(figures) }}

Sections are of finished cycles: those whose population has been sealed for the next one.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup, escape

from evolake.errors import MachineryError
from evolake.report.figures import by_place, draw_figures
from evolake.report.finished_cycle import FinishedCycle
from evolake.report.gained import Gained
from evolake.report.numbers import duration, figures, interval, polyline
from evolake.report.story import Story


@dataclass(frozen=True)
class Section:
    """What a page says of one line. headline: one sentence, by `sentence`. body: by `render`. figures: title
    -> PNG, in the order of the page."""

    line: str
    cycle: str
    headline: Markup
    body: Markup
    figures: Mapping[str, bytes]

    def __post_init__(self) -> None:
        if missing := [title for title in self.figures if f'alt="{escape(title)}"' not in self.body]:
            what = f"the figure {missing[0]!r} is not on the page of {self.line}"
            raise MachineryError(
                what, wanted="a place that the section's template shows", do="fix its `place`"
            )


LAKE = Markup(
    "Everything here is read from the lake; <code>evolake sql --list</code> shows the tables behind it."
)


def page(
    sections: Sequence[Section],
    stories: Sequence[Story] = (),
    findings: Mapping[str, Sequence[str]] | None = None,
    source: str | Markup = LAKE,
    gains: Sequence[Gained] = (),
) -> str:
    """Return the whole page: first what was gained, then what each line and each study reports, then a line
    after the other, with all details folded. source: one sentence on what it rests on."""
    stands = ", ".join(f"{section.line} cycle {section.cycle}" for section in sections)
    title = f"evolake, cycle {sections[0].cycle}" if len(sections) == 1 else f"evolake, {stands}"
    return render(
        "evolake.report",
        "page.html.j2",
        sections=sections,
        stories=stories,
        findings=findings or {},
        gains=gains,
        title=title,
        source=source,
    )


def render(package: str, template: str, **values: Any) -> Markup:
    """Return a template of the folder `templates` of a package, filled in; a value that the template names
    and is not given raises."""
    return Markup(_environment(package).get_template(template).render(values).strip("\n"))


def section(package: str, report: FinishedCycle, material: Any, **values: Any) -> Section:
    """Return a line's section: its templates `headline.html.j2` and `section.html.j2`, filled with `report`,
    its `tables` and the values, and its figures, drawn from `material`.

    package: has the folder `templates`, and the modules of the figures in `figures`.
    """
    values |= {"report": report, "tables": report.tables}
    headline = sentence(package, "headline.html.j2", **values)
    drawn = draw_figures(f"{package}.figures", material)
    placed = by_place(f"{package}.figures", drawn)
    body = render(package, "section.html.j2", headline=headline, placed=placed, **values)
    return Section(report.line, report.cycle, headline, body, drawn)


def sentence(package: str, template: str, **values: Any) -> Markup:
    """Return a template that is one sentence or two, on one line."""
    return Markup(" ".join(render(package, template, **values).split()))


def plain(markup: str) -> str:
    """Return a sentence of a section without its tags, for a terminal."""
    return escape(markup).striptags()


@cache
def _environment(package: str) -> Environment:
    shared = PrefixLoader({"evolake": PackageLoader("evolake.report")})
    made = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        loader=ChoiceLoader([PackageLoader(package), shared]),
    )
    made.filters |= {
        "base64": lambda data: base64.b64encode(data).decode(),
        "figures": _figures,
        "duration": duration,
        "interval": interval,
    }
    made.filters |= {"polyline": polyline}
    made.tests["id"] = _is_id
    return made


def _figures(value: float) -> str:
    """Return a number as it is in a table: counts whole, measures with three significant digits."""
    if not abs(value) < 10**9:
        return str(value)
    if not isinstance(value, float) and value == int(value):  # also a whole Decimal, as SQL sums come
        return f"{int(value):,}"
    return figures(float(value))


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef")
