"""Programs of one base with each patch of the catalogue, built in one jail: objects that no patch touches are compiled once or the seed's.

Unlike the pipeline's builds these share objects and optimise little: they show that every patch compiles and what it does, not how fast it is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path

from evolake.jail import Limits, run_native
from evolake.solvers.edits import PATCHES, Edit, EditOutcome, catalogue, edited
from evolake.solvers.edits.anchors import source_files
from evolake.solvers.repository.adapters import Adapter

FLAGS = "-O1 -w -std=c++11 -fpermissive -DNDEBUG -D__STDC_LIMIT_MACROS -D__STDC_FORMAT_MACROS"
SOURCES = ("core/*.cc", "simp/*.cc", "utils/*.cc")
CADICAL = ("g++ -O0 -w -DNDEBUG -DNBUILD -Isrc", "src/internal.hpp")
KISSAT = ("gcc -O1 -w -DNDEBUG -I. -Isrc/src", "")
KISSAT_BUILD = "".join(f'#define {name} "none"\n' for name in ("VERSION", "COMPILER", "ID", "BUILD", "DIR"))
"""What Kissat's own build writes into `build.h`."""


def with_defaults(name: str) -> Edit:
    """A patch with the default value of each parameter."""
    parameters = PATCHES[name].parameters
    return Edit("patch", name, {key: int(item.default) if item.whole else item.default for key, item in parameters.items()})


def build_patched(
    folder: Path, adapter: Adapter, into: Path, objects: Mapping[str, bytes] | None = None,
) -> tuple[dict[str, EditOutcome], dict[str, Path], str]:
    """Outcome of each patch; the programs by patch name ("" is the base), of those that compiled; what the compiler said.

    objects: those of the seed's own build, by the name of the unit without its ending: of units in one folder that no patch changes they are taken
    as they are.
    """
    base = {path: text for path, text in source_files(folder).items() if path.startswith("src/")}
    units = sorted(path for path in base if any(Path(path).match(f"src/{pattern}") for pattern in SOURCES))
    files = {path: text.encode("latin-1") for path, text in base.items()}
    rule = _rule
    if not units:  # CaDiCaL: flat sources that all include one header first, which is compiled once for all of them
        units, rule = sorted(path for path in base if path.endswith(".cpp")), partial(_flat_rule, *CADICAL)
    if not units:  # Kissat, in C
        units, rule = sorted(path for path in base if Path(path).match("src/src/*.c")), partial(_flat_rule, *KISSAT)
        files["build.h"] = KISSAT_BUILD.encode()
    outcomes, rules, programs, touched = {}, [], {"": "base"}, set()
    for number, spec in enumerate(catalogue(adapter)):
        changed, (outcome,) = edited(base, adapter, [with_defaults(spec.name)])
        outcomes[spec.name] = outcome
        if outcome.applied:
            name = f"p{number}"
            touched |= {path for path in units if path in changed or _header(changed)}
            tree = base | changed if _header(changed) else changed  # a file may include its neighbour without naming the folder
            files |= {path.replace("src/", f"{name}/", 1): text.encode("latin-1") for path, text in tree.items()}
            rules.append(rule(name, changed, units, ()))
            programs[spec.name] = name
    given = {unit: data for unit in units if unit not in touched and (data := (objects or {}).get(Path(unit).stem))}
    files |= {f"base_{Path(unit).name}.o": data for unit, data in given.items()}
    rules.insert(0, rule("base", {}, units, given))
    makefile = f"all: {' '.join(f'{name}.exe' for name in programs.values())}\n" + "".join(rules)
    limits = Limits(cpu_s=300, wall_s=900, memory_mb=4096, file_mb=128, output_bytes=1 << 20, open_files=256, processes=40)
    built = run_native(["/usr/bin/make", "-k", "-j2"], files | {"Makefile": makefile.encode()}, [f"{name}.exe" for name in programs.values()], limits)
    result = {}
    for patch, name in programs.items():
        if data := built.outputs.get(f"{name}.exe"):
            result[patch] = into / (patch or "base") / Path(adapter.program).name
            result[patch].parent.mkdir(parents=True)
            result[patch].write_bytes(data)
            result[patch].chmod(0o755)
    return outcomes, result, (built.stdout + built.stderr).decode("utf-8", "replace")


def _header(changed: Mapping[str, str]) -> bool:
    return any(path.endswith(".h") for path in changed)


def _rule(name: str, changed: Mapping[str, str], units: list[str], given: Collection[str]) -> str:
    """How one program is made: from the base's objects, and its own where a header or the unit itself differs. given: units with an object."""
    assert not given, "two folders may have units of one name"
    lines, objects = [], []
    for unit in units:
        own = unit in changed or (_header(changed) and "/utils/" not in unit)
        place = name if own else "src"
        target = f"{name if own else 'base'}_{unit.removeprefix('src/').replace('/', '_')}.o"
        objects.append(target)
        if own or name == "base":
            lines.append(f"{target}:\n\tg++ {FLAGS} -I{place} -Isrc -c {unit.replace('src/', f'{place}/', 1)} -o {target}\n")
    return f"{name}.exe: {' '.join(objects)}\n\tg++ {' '.join(objects)} -s -o $@\n" + "".join(lines)


def _flat_rule(compiler: str, header: str, name: str, changed: Mapping[str, str], units: list[str], given: Collection[str]) -> str:
    """As `_rule`, of sources in one folder whose headers no patch touches. header: compiled beforehand, or ""."""
    compiled = f"{header}.gch" if header else ""
    lines = [f"{compiled}:\n\t{compiler} -x c++-header {header} -o $@\n"] if name == "base" and header else []
    objects = []
    for unit in units:
        own = unit in changed
        target = f"{name if own else 'base'}_{Path(unit).name}.o"
        objects.append(target)
        if own or (name == "base" and unit not in given):
            source = unit.replace("src/", f"{name}/", 1) if own else unit
            lines.append(f"{target}: {compiled}\n\t{compiler} -c {source} -o {target}\n")
    return f"{name}.exe: {' '.join(objects)}\n\tg++ {' '.join(objects)} -s -o $@\n" + "".join(lines)
