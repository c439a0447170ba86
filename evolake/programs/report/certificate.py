"""A construction as a certificate: the object that a program returns in exact numbers, the evaluator that
scores it, a script that does so again with Python and numpy alone, a picture, and the distance to the best
known value.

The program runs in the jail. What comes out is data, and is scored there again before it is written.
"""

from __future__ import annotations

import json
import math
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evolake import __version__
from evolake.errors import InputError
from evolake.lake.disk import whole_folder
from evolake.programs.evolution.population import texts_of
from evolake.programs.model.project import Project, project_of, with_files
from evolake.programs.report.page import program_named
from evolake.programs.report.story import project_files
from evolake.programs.sandbox.evaluating import Evaluator, score_of
from evolake.programs.sandbox.meeting import with_mode
from evolake.programs.settings import ProgramsSettings

if TYPE_CHECKING:
    from evolake.lake import Lake
    from evolake.settings import Settings

SEED = 0
CONSTRUCTION, CHECK, PICTURE, README = "construction.json", "check.py", "picture.png", "README.md"
COLUMNS = {"circles": 3, "hexagons": 3, "points": 2}
"""Numbers that a row of a picture has at least."""
TEXT = """# {title}

{metric} {score!r} ({way} is better). {compared}

`python check.py` scores `construction.json` again, by `{evaluator}`, with Python and numpy alone. A text
`n/d` is the float that is exactly that fraction; a text without a stroke is a whole number.

Program `{program}` of the project {project}; cycle {cycle}; evolake {version}.

![the construction](picture.png)
"""


def certify(lake: Lake, wanted: str, out: Path, settings: Settings) -> dict[str, Any]:
    """Write the certificate of a program, named by its id or its project for the champion, and return what it
    claims.

    Raises:
        InputError: there is no such program, it returns no one object of numbers, or `out` cannot be written.
        HostBusy: the host let an evaluation run for too short a time, several times over.
    """
    row, own = program_named(lake, wanted)[1], settings.of(ProgramsSettings)
    project = with_mode(project_of(row["project"], project_files(lake, row["project"])), own, settings.jail)
    value, score = _measured(project, texts_of(lake.blobs, row["files_sha"]), own, settings.jail)
    known = project.given.construction
    title = project.given.description.rstrip(".") or project.name
    claims = {
        "project": project.name,
        "program": row["program_id"],
        "metric": project.score_name,
        "score": score,
        "compared": compared(project, score),
        "evaluator": project.given.evaluator.file,
        "seed": SEED,
    }
    text = TEXT.format(
        title=title,
        way="higher" if project.higher_is_better else "lower",
        cycle=row["cycle"],
        version=__version__,
        **claims,
    )
    files = project.evaluator_files | {
        CONSTRUCTION: json.dumps(claims | {"object": exact(value)}, indent=1).encode(),
        CHECK: resources.files("evolake.programs.report").joinpath("templates", CHECK).read_bytes(),
        PICTURE: draw_construction(known.picture, value, title),
        README: text.encode(),
    }
    with whole_folder(out) as folder:
        for name, data in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)
    return claims | {"out": str(out), "files": sorted(files)}


def _measured(
    project: Project, texts: dict[str, str], own: ProgramsSettings, jail: str | None
) -> tuple[Any, float]:
    """Return the object that a program returns, and the score of a program that is this object alone."""
    with Evaluator(project, own, mode=jail) as evaluator:
        value = evaluator.constant_value(texts, [SEED])
        if value is None:
            raise InputError(
                f"the program of {project.name} returns no construction",
                wanted='mode = "separate" and an entry that returns the same lists of numbers for every case',
                do="see evolake programs new --list for projects that do",
            )
        literal = {project.main: f"def {project.given.program.entry}(case):\n    return {value!r}\n"}
        evaluation = evaluator.evaluate(literal, SEED)
    score = score_of(with_files(project, literal), evaluation) if evaluation.ok else None
    if score is None or not math.isfinite(score):
        raise InputError(f"the construction of {project.name} has no score by itself", got=evaluation.reason)
    return value, score


def exact(value: Any) -> Any:
    """Return lists and dicts with their numbers as texts: n/d for a float, which is exactly that fraction."""
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    if isinstance(value, list):
        return [exact(item) for item in value]
    if isinstance(value, bool):
        return value
    return str(value) if isinstance(value, int) else "{}/{}".format(*value.as_integer_ratio())


def compared(project: Project, score: float) -> str:
    """Return how far a score is from the best that the project knows of, in a sentence."""
    known = project.given.construction
    if known.best is None:
        return "The project names no best known value."
    gap = (score - known.best) * (1 if project.higher_is_better else -1)
    best = f"{known.best:.15g}"
    where = f"the best known value, {best} ({known.source or 'no source'}, {known.date or 'no date'})"
    if round(score, len(best.partition(".")[2])) == known.best:
        return f"To the digits that it is given with, this is {where}."
    share = f", {abs(gap / known.best):.3%}" if known.best else ""
    return f"This is {abs(gap):.6g}{share} {'beyond' if gap > 0 else 'behind'} {where}."


def draw_construction(picture: str, value: Any, title: str = "") -> bytes:
    """Draw circles, hexagons, points, a step function, or rows of numbers as an image.

    Raises:
        InputError: the value has not the rows that such a picture needs.
    """
    import numpy as np

    from evolake.plots.style import BLUE, SKY, dress, figure, to_png, wrapped

    rows = value if isinstance(value, list) and all(isinstance(row, list) for row in value) else [value]
    columns = COLUMNS.get(picture, 0)
    if columns and not all(len(row) >= columns for row in rows):
        wanted = f"rows of at least {columns} numbers"
        raise InputError(
            f"a construction cannot be drawn as {picture}", wanted=wanted, do="fix [construction]"
        )
    drawn, axes = figure(height=6.0, width=6.0)
    dress(axes, wrapped(title, 60), grid=None)
    if picture == "points":
        third = [row[2] for row in rows] if len(rows[0]) > 2 else BLUE
        axes.scatter([row[0] for row in rows], [row[1] for row in rows], c=third, s=40)
    elif columns:
        from matplotlib.patches import Circle, RegularPolygon

        for x, y, third, *_ in rows:
            shape = (
                Circle((x, y), third)
                if picture == "circles"
                else RegularPolygon((x, y), 6, radius=1, orientation=third - math.pi / 2)
            )
            shape.set(facecolor=SKY, edgecolor=BLUE, alpha=0.6)
            axes.add_patch(shape)
        axes.autoscale_view()
    elif picture == "steps":
        axes.stairs(rows[0], fill=True, color=SKY)
    else:
        image = np.full((len(rows), max(map(len, rows))), np.nan)
        for place, row in enumerate(rows):
            image[place, : len(row)] = row
        axes.imshow(image, aspect="auto", interpolation="nearest")
    if columns:
        axes.set_aspect("equal")
    return to_png(drawn)
