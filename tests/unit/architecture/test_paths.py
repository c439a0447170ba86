"""No command waits for a pipe or reads a device: each path on a command line, and each file in a folder that
it names, is looked at first."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path

import click
import polars as pl
import pytest
from bad_inputs import FAMILY
from commands import evolake

from evolake.cli import cli
from evolake.commands import OrdinaryPath
from evolake.errors import InputError
from evolake.gates.rules import files_hash
from evolake.lake import Lake
from evolake.report.artifacts import Artifact
from evolake.report.show import rule_text
from evolake.solvers.repository.seeding import _from_path  # pyright: ignore[reportPrivateUsage]

SEEDS = Path(__file__).resolve().parents[3] / "data_lake" / "seeds"
SECONDS, MEMORY = 30, 3 << 30
KINDS = ("pipe", "endless", "folder")

OTHERS = {
    "--created": "rounds.json",
    "--round": "1",
    "--line": "designs",
    "--format": "jsonl",
    "--without": "rules",
    "--to": "small-train",
    "--parent": "a",
    "--hypothesis": "b",
    "champion": "designs",
    "scores": "scores.parquet",
    "--out": "fresh",
    "proof_file": "good.drat",
    "cnf": "good.cnf",
    "problem": "problem.json",
    "candidate": "candidate.json",
    "line": "designs",
    "artifact": "abc",
    "other_lake": "folder",
}
"""What else has to be typed, by parameter."""


def parameters() -> Iterator[tuple[tuple[str, ...], click.Command, click.Parameter]]:
    """Yield every parameter of every command."""
    waiting: list[tuple[tuple[str, ...], click.Command]] = [((), cli)]
    while waiting:
        path, command = waiting.pop()
        if isinstance(command, click.Group):
            context = click.Context(command)
            found = [(name, command.get_command(context, name)) for name in command.list_commands(context)]
            waiting += [((*path, name), item) for name, item in found if item is not None]
        else:
            yield from ((path, command, parameter) for parameter in command.params)


PATHS = [(path, command, item) for path, command, item in parameters() if isinstance(item.type, OrdinaryPath)]


def named(parameter: click.Parameter) -> str:
    return next((word for word in parameter.opts if word.startswith("--")), parameter.name or "")


def words(path: tuple[str, ...], command: click.Command, tried: click.Parameter, value: str) -> list[str]:
    """What is typed: the parameter with `value`, and whatever else the command requires."""
    typed: list[str] = []
    for parameter in command.params:
        if parameter is not tried and not parameter.required:
            continue
        given = value if parameter is tried else OTHERS.get(named(parameter), "fresh")
        typed += [named(parameter), given] if isinstance(parameter, click.Option) else [given]
    return [*path, *typed]


@contextmanager
def bounded() -> Iterator[None]:
    """Ends what waits or grows without end."""

    def late(*_: object) -> None:
        raise TimeoutError(f"still at work after {SECONDS} s")

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limits, handler = resource.getrlimit(resource.RLIMIT_AS), signal.signal(signal.SIGALRM, late)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, limits[1]))
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, handler)
        resource.setrlimit(resource.RLIMIT_AS, limits)


@pytest.fixture
def here(tmp_path) -> Path:
    """A folder with a pipe, a link to an endless device, a folder and a file of each kind that a command
    needs beside them."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "endless").symlink_to("/dev/zero")
    (tmp_path / "folder").mkdir()
    pl.DataFrame({"objective_id": [0, 0], "design_id": [1, 2], "score": [1.0, 2.0]}).write_parquet(
        tmp_path / "scores.parquet"
    )
    for name, text in {
        "rounds.json": '{"0": 0}',
        "good.cnf": "p cnf 1 2\n1 0\n-1 0\n",
        "good.drat": "0\n",
        "problem.json": "{}",
        "candidate.json": '{"status": "unsat"}',
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def run(here: Path, *typed: str | Path, **environment: str):
    variables = {
        "EVOLAKE_LAKE": str(here / "lake"),
        "HOME": str(here),
        "PATH": os.environ["PATH"],
    } | environment
    with bounded():
        return evolake(*typed, cwd=here, environment=variables)


def test_every_path_of_a_command_line_is_an_ordinary_path():
    assert [
        (*path, named(item))
        for path, _, item in parameters()
        if isinstance(item.type, click.Path | click.File) and not isinstance(item.type, OrdinaryPath)
    ] == []
    assert len(PATHS) >= 50


@pytest.mark.parametrize(
    ("case", "kind"),
    list(zip(PATHS, cycle(["pipe", "endless"]), strict=False)),
    ids=[" ".join((*path, named(item))) for path, _, item in PATHS],
)
def test_a_pipe_and_a_device_are_refused_by_name(case, kind, here):
    """Each parameter meets one of the two; that all are read alike is said above."""
    done = run(here, *words(*case, kind))
    assert done.returncode == 2, done.stderr
    assert kind in done.stderr and ("named pipe" if kind == "pipe" else "a device") in done.stderr


FILES_READ = (
    ("bundle", "verify", "{}"),
    ("consensus", "rank", "{}", "--created", "rounds.json", "--round", "1"),
    ("consensus", "rank", "scores.parquet", "--created", "{}", "--round", "1"),
    (
        "consensus",
        "rank",
        "scores.parquet",
        "--created",
        "rounds.json",
        "--round",
        "1",
        "--multipliers",
        "{}",
    ),
    ("designs", "check", "{}"),
    ("designs", "solve", "{}"),
    ("families", "audit", "import", "{}"),
    ("repair", "certify", "{}", "candidate.json"),
    ("repair", "certify", "problem.json", "{}"),
    ("sql", "--file", "{}"),
    ("programs", "check", "{}"),
    ("seeds", "add", "{}"),
    ("solvers", "bench", "{}", "--suite", "small-train"),
    ("solvers", "lock", "folder", "--statuses", "{}"),
    ("families", "check", "{}"),
    ("designs", "import", "{}"),
    ("rules", "preview", "--rules", "{}"),
    ("solvers", "verify", "{}"),
    ("solvers", "layout", "{}", "--out", "o"),
    ("proof", "tools", "{}"),
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("typed", FILES_READ, ids=" ".join)
def test_whatever_reads_a_file_ends_at_once_with_a_sentence(typed, kind, here):
    done = run(here, *(word.replace("{}", kind) for word in typed))
    assert done.returncode in (2, 3), done.stderr
    assert "this is a bug" not in done.stderr and "Traceback" not in done.stderr
    assert kind in done.stderr or kind == "folder"


def family(here: Path) -> Path:
    for name, data in FAMILY.items():
        (here / "family" / name).parent.mkdir(exist_ok=True)
        (here / "family" / name).write_bytes(data)
    return here / "family"


@pytest.mark.parametrize(
    "name", ["generator.py", "family.toml", "reader.py", "validators/a.py", "mutations.toml"]
)
@pytest.mark.parametrize("kind", ["pipe", "endless"])
def test_a_family_whose_file_is_none_is_refused(name, kind, here):
    target = family(here) / name
    target.parent.mkdir(exist_ok=True)
    target.unlink(missing_ok=True)
    shutil.move(here / kind, target)
    for typed in (("families", "check", "family"), ("seeds", "add", "family", "--line", "families")):
        done = run(here, *typed)
        assert done.returncode == 2 and "this is a bug" not in done.stderr, done.stderr
        assert Path(name).name in done.stderr


@pytest.mark.parametrize("kind", ["pipe", "endless", "folder"])
@pytest.mark.parametrize(
    "place",
    [
        "designs/x.py",
        "families/x/generator.py",
        "rules/designs/x.md",
        "programs/x/evaluator.py",
        "programs/x/project.toml",
    ],
)
def test_a_dropped_seed_that_is_no_file_stops_no_listing_for_ever(place, kind, here):
    target = here / "lake/seeds" / place
    target.parent.mkdir(parents=True)
    if place.startswith("programs") and not place.endswith("evaluator.py"):
        (target.parent / "initial_program.py").write_text("x = 1\n")
        (target.parent / "evaluator.py").write_text("def evaluate(path):\n    return {}\n")
    shutil.move(here / kind, target)
    for typed in (
        ("seeds", "list"),
        ("seeds", "list", "--json"),
        ("programs", "check", str(target.parent)),
        ("rules", "preview"),
    ):
        done = run(here, *typed)
        assert done.returncode in (0, 1, 2), done.stderr
        assert "this is a bug" not in done.stderr
        if typed[:2] == ("programs", "check") and kind == "pipe" and place.startswith("programs"):
            assert done.returncode == 2 and target.name in done.stderr


@pytest.mark.parametrize("kind", ["pipe", "endless", "folder"])
@pytest.mark.parametrize(
    "name", ["solvers.toml", "solvers/adapters/minisat22.toml", "suites/train.toml", "rules/solvers/own.md"]
)
def test_settings_of_the_seeds_that_are_no_files_are_refused(name, kind, here):
    shutil.copytree(SEEDS / "solvers", here / "seeds/solvers")
    shutil.copytree(SEEDS / "rules", here / "seeds/rules")
    shutil.copytree(SEEDS / "suites", here / "seeds/suites")
    shutil.copy(SEEDS / "solvers.toml", here / "seeds/solvers.toml")
    (here / "seeds" / name).unlink(missing_ok=True)
    shutil.move(here / kind, here / "seeds" / name)
    for typed in (
        ("solvers", "layout", "folder", "--adapter", "minisat22", "--out", "o"),
        ("solvers", "bench", "folder", "--suite", "train"),
        ("seeds", "list", "--line", "solvers"),
        ("rules", "preview", "--line", "solvers", "--rules", "seeds/rules"),
    ):
        done = run(here, *typed, EVOLAKE_SEEDS=str(here / "seeds"))
        assert "this is a bug" not in done.stderr, done.stderr
        assert done.returncode in (0, 1, 2, 3)


def test_a_folder_of_the_lake_that_is_a_pipe_or_a_device_is_named(here):
    for kind in ("pipe", "endless"):
        for typed in (("status",), ("champion", "designs"), ("sql", "SELECT 1"), ("watch", "--once")):
            done = run(here, *typed, EVOLAKE_LAKE=str(here / kind))
            assert done.returncode in (2, 3) and "this is a bug" not in done.stderr, (typed, done.stderr)
            assert kind in done.stderr


def test_a_file_beyond_its_limit_is_refused_by_name(here):
    with (here / "big.py").open("wb") as file:
        file.truncate(1 << 40)
    for typed in (
        ("designs", "check", "big.py"),
        ("sql", "--file", "big.py"),
        ("repair", "certify", "big.py", "candidate.json"),
    ):
        done = run(here, *typed)
        assert done.returncode == 2 and "big.py" in done.stderr and "bytes" in done.stderr, done.stderr
    assert json.loads(run(here, "designs", "check", "big.py", "--json").stdout)["exit_code"] == 2


def test_a_pipe_among_the_seeds_stops_neither_the_version_of_an_asset_nor_a_shown_rule(here, monkeypatch):
    (here / "seeds/rules/designs").mkdir(parents=True)
    os.mkfifo(here / "seeds/rules/designs/x.md")
    monkeypatch.setenv("EVOLAKE_SEEDS", str(here / "seeds"))
    monkeypatch.setenv("EVOLAKE_LAKE", str(here / "lake"))
    with bounded():
        with pytest.raises(InputError, match=r"x\.md cannot be read"):
            files_hash(here / "seeds/rules/designs")
        rule = Artifact("x", "designs", "rule", "x", content_sha="0" * 64)
        assert rule_text(Lake(here / "lake"), rule) == ""


def test_an_archive_of_a_seed_that_is_a_pipe_is_named(here):
    with bounded(), pytest.raises(InputError, match="s cannot be read"):
        _from_path(here / "pipe", "s")
