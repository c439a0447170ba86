"""evolake as it is installed from a package index: a wheel in an environment of its own, and a project that
`evolake init` laid out."""

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from designs_fixtures import SMALL

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
ROOT = Path(__file__).resolve().parents[2]
BROUGHT = ("assets", "pipelines", "resources", "deploy", "sql", "data_lake")
TINY = SMALL | {
    "EVOLAKE_DESIGNS__BATCH": "6",
    "EVOLAKE_DESIGNS__DESIGNS_PER_CYCLE": "2",
    "EVOLAKE_DESIGNS__DIRECTIONS_PER_CYCLE": "1",
    "EVOLAKE_DESIGNS__TUNING_TRIALS": "0",
    "EVOLAKE_DESIGNS__OBJECTIVES_PER_CYCLE": "0",
    "EVOLAKE_DESIGNS__LOW": '{"max_n": 20, "max_steps": 200, "core_s": 60}',
    "EVOLAKE_DESIGNS__MEDIUM": '{"max_n": 28, "max_steps": 400, "core_s": 60}',
    "EVOLAKE_DESIGNS__HIGH": '{"max_n": 40, "max_steps": 400, "core_s": 60}',
}
LOOK = """
import importlib.util, json, os, evolake
from evolake.jail import GENERIC_DRIVER, open_pool
package = os.path.dirname(evolake.__file__)
source = "import os\\ndef f(path): return [os.path.isdir(path), os.listdir(path), os.path.isfile(path + '/../errors.py')]"
with open_pool(workers=1, preload=()) as pool:
    jail = pool.call(GENERIC_DRIVER, source, {"function": "f", "args": [package + "/_project"]}).value
print(json.dumps({"package": package, "host": os.listdir(package + "/_project"), "jail": jail,
                  "bare": [name for name in ("assets", "pipelines", "resources") if importlib.util.find_spec(name)]}))
"""  # noqa: E501


STRAY = (
    "evolake/stray.py",
    "evolake/drafts/__init__.py",
    "evolake/cli/notes.txt",
    "pipelines/stray.py",
    "sql/stray.sql",
    "deploy/secret.env",
    "data_lake/seeds/designs/mine.py",
    "data_lake/seeds/programs/mine/evaluator.py",
    "build/lib/evolake/of_an_earlier_build.py",
)
"""What may be in a checkout without being tracked."""


@dataclass(frozen=True)
class Installed:
    """A virtual environment with evolake from a wheel, and beside it this environment's other packages;
    `folder` is somewhere else."""

    python: Path
    wheel: Path
    folder: Path

    @property
    def packages(self) -> Path:
        return next(self.python.parents[1].glob("lib/python*/site-packages"))

    def run(self, *command: str, code: int = 0, where: Path | None = None) -> str:
        """What a command says, typed in a folder by somebody whose home is empty; it must end with `code`."""
        ours = ("EVOLAKE_", "DAGSTER_", "PYTHON", "VIRTUAL_ENV", "HOME")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        environment |= TINY | {"HOME": str(self.folder), "DAGSTER_DISABLE_TELEMETRY": "1"}
        done = subprocess.run(
            command, env=environment, cwd=where or self.folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stdout[-3000:] + done.stderr[-3000:]
        return done.stdout + done.stderr

    def evolake(self, *words: str, code: int = 0, where: Path | None = None) -> str:
        return self.run(str(self.python.with_name("evolake")), *words, code=code, where=where)

    def written(self) -> dict[str, tuple[int, int]]:
        """Every file and folder of the environment, with its size and when it was changed."""
        return {
            str(path): (path.lstat().st_mtime_ns, path.lstat().st_size) for path in self.packages.rglob("*")
        }


def tracked(*folders: str) -> list[str]:
    """Files of the repository, and those that will be."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *folders]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [name for name in names if (ROOT / name).is_file()]


def copy_to(folder: Path) -> None:
    """A copy of the repository without its history, and a user's own project in it."""
    for name in tracked():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes((ROOT / name).read_bytes())
    (folder / "data_lake" / "seeds" / "programs" / "mine").mkdir(parents=True)
    (folder / "data_lake" / "seeds" / "programs" / "mine" / "evaluator.py").write_text("")


def wanted_in_a_wheel() -> dict[str, str]:
    """Path in the repository -> path in a wheel."""
    return {name: f"evolake/_project/{name}" for name in tracked(*BROUGHT)} | {
        name: name for name in tracked("evolake")
    }


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Installed:
    """The wheel, built of the source distribution, which is built of a copy of the repository."""
    base = tmp_path_factory.mktemp("installed")
    copy_to(base / "source")
    build = [
        sys.executable,
        "-c",
        f"import setuptools.build_meta as backend; backend.build_sdist({str(base)!r})",
    ]
    subprocess.run(build, cwd=base / "source", capture_output=True, check=True)
    pip, quiet = [sys.executable, "-m", "pip"], ["--quiet", "--no-deps", "--disable-pip-version-check"]
    [archive] = base.glob("*.tar.gz")
    subprocess.run([*pip, "wheel", *quiet, "--no-build-isolation", "--wheel-dir", base, archive], check=True)
    [wheel] = base.glob("*.whl")
    venv.create(base / "venv", symlinks=True)
    result = Installed(base / "venv" / "bin" / "python", wheel, base / "anywhere")
    result.folder.mkdir()
    subprocess.run([*pip, "--python", result.python, "install", *quiet, wheel], check=True)
    (result.packages / "others.pth").write_text(
        sysconfig.get_path("purelib")
    )  # a folder named so is not searched for .pth files
    return result


@pytest.fixture(scope="module")
def project(installed) -> Path:
    """A project with one cycle of the designs, by an environment that was looked at before."""
    before, folder = installed.written(), installed.folder / "project"
    assert "is a project of evolake now" in installed.evolake("init", "project")
    assert "sealed: designs 0001" in installed.evolake("run", "--lines", "designs", where=folder)
    assert installed.written() == before
    return folder


def test_the_wheel_has_every_file_and_no_common_name(installed):
    with zipfile.ZipFile(installed.wheel) as archive:
        held = {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}
    wanted = wanted_in_a_wheel()
    assert sorted(held) == sorted(wanted.values())
    assert [name for name, place in wanted.items() if held[place] != (ROOT / name).read_bytes()] == []
    metadata = "-".join(installed.wheel.name.split("-")[:2]) + ".dist-info"
    assert {path.name for path in installed.packages.iterdir()} == {"evolake", "others.pth", metadata}


def test_of_a_checkout_only_tracked_files_are_packed(tmp_path):
    source = tmp_path / "source"
    copy_to(source)
    for command in (["init", "-q"], ["add", "--all", "--", ":!data_lake/seeds/programs"]):
        subprocess.run(["git", "-C", source, *command], check=True)
    for name in STRAY:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("")
    pip = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--disable-pip-version-check",
        "--no-build-isolation",
    ]
    subprocess.run([*pip, "--wheel-dir", tmp_path, source], check=True)
    build = [
        sys.executable,
        "-c",
        f"import setuptools.build_meta as backend; backend.build_sdist({str(tmp_path)!r})",
    ]
    subprocess.run(build, cwd=source, capture_output=True, check=True)
    [wheel], [archive] = tmp_path.glob("*.whl"), tmp_path.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as packed:
        assert sorted(name for name in packed.namelist() if ".dist-info/" not in name) == sorted(
            wanted_in_a_wheel().values()
        )
    with tarfile.open(archive) as packed:
        assert {name.partition("/")[2] for name in packed.getnames()} & set(STRAY) == set()


def test_its_version_is_that_of_the_wheel(installed):
    assert installed.evolake("--version").split() == [
        "evolake,",
        "version",
        installed.wheel.name.split("-")[1],
    ]


def test_outside_of_a_project_it_says_how_to_get_one_and_makes_nothing(installed, tmp_path):
    for words in (["status"], ["run"], ["sql", "FROM parts"], ["guide", "Be brief."], ["lake", "verify"]):
        assert "evolake init DIR" in installed.evolake(*words, code=2, where=tmp_path)
    checks = {
        check["name"]: check
        for check in json.loads(installed.evolake("doctor", "--json", where=tmp_path))["checks"]
    }
    assert (checks["project"]["ok"], checks["project"]["mend"], "lake" in checks) == (
        False,
        "evolake init DIR, then work in DIR",
        False,
    )
    assert list(tmp_path.iterdir()) == []


def test_a_jail_shows_none_of_what_it_brings_along(installed):
    summary = json.loads(installed.run(str(installed.python), "-c", LOOK))
    assert summary["package"] == str(installed.packages / "evolake")
    assert (set(summary["host"]), summary["jail"], summary["bare"]) == ({*BROUGHT}, [True, [], True], [])


def test_a_cycle_is_asked_about_anywhere_in_the_project(installed, project):
    deep = project / "data_lake" / "seeds"
    assert "designs: 1 cycle done; next: 0002" in installed.evolake("status", where=deep)
    rows = json.loads(
        installed.evolake(
            "sql", "SELECT asset FROM parts WHERE line = 'designs' AND cycle = '0001'", "--json", where=deep
        )
    )["rows"]
    assert ["final_ranking"] in rows
    assert (
        installed.evolake("sql", "--file", "cookbook/funnel.sql", "-p", "line=designs", where=deep).count(
            "\n"
        )
        > 3
    )
    installed.evolake("report", "--out", "report.html", where=project)
    assert (
        "<svg" in (project / "report.html").read_text()
        or "data:image/png" in (project / "report.html").read_text()
    )
    checks = {
        check["name"]: check["ok"]
        for check in json.loads(installed.evolake("doctor", "--json", where=deep))["checks"]
    }
    assert checks["project"] and checks["lake"]


def test_what_is_added_is_written_to_the_project_and_never_to_the_package(installed, project):
    before, seeds = installed.written(), project / "data_lake" / "seeds"
    (project / "mine.py").write_bytes(
        (ROOT / "data_lake" / "seeds" / "reference_designs" / "design_340.py").read_bytes()
    )
    installed.evolake("seeds", "add", "mine.py", where=project)
    installed.evolake("programs", "new", "curve", where=project)
    assert "curve: usable" in installed.evolake(
        "programs", "check", "curve", "--runs", "2", where=project / "data_lake"
    )
    assert (seeds / "designs" / "mine.py").is_file() and (
        seeds / "programs" / "curve" / "evaluator.py"
    ).is_file()
    assert installed.written() == before


def test_its_own_questions_are_beside_those_of_the_cookbook(installed, project):
    (project / "sql" / "cookbook").mkdir(parents=True)
    (project / "sql" / "cookbook" / "mine.sql").write_text(
        "-- How many?\nSELECT count(*) AS parts FROM parts"
    )
    assert "cookbook/mine" in installed.evolake("sql", "--list", where=project / "data_lake")
    assert (
        json.loads(
            installed.evolake("sql", "--file", "cookbook/mine.sql", "--json", where=project / "data_lake")
        )["rows"][0][0]
        > 5
    )


def test_dagster_loads_it_with_the_home_of_the_project(installed, project):
    summary = installed.run(str(installed.python), "-m", "dagster", "definitions", "validate", where=project)
    assert (
        "environment variables from .env file: DAGSTER_HOME" in summary
        and "All code locations passed" in summary
    )
