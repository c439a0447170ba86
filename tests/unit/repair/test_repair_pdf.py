"""The PDF of the report: by the engine that PATH has, and a line that says why there is none."""

import shutil
from pathlib import Path

import pytest
from repair_results import K, R, made_up_problems, made_up_results

from evolake.repair.names import ARMS
from evolake.repair.report import page
from evolake.repair.report.material import report_of
from evolake.repair.report.page import write_pdf, write_report
from evolake.repair.requirements import requirements
from evolake.repair.running import Stored
from evolake.repair.tables import ATTEMPTS

WRITES = 'for last; do :; done\ntest -f "$last" && test -d figures || exit 9\n'


@pytest.fixture
def folder(tmp_path) -> Path:
    """A report's folder, as far as an engine looks at it."""
    (tmp_path / "out" / "figures").mkdir(parents=True)
    (tmp_path / "out" / "report.tex").write_text(r"\documentclass{article}\begin{document}x\end{document}")
    return tmp_path / "out"


def engine(monkeypatch: pytest.MonkeyPatch, folder: Path, **scripts: str) -> Path:
    """A PATH with these programs and those that a shell script needs."""
    programs = folder.parent / "bin"
    programs.mkdir()
    for name, script in scripts.items():
        (programs / name).write_text(f"#!/bin/sh\n{script}")
        (programs / name).chmod(0o755)
    for name in ("sh", "sleep", "dirname"):
        (programs / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(programs))
    return programs


def test_without_an_engine_there_is_none_and_the_doctor_says_that_it_is_optional(folder, monkeypatch):
    engine(monkeypatch, folder)
    assert write_pdf(folder) == (None, "none: no TeX engine (pdflatex or tectonic) is on PATH")
    [named] = requirements()
    assert (named.name, named.ok, named.skips) == ("TeX engine", True, "") and "optional" in named.detail
    (folder / "report.pdf").write_text("old")
    assert write_pdf(folder)[1].endswith(f"is on PATH; {folder / 'report.pdf'} is of an earlier report")


@pytest.mark.parametrize("name", ["pdflatex", "tectonic"])
def test_an_engine_is_run_beside_the_figures_and_leaves_the_pdf_alone_behind(folder, monkeypatch, name):
    script = WRITES + 'echo "$SOURCE_DATE_EPOCH $*" > "$5/report.pdf"\necho x > "$5/report.log"\n'
    programs = engine(monkeypatch, folder, **{name: script})
    path, said = write_pdf(folder)
    assert (path, said) == (folder / "report.pdf", f"{folder / 'report.pdf'} ({name})")
    written = (folder / "report.pdf").read_text()
    assert written.startswith("0 ") and written.endswith("report.tex\n")
    assert ("-no-shell-escape" in written) if name == "pdflatex" else ("--untrusted" in written)
    assert sorted(path.name for path in folder.iterdir()) == ["figures", "report.pdf", "report.tex"]
    assert requirements()[0].detail == str(programs / name)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (
            "echo This is TeX; echo '! Undefined control sequence.'; echo later; exit 1",
            "none: pdflatex ended with 1: ! Undefined control sequence.",
        ),
        ("exit 7", "none: pdflatex ended with 7: it said nothing"),
        ("echo all is well", "none: pdflatex ended with 0: all is well"),
        ("sleep 9", "none: pdflatex took longer than 0.5 s"),
    ],
)
def test_an_engine_that_fails_is_told_in_one_line(folder, monkeypatch, script, said):
    monkeypatch.setattr(page, "LIMIT_S", 0.5)
    engine(monkeypatch, folder, pdflatex=script)
    assert write_pdf(folder) == (None, said)
    assert not (folder / "report.pdf").exists()


def test_the_article_compiles_into_the_same_bytes_every_time(tmp_path, requires):
    requires("tex")
    problems = made_up_problems(20)
    study = {
        "study_sha": "5" * 64,
        "arms": list(ARMS),
        "seeds": [0],
        "candidates": K,
        "rounds": R,
        "root_seed": 0,
        "backend": "operators",
    }
    write_report(
        report_of(Stored(study, problems, made_up_results(problems, seeds=1), ATTEMPTS.empty())), tmp_path
    )
    path, said = write_pdf(tmp_path)
    assert path is not None, said
    first = path.read_bytes()
    assert first.startswith(b"%PDF-") and len(first) > 100_000, "figures and all"
    write_pdf(tmp_path)
    assert path.read_bytes() == first
