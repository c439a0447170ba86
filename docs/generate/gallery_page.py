"""docs/gallery.md and its pictures: `python docs/generate/gallery_page.py` writes them from gallery.json,
gallery.toml and `evolake/report/recorded.toml`.

With a lake, `python docs/generate/gallery_page.py LAKE` first records the constructions of its champions in
gallery.json, after each is scored again from its numbers alone.
"""

from __future__ import annotations

import datetime
import json
import math
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import Any

from evolake.lake import Lake
from evolake.programs.model.project import project_of
from evolake.programs.report.certificate import certify
from evolake.programs.report.story import DECIDED, baseline_in_words, project_files
from evolake.report.finished_cycle import as_rows, asking
from evolake.report.gained import recorded
from evolake.report.numbers import figures
from evolake.settings import load

HERE = Path(__file__).resolve().parent
DATA, TEXTS, SCALING = (
    HERE / "gallery.json",
    HERE / "gallery.toml",
    HERE.parent / "images" / "designs-scaling.json",
)
PAGE, PICTURES = HERE.parent / "gallery.md", HERE.parent / "images" / "gallery"
WIDTH, HEIGHT, EDGE = 420, 300, 12
BLUE, GREY = "#0072b2", "#7a8694"
HEAD = """# Gallery

This page shows what evolake found: each result with its picture, the commands that find it again, the
processor time that it took, and what certifies it. It is written by `docs/generate/gallery_page.py`.

In a clone, `evolake` is `.venv/bin/evolake`. The constructions were polished for 20 to 40 processor
seconds each on two busy cores. A polish ends by the clock, and formulas are drawn for each run, so
another run finds slightly other numbers. `docs/generate/gallery.json` has the numbers found here, and a
test scores them again. Best known is the best value whose source we read; where ours is beyond it, that
is no claim of a record.
"""


def main(arguments: Sequence[str]) -> None:
    """Record the constructions of the lakes that are named, and write the page with its pictures."""
    known = constructions()
    for root in arguments:
        known |= record(Lake(Path(root)))
    lines = (f"{json.dumps(name)}: {json.dumps(item, ensure_ascii=False)}" for name, item in known.items())
    DATA.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    PICTURES.mkdir(exist_ok=True)
    for name, svg in pictures().items():
        (PICTURES / f"{name}.svg").write_text(svg)
    PAGE.write_text(page())


def constructions() -> dict[str, dict[str, Any]]:
    """Return project -> its construction: when, from which score to which, what it took, and its rows."""
    return json.loads(DATA.read_text()) if DATA.is_file() else {}


def record(lake: Lake) -> dict[str, dict[str, Any]]:
    """Return the constructions of the champions of a lake's newest finished cycle."""
    cycle, found = lake.cycles("programs", "champion")[-1], dict[str, dict[str, Any]]()
    with asking(lake, "programs", cycle) as (_, frames), tempfile.TemporaryDirectory() as folder:
        ask = as_rows(frames)
        spent = ask("SELECT project, sum(cpu_s) AS cpu_s FROM programs.measured GROUP BY ALL")
        for row in ask(DECIDED):
            name = row["project"]
            project = project_of(name, project_files(lake, name))
            known = project.given.construction
            claims = certify(lake, name, Path(folder) / name, load())
            exact = json.loads((Path(folder) / name / "construction.json").read_text())["object"]
            found[name] = {
                "title": project.given.description.rstrip("."),
                "picture": known.picture,
                "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
                "cycles": len(lake.cycles("programs", "champion")),
                "cpu_s": round(next(item["cpu_s"] for item in spent if item["project"] == name)),
                "start": row["initial_mean"],
                "score": claims["score"],
                "dumb": baseline_in_words(row),
                "best": f"{known.best} ({known.source}, {known.date})",
                "rows": [[float(Fraction(number)) for number in one] for one in exact],
            }
    return found


def entries() -> dict[str, dict[str, Any]]:
    """Return name -> one result, in the order of the page."""
    texts = tomllib.loads(TEXTS.read_text(encoding="utf-8"))
    how, found = texts.pop("construction"), dict[str, dict[str, Any]]()
    for name, item in constructions().items():
        way = "lower" if item["score"] < item["start"] else "higher"
        ways = how | how.get(name, {})
        found[name] = item | {
            "said": f"From {item['start']:.4f} to {item['score']:.5f}, {way} is better; {item['dumb']}; "
            f"best known {item['best']}",
            "cost": f"{item['cpu_s']} processor seconds",
            "command": ways["command"].format(name=name),
            "check": ways["check"],
        }
    for name, item in texts.items():
        line = item.get("recorded")
        known = recorded()[line] if line else None
        given = {} if known is None else vars(known) | {"said": known.sentence}
        found[name] = {"picture": "bars"} | given | item
    return found


def page() -> str:
    """Return docs/gallery.md."""
    parts = [HEAD]
    for name, item in entries().items():
        parts.append(f"## {item['title']}\n")
        if item["picture"]:
            parts.append(f"![{item['title']}](images/gallery/{name}.svg)\n")
        said = item["said"].rstrip(".")
        when = f"{said[0].upper()}{said[1:]}. Cost: {item['cost']} ({item['date']})."
        parts += [*([_code(item["text"])] if "text" in item else []), when + "\n", _code(item["command"])]
        parts.append(f"Certificate: {item['check'].strip()}\n")
    return "\n".join(parts)


def _code(text: str) -> str:
    return "".join(f"    {line}".rstrip() + "\n" for line in text.strip().splitlines())


def pictures() -> dict[str, str]:
    """Return name -> its picture as SVG, which needs no font of its own and no background."""
    return {name: DRAWN[item["picture"]](item) for name, item in entries().items() if item["picture"]}


def _svg(width: float, height: float, parts: Iterable[str], title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" viewBox="0 0 '
        f'{width:.0f} {height:.0f}" font-family="sans-serif" font-size="12" fill="{GREY}">\n'
        f"<title>{escape(title)}</title>\n" + "\n".join(parts) + "\n</svg>\n"
    )


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _shapes(item: Mapping[str, Any]) -> str:
    """Draw circles with their box, unit hexagons, or points; of points in space the near ones are darker."""
    kind, rows = item["picture"], item["rows"]
    if kind == "points" and len(rows[0]) == 3:  # of a direction, its end on the unit sphere
        rows = [[number / math.hypot(*row) for number in row] for row in rows]
    reach = [{"circles": row[-1], "hexagons": 1.0}.get(kind, 0.0) for row in rows]
    left, low = (min(row[axis] - far for row, far in zip(rows, reach, strict=True)) for axis in (0, 1))
    right, high = (max(row[axis] + far for row, far in zip(rows, reach, strict=True)) for axis in (0, 1))
    scale = (HEIGHT - 2 * EDGE) / (high - low)
    parts = list[str]()

    def place(x: float, y: float) -> tuple[float, float]:
        return EDGE + scale * (x - left), EDGE + scale * (high - y)

    for row, far in zip(rows, reach, strict=True):
        x, y = place(row[0], row[1])
        if kind == "hexagons":
            turns = [row[2] + math.pi / 3 * corner for corner in range(6)]
            corners = [place(row[0] + math.cos(turn), row[1] + math.sin(turn)) for turn in turns]
            points = " ".join(f"{one:.1f},{other:.1f}" for one, other in corners)
            parts.append(f'<polygon points="{points}" fill="{BLUE}" fill-opacity=".35" stroke="{BLUE}"/>')
        elif kind == "circles":
            size = scale * far
            shape = f'r="{size:.1f}" fill="{BLUE}" fill-opacity=".35" stroke="{BLUE}"'
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" {shape}/>')
        else:
            near = 1.0 if len(row) == 2 else 0.6 + 0.4 * row[2]
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{BLUE}" fill-opacity="{near:.2f}"/>')
    width = 2 * EDGE + scale * (right - left)
    if kind == "circles":
        box = f'width="{width - 2 * EDGE:.1f}" height="{HEIGHT - 2 * EDGE}"'
        parts.append(f'<rect x="{EDGE}" y="{EDGE}" {box} fill="none" stroke="{GREY}"/>')
    return _svg(width, HEIGHT, parts, item["title"])


def _bars(item: Mapping[str, Any]) -> str:
    """Draw a bar a row, with its value and the ends of its interval."""
    most, parts = max(bar[1] for bar in item["bars"]), [_text(0, 14, item["unit"])]
    for number, (label, value, *ends) in enumerate(item["bars"]):
        top = 26 + 42 * number
        size = 220 * value / most
        spread = f" ({figures(ends[0])} to {figures(ends[1])})" if ends else ""
        parts += [_text(0, top + 10, label), _text(size + 6, top + 27, f"{figures(value)}{spread}")]
        parts.append(f'<rect y="{top + 15}" width="{size:.1f}" height="15" fill="{BLUE}"/>')
    return _svg(WIDTH, 30 + 42 * len(item["bars"]), parts, item["title"])


def _points(item: Mapping[str, Any], axes: tuple[str, str], lines: Mapping[str, Sequence[Any]]) -> str:
    """Draw points, or lines through points, on logarithmic axes. lines: label -> its points; of the label ""
    they are not joined."""
    every = [point for points in lines.values() for point in points]
    ends = [(min(point[axis] for point in every), max(point[axis] for point in every)) for axis in (0, 1)]
    if "" in lines:  # the same on both axes, for the diagonal
        ends = [(min(low for low, _ in ends), max(high for _, high in ends))] * 2

    def place(point: Sequence[float]) -> tuple[float, float]:
        share = [math.log(point[axis] / low) / math.log(high / low) for axis, (low, high) in enumerate(ends)]
        return 58 + 250 * share[0], HEIGHT - 44 - (HEIGHT - 74) * share[1]

    parts = [_text(58, 14, axes[1]), _text(308, HEIGHT - 6, axes[0], "end")]
    for axis, (low, high) in enumerate(ends):
        for value, share in ((low, 0), (high, 1)):
            at = (58 + 250 * share, HEIGHT - 26) if axis == 0 else (50, HEIGHT - 40 - (HEIGHT - 74) * share)
            parts.append(_text(*at, figures(value), "middle" if axis == 0 else "end"))
    for number, (label, points) in enumerate(lines.items()):
        placed = [place(point) for point in points]
        colour = BLUE if number == 0 else GREY
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in placed]
        joined = placed if label else [(58.0, HEIGHT - 44.0), (308.0, 30.0)]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in joined)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour if label else GREY}"/>')
        parts.append(_text(placed[-1][0] + 8, placed[-1][1] + 4, label))
    return _svg(WIDTH, HEIGHT, parts, item["title"])


def _scatter(item: Mapping[str, Any]) -> str:
    return _points(item, ("default, processor seconds", "tuned, processor seconds"), {"": item["rows"]})


def _scaling(item: Mapping[str, Any]) -> str:
    rows = [
        row for row in json.loads(SCALING.read_text()) if row["kind"].startswith("planted") and row["work"]
    ]
    lines = {
        label: [(row["n"], row["work"][0]) for row in rows if row["solver"] == name and row["work"][0]]
        for name, label in (("champion", "found design"), ("design 340", "design 340"))
    }
    return _points(item, ("variables", "median work, planted formulas"), lines)


DRAWN: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "circles": _shapes,
    "hexagons": _shapes,
    "points": _shapes,
    "bars": _bars,
    "scatter": _scatter,
    "scaling": _scaling,
}

if __name__ == "__main__":
    main(sys.argv[1:])
