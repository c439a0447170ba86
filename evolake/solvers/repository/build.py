"""Build variants in the jail, cleanly: the compiler and make are the system's, there is no network, and only
the program is kept.

The sources are at one fixed path in every build, so that two builds of the same sources by the same compiler
give the same bytes. What a build gave is remembered next to the blobs, by sources, scripts and compiler.
Objects of a seed's own sources are kept (see `object_store`): a variant compiles what it changes, and its
program, flags and messages are those of a build without them.

A build that fails is made once more with one job at a time, and that result counts: which of two jobs fails
first, or a machine short of memory for a moment, is not the variant's. Failures that another try could repair
(the clock, memory) are not remembered.
"""

from __future__ import annotations

import functools
import hashlib
import json
import platform
import re
import secrets
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from evolake.errors import MachineryError
from evolake.jail import Limits, NativeOutcome, NativeRun, run_native
from evolake.jail.inside.executed import UNREADABLE
from evolake.jail.patience import patiently, starved
from evolake.jail.toolbox import EXTRA, PATH
from evolake.lake import disk
from evolake.lake.blobs import BlobStore
from evolake.lines import Requirement
from evolake.solvers.execute import Program
from evolake.solvers.repository.adapters import Adapter
from evolake.solvers.repository.compiled_before import INTERNALS, answered, read_kept
from evolake.solvers.repository.object_store import Before, Kept, store_of
from evolake.solvers.repository.variant import build_script, source_sha, sources_of

BuildKind = Literal["built", "compile-error", "no-program", "too-large", "timeout", "memory", "killed"]
REMEMBERED = ("built", "compile-error", "no-program")
NO_SECOND_TRY = ("no-program", "too-large", "timeout")
COMPILERS = ("g++", "clang++")
_ERROR = re.compile(
    r"(?m)^.*(?:: (?:fatal )?error: |undefined reference to|multiple definition of|No rule to make target|"
    r": not found$).*$"
)
_WARNING = re.compile(r"(?m)^[^\n]*: warning: ")
_FULL = re.compile(r"No space left on device|File size limit exceeded|file too large", re.IGNORECASE)
_TOO_LONG = re.compile(r"CPU time limit exceeded")
_KILLED = re.compile(r"(?m)Killed signal terminated program|^Killed$")
_NO_PROCESS = re.compile(r"(?m)Cannot fork$|fork\b.*Resource temporarily unavailable")
_NO_MEMORY = re.compile(
    r"virtual memory exhausted|out of memory|Cannot allocate memory|bad_alloc", re.IGNORECASE
)
_PLACES = (
    (re.compile(r"/tmp/[\w./-]*?build/"), "src/"),
    (re.compile(r"(?<![\w/.])\.\./(?:src/)?(?=\w)"), "src/"),
)
LONGEST_REASON = 300
_COMPILER = re.compile(
    r"(?:[\w.]+-)*(?:g\+\+|gcc|c\+\+|cc|cpp|clang|clang\+\+|cc1|cc1plus|as|ld(?:\.\w+)?|gold|lld|collect2|"
    r"lto1|lto-wrapper)(?:-[\d.]+)?"
)
_TEMPORARY = re.compile(r"\bcc\w{6}\b")
"""Compilers name their temporary files so, again in each run."""


@dataclass(frozen=True)
class BuildLimits:
    """cpu_s: seconds of processor time of one compiler process. wall_s: of the whole build. memory_mb: MiB of
    address space a process. total_mb: MiB of memory of all of it together, its files among that. file_mb: MiB
    of one file, the program among them; all may hold four times that. processes: at one time."""

    cpu_s: float = 300.0
    wall_s: float = 900.0
    memory_mb: int = 2048
    total_mb: int = 4096
    file_mb: int = 64
    processes: int = 32
    log_bytes: int = 4 << 20


@dataclass(frozen=True)
class BuildResult:
    """What came of a build.

    program: name of the executable among the blobs; None when there is none. log_sha: what the compiler said,
    as a blob; its paths are those of the variant. reason: one line, empty when it is ok. cpu_s: processor
    time of the build, of both tries, also where it is remembered (cached). flags: each distinct command line
    of a compiler, assembler or linker that ran, as its name and those of its words that begin with "-" or
    "@", in order; the kernel reported them, so a build can hide none (see `evolake.jail.inside.executed`).
    executed: each program that ran, once, by its path. reused: objects that were compiled before; cpu_s,
    flags and executed hold what compiling them took, so that no rule minds. reused_s: the part of cpu_s, of
    the last try, that was spent then.
    """

    ok: bool
    kind: BuildKind
    program: str | None
    log_sha: str
    warnings: int
    cpu_s: float
    wall_s: float
    reason: str
    cached: bool = False
    flags: tuple[str, ...] = ()
    executed: tuple[str, ...] = ()
    reused: int = 0
    reused_s: float = 0.0


@functools.lru_cache(maxsize=1)
def compiler() -> tuple[str, str]:
    """Return the C++ compiler, and what identifies it together with make and the machine.

    Raises:
        MachineryError: there is no compiler or no make.
    """
    result = next((name for name in COMPILERS if shutil.which(name)), None)
    missing = [
        name for name, there in (("a C++ compiler", result), ("make", shutil.which("make"))) if not there
    ]
    if result is None or missing:
        what = f"{' and '.join(missing)} cannot be found, so no solver can be built"
        raise MachineryError(
            what,
            wanted="g++ (or clang++) and make on PATH",
            do="`evolake doctor` names the line that installs them",
        )
    said = [
        subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]
        for name in (result, "make")
    ]
    return result, "; ".join([*said, platform.machine()])


def build_variant(
    folder: Path,
    adapter: Adapter,
    blobs: BlobStore,
    limits: BuildLimits = BuildLimits(),
    *,
    seed: bool = False,
    again: bool = False,
    mode: str | None = None,
) -> BuildResult:
    """Build the sources of the variant at `folder`, which is not changed. A build that fails is a value.

    Args:
        seed: it is a seed as it was laid out, whose objects may serve its variants. again: build all of it
            also where the result is remembered.
        mode: as for `evolake.jail.open_pool`.

    Raises:
        MachineryError: no compiler. JailUnavailable: nothing was built. HostBusy: every try was cut off by
            the host, so nothing is known of it.
    """
    name, identity = compiler()
    key = hashlib.sha256(
        json.dumps([source_sha(folder), build_script(adapter), identity, "2"]).encode()
    ).hexdigest()
    if not again and (known := _remembered(blobs, key)):
        return known
    path = shutil.which(name, path=PATH)
    store = None if again or path is None or tools_of(adapter) else store_of(folder, adapter, identity)
    if store is None or path is None:
        result = _build(folder, adapter, blobs, limits, name, mode)
    elif seed and not store.read(source_sha(folder)):
        with store.turn() as ours:
            kept = store.read(source_sha(folder))
            result = _build(
                folder,
                adapter,
                blobs,
                limits,
                name,
                mode,
                Before(path, kept, store if ours and not kept else None),
            )
    else:
        result = _build(folder, adapter, blobs, limits, name, mode, Before(path, store.read()))
    if result.kind in REMEMBERED:
        _remember(blobs, key, result)
    return result


def _build(
    folder: Path,
    adapter: Adapter,
    blobs: BlobStore,
    limits: BuildLimits,
    name: str,
    mode: str | None,
    before: Before | None = None,
) -> BuildResult:
    """Return the build itself. name: of the compiler."""
    before = before or Before("")
    files = (
        {path: file.read_bytes() for path, file in sources_of(folder).items()}
        | {"bin/.keep": b""}
        | before.files
    )
    jail = Limits(
        cpu_s=limits.cpu_s,
        wall_s=limits.wall_s,
        memory_mb=limits.memory_mb,
        file_mb=limits.file_mb,
        output_bytes=limits.log_bytes,
        open_files=256,
        processes=limits.processes,
        total_mb=limits.total_mb,
    )
    result, spent_s = None, 0.0
    with before.shown() as shown:
        for serial in (False, True):
            script = build_script(adapter, serial=serial).encode()
            run = NativeRun(
                ["/usr/bin/env", f"CXX={name}", *before.environment, "./starexec_build"],
                files | {"starexec_build": script},
                [adapter.program, *before.outputs],
                record=True,
                tools=tools_of(adapter),
                shown=shown,
            )
            outcome = patiently(partial(_compile, run, jail, mode), starved, f"the build of {folder.name}")
            result = _reusing(
                _judge(outcome, adapter, blobs, limits, before.programs(outcome)),
                outcome,
                before,
                source_sha(folder),
            )
            spent_s += result.cpu_s
            if result.ok or result.kind in NO_SECOND_TRY:
                break
    assert result is not None
    return replace(result, cpu_s=spent_s)


def _compile(run: NativeRun, limits: Limits, mode: str | None, stretch: float) -> NativeOutcome:
    return run_native(run, replace(limits, stretch=stretch), mode=mode)


def tools_of(adapter: Adapter) -> tuple[str, ...]:
    """Return the tools next to those of every build that an adapter asks for by calling them.

    Raises:
        MachineryError: one is not here.
    """
    asked = tuple(sorted({command[0] for command in adapter.build} & set(EXTRA)))
    if absent := next((tool for tool in asked if shutil.which(tool, path=PATH) is None), None):
        raise MachineryError(
            f"the adapter {adapter.name} builds with {absent}, which is not here",
            do=f"apt-get install {absent}",
        )
    return asked


def build_by(
    executor: Executor | None, folder: Path, adapter: Adapter, blobs: BlobStore, *, seed: bool = False
) -> BuildResult:
    """Return `build_variant` by a worker of `executor`, which must see `folder` and `blobs`; None: here."""
    if executor is None:
        return build_variant(folder, adapter, blobs, seed=seed)
    return executor.submit(build_variant, folder, adapter, blobs, seed=seed).result()


def _reusing(result: BuildResult, outcome: NativeOutcome, before: Before, seed: str) -> BuildResult:
    """Return the result with what the compiler ran for the objects that were compiled before; of a seed's,
    those objects are kept."""
    if before.store and result.ok:
        inner = [line for line in result.flags if INTERNALS.fullmatch(line.partition(" ")[0])]
        ran = [path for path in result.executed if INTERNALS.fullmatch(path.rpartition("/")[2])]
        before.store.keep(Kept(seed, read_kept(outcome.outputs), inner, ran))
    if not before.kept or not (reused := answered(outcome.programs, before.kept.objects)):
        return result
    before_s = sum(item.cpu_s for item in reused)
    flags, executed = (
        {*mine, *theirs}
        for mine, theirs in ((result.flags, before.kept.flags), (result.executed, before.kept.executed))
    )
    return replace(
        result,
        flags=tuple(sorted(flags)),
        executed=tuple(sorted(executed)),
        cpu_s=result.cpu_s + before_s,
        reused=len(reused),
        reused_s=before_s,
    )


def _judge(
    outcome: NativeOutcome,
    adapter: Adapter,
    blobs: BlobStore,
    limits: BuildLimits,
    programs: Sequence[tuple[str, ...]],
) -> BuildResult:
    log = _readable((outcome.stdout + outcome.stderr).decode("utf-8", "replace"))
    program = outcome.outputs.get(adapter.program)
    kind, reason = _fault(outcome, log, adapter, limits)
    return BuildResult(
        ok=kind == "built",
        kind=kind,
        program=blobs.put(program) if program and kind == "built" else None,
        log_sha=blobs.put(log.encode()),
        warnings=len(_WARNING.findall(log)),
        cpu_s=outcome.cpu_s,
        wall_s=outcome.wall_s,
        reason=reason,
        flags=compiler_flags(programs),
        executed=tuple(sorted({line[0] for line in programs})),
    )


def compiler_flags(programs: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the distinct command lines of compilers, assemblers and linkers among `programs` (path, then
    arguments), without names of files; in order.
    """
    lines = set()
    for path, *words in programs:
        name = path.rpartition("/")[2]
        if _COMPILER.fullmatch(name):
            lines.add(
                " ".join(
                    [
                        name,
                        *(_TEMPORARY.sub("cc*", word) for word in words[1:] if word.startswith(("-", "@"))),
                    ]
                )
            )
        elif path == UNREADABLE:
            lines.add(path)
    return tuple(sorted(lines))


def _fault(outcome: NativeOutcome, log: str, adapter: Adapter, limits: BuildLimits) -> tuple[BuildKind, str]:
    if outcome.status in ("timeout", "cpu"):
        return "timeout", f"the build took too long: {outcome.reason}"
    if outcome.status == "memory":
        return "memory", f"the build needs too much memory: it {outcome.reason}"
    if outcome.status == "output":
        return (
            "too-large",
            f"the build writes too much: a file may have {limits.file_mb} MiB, its messages "
            f"{limits.log_bytes} bytes",
        )
    if outcome.status != "ok":
        return "killed", f"the build was ended: {outcome.reason}"
    if outcome.exit_code:
        if fault := next((fault for pattern, fault in _limit_faults(limits) if pattern.search(log)), None):
            return fault
        first = _ERROR.search(log)
        said = first[0].strip() if first else (log.strip().splitlines() or ["no message"])[-1]
        return "compile-error", f"compile error: {said}"[:LONGEST_REASON]
    program = outcome.outputs.get(adapter.program)
    if not program:
        return "no-program", outcome.reason or f"the build ended well, but left no file {adapter.program}"
    return "built", ""


def _limit_faults(limits: BuildLimits) -> tuple[tuple[re.Pattern[str], tuple[BuildKind, str]], ...]:
    """Return what the log of a failed build says where a limit ended one process of it, and the shell or make
    continued to report that."""
    much = f"the build writes too much: a file may have {limits.file_mb} MiB, all of it {4 * limits.file_mb}"
    return (
        (
            _TOO_LONG,
            (
                "timeout",
                f"the build took too long: one process used more than {limits.cpu_s:g} s of processor time",
            ),
        ),
        (_FULL, ("too-large", much)),
        (_KILLED, ("killed", "the build was ended: one process of it was killed")),
        (
            _NO_PROCESS,
            ("killed", f"the build was ended: it needs more than {limits.processes} processes at one time"),
        ),
        (
            _NO_MEMORY,
            ("memory", f"the build needs more than {limits.memory_mb} MiB of memory in one process"),
        ),
    )


def _readable(log: str) -> str:
    """Return the log with the paths of the variant's sources in place of those of their copy in the jail."""
    for pattern, name in _PLACES:
        log = pattern.sub(name, log)
    return log


def _record(blobs: BlobStore, key: str) -> Path:
    return blobs.path(key).parents[2] / "builds" / key[:2] / f"{key}.json"


def _remembered(blobs: BlobStore, key: str) -> BuildResult | None:
    """Return the remembered result, if all of it is still there."""
    try:
        values = json.loads(_record(blobs, key).read_text())
        values |= {name: tuple(values[name]) for name in ("flags", "executed")}
        result = BuildResult(**values, cached=True)
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return result if all(blobs.has(sha) for sha in (result.program, result.log_sha) if sha) else None


def _remember(blobs: BlobStore, key: str, result: BuildResult) -> None:
    values = asdict(result)
    del values["cached"]
    disk.write_atomic(_record(blobs, key), json.dumps(values).encode(), tag=secrets.token_hex(8))


def open_program(build: BuildResult, adapter: Adapter, blobs: BlobStore, cache: Path) -> Program:
    """Return the built program, laid out once in its own folder below `cache`, ready to be run.

    Raises:
        ValueError: the build left no program. InputError: its blob is gone. CorruptPart: its blob is damaged.
    """
    if build.program is None:
        raise ValueError(f"there is no program to open: {build.reason}")
    name = adapter.argv[0]
    folder = cache / "programs" / build.program
    target = folder / name
    if not target.is_file():
        data = blobs.get(build.program)
        folder.mkdir(parents=True, exist_ok=True)
        beside = folder.parent / f".{build.program}-{name}-{secrets.token_hex(8)}"
        beside.write_bytes(data)
        beside.chmod(0o555)
        beside.replace(target)
    return Program(
        folder=folder,
        argv=adapter.argv,
        proof_argv=adapter.proof_argv,
        proof=adapter.proof,
        statistics=dict(adapter.statistics),
        exit_codes=dict(adapter.exit_codes),
    )


def requirements() -> list[Requirement]:
    """Return a C++ compiler: without one no solver is built. CMake, which only repositories that build by it
    ask for."""
    result = next((path for name in COMPILERS if (path := shutil.which(name))), None)
    cmake = (
        shutil.which("cmake", path=PATH)
        or "none: repositories that are built by it need one (optional; apt-get install cmake)"
    )
    return [
        Requirement(
            "C++ compiler",
            result is not None,
            result or "not found",
            "the solvers line",
            "apt-get install g++",
        ),
        Requirement("CMake", True, cmake, "", ""),
    ]
