"""Write the report of the study from the lake alone: report.html, report.tex (booktabs, graphicx and
lmodern), figures/*.png, tables/*.csv and tables/*.parquet.

Page and article have the same sentences, tables and figures. The same lake gives the same bytes. Files of an
earlier report that this one does not have any more are not removed.

The article as a PDF is made by a TeX engine of the machine: evolake brings none, and a report without one is
whole but for `report.pdf`. The engine runs no program and, but for tectonic, which fetches packages that it
lacks, asks no network. What it writes next to the article stays in a separate folder. The PDF bears no date,
so one engine makes the same bytes of the same article.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import polars as pl

from evolake.file_names import file_name
from evolake.repair.report.artifacts import QUESTION, answers, caution, headline, setting
from evolake.repair.report.material import StudyReport, study_figures
from evolake.repair.report.result_tables import Shown, is_significant, shown_tables
from evolake.report.pages import render
from evolake.scratch import Scratch

ARTICLE, PDF = "report.tex", "report.pdf"
ENGINES = {
    "pdflatex": ("-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "-output-directory"),
    "tectonic": ("--untrusted", "--chatter", "minimal", "--outdir"),
}
"""Program -> its options, the last one of which takes the folder to write into; the first that is there is
taken."""
LIMIT_S = 180
DATELESS = {"SOURCE_DATE_EPOCH": "0", "FORCE_SOURCE_DATE": "1"}
LONGEST_REASON = 200


def find_engine() -> str | None:
    """Return path of the engine that `write_pdf` takes; None where PATH has none."""
    return next((path for name in ENGINES if (path := shutil.which(name))), None)


def write_pdf(folder: Path) -> tuple[Path | None, str]:
    """Compile the article in `folder`, next to its figures. Gives the PDF's path, None if there is none, and
    what was done, as one line.

    An engine that fails or takes longer than `LIMIT_S` seconds is no error: the line says so, and an earlier
    PDF is left as it is.
    """
    path, pdf = find_engine(), folder / PDF
    if path is None:
        return None, f"none: no TeX engine ({' or '.join(ENGINES)}) is on PATH{_stale(pdf)}"
    name = Path(path).name
    with Scratch("tex") as made:
        command = [path, *ENGINES[name], made, ARTICLE]
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=os.environ | DATELESS,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LIMIT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None, f"none: {name} took longer than {LIMIT_S} s{_stale(pdf)}"
        except OSError as error:
            return None, f"none: {path} cannot be run ({error.strerror}){_stale(pdf)}"
        written = Path(made) / PDF
        if done.returncode or not written.is_file():
            return (
                None,
                f"none: {name} ended with {done.returncode}: "
                f"{_reason(done.stdout + done.stderr)}{_stale(pdf)}",
            )
        pdf.write_bytes(written.read_bytes())
    return pdf, f"{pdf} ({name})"


def _reason(said: str) -> str:
    """Return the first line that TeX marks as an error, else the last line that it wrote."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    marked = [line for line in lines if line.startswith(("!", "error:"))]
    return ((marked or lines[-1:])[0] if lines else "it said nothing")[:LONGEST_REASON]


def _stale(pdf: Path) -> str:
    return f"; {pdf} is of an earlier report" if pdf.exists() else ""


def render_html(report: StudyReport, tables: Sequence[Shown], figures: Mapping[str, bytes]) -> str:
    """Return the whole page. `figures`: name -> PNG."""
    return render(
        "evolake.repair.report",
        "study.html.j2",
        study=report.study,
        question=QUESTION,
        setting=setting(report),
        caution=caution(report),
        headline=headline(report),
        answers=answers(report),
        tables=tables,
        is_significant=is_significant,
        figures={name.replace("_", " ").capitalize(): png for name, png in figures.items()},
    )


WIDE = 5
_SPECIAL = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_\allowbreak{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "\u2212": "--",
}
_HEAD = r"""\documentclass[10pt,a4paper]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{lmodern}
\usepackage[margin=2cm]{geometry}
\usepackage{booktabs}
\usepackage{graphicx}
\title{%s}
\author{}
\date{}
\ifdefined\pdftrailerid\pdftrailerid{}\fi
\begin{document}
\maketitle
"""


def render_latex(report: StudyReport, tables: Sequence[Shown], figures: Iterable[str]) -> str:
    r"""Return the source of the article. `figures`: names; `figures/<name>.png` is included, so it is
    compiled next to that folder."""
    sentences = "\n".join(f"  \\item {tex(sentence)}" for sentence in answers(report))
    parts = [
        _HEAD % "Solver-grounded repair",
        f"{tex(QUESTION)} {tex(setting(report))}\n\n\\textbf{{{tex(caution(report))}}}\n\n"
        f"{tex(headline(report))}\n",
        f"\\begin{{itemize}}\n{sentences}\n\\end{{itemize}}\n" if sentences else "",
        *(_figure(name) for name in figures),
        "\\clearpage\n",
        *(_table(table) for table in tables),
        f"Study \\texttt{{{report.study['study_sha'][:16]}}}, root seed {report.study['root_seed']}.\n",
        "\\end{document}\n",
    ]
    return "\n".join(parts)


def tex(text: str) -> str:
    """Return plain text made safe for LaTeX."""
    return "".join(_SPECIAL.get(letter, letter) for letter in text)


def _figure(name: str) -> str:
    title = tex(name.replace("_", " ").capitalize())
    return (
        "\\begin{figure}[htbp]\n\\centering\n"
        f"\\includegraphics[width=0.95\\linewidth]{{figures/{name}.png}}\n"
        f"\\caption{{{title}.}}\n\\label{{fig:{name}}}\n\\end{{figure}}\n"
    )


def _table(table: Shown) -> str:
    columns = "l" * table.texts + "r" * (len(table.columns) - table.texts)
    lines = [" & ".join(map(tex, table.columns)) + r" \\", r"\midrule"]
    for row in table.rows:
        strong = is_significant(table, row)
        lines.append(" & ".join(f"\\textbf{{{tex(cell)}}}" if strong else tex(cell) for cell in row) + r" \\")
    body = "\n".join(lines)
    inner = f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{body}\n\\bottomrule\n\\end{{tabular}}"
    if len(table.columns) >= WIDE:
        inner = f"\\resizebox{{\\linewidth}}{{!}}{{%\n{inner}}}"
    return (
        f"\\begin{{table}}[htbp]\n\\centering\n\\caption{{{tex(table.title)}. {tex(table.note)}}}\n"
        f"\\label{{tab:{table.name}}}\n{inner}\n"
        "\\end{table}\n"
    )


def write_report(report: StudyReport, out: Path) -> list[Path]:
    """Write all files below `out`; gives their paths."""
    figures, tables = study_figures(report.findings), shown_tables(report)
    texts = {
        "report.html": render_html(report, tables, figures),
        "report.tex": render_latex(report, tables, figures),
    }
    for folder in (out, out / "figures", out / "tables"):
        folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (out / name).write_text(text, encoding="utf-8")
    pictures = {out / "figures" / file_name(name, ".png"): png for name, png in figures.items()}
    for path, png in pictures.items():
        path.write_bytes(png)
    written = [*(out / name for name in texts), *pictures]
    return written + _write_tables(
        report.findings.tables() | {"results": report.results, "problems": report.problems}, out / "tables"
    )


def _write_tables(tables: Mapping[str, pl.DataFrame], folder: Path) -> list[Path]:
    written = []
    for name, frame in tables.items():
        parquet, csv = folder / file_name(name, ".parquet"), folder / file_name(name, ".csv")
        frame.write_parquet(parquet)
        lists = [
            pl.col(column).list.join(" ")
            for column, kind in frame.schema.items()
            if isinstance(kind, pl.List)
        ]
        frame.with_columns(lists).write_csv(csv)
        written += [parquet, csv]
    return written
