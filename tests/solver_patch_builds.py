"""Programs of one base with patches of the catalogue, built in one jail.

Objects that no patch touches are compiled once or are the seed's. Unlike the pipeline's builds these share
objects and optimise little: they show that every patch compiles and what it does, not how fast it is.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from evolake.jail import Limits, NativeRun, run_native
from evolake.solvers.edits import PATCHES, Edit, EditOutcome, catalogue, edited
from evolake.solvers.edits.anchors import source_files
from evolake.solvers.repository.adapters import Adapter

FLAGS = "-O1 -w -std=c++11 -fpermissive -DNDEBUG -D__STDC_LIMIT_MACROS -D__STDC_FORMAT_MACROS"
SOURCES = ("core/*.cc", "simp/*.cc", "utils/*.cc")
CADICAL = ("g++ -O0 -w -DNDEBUG -DNBUILD -Isrc", "src/internal.hpp")
KISSAT = ("gcc -O1 -w -DNDEBUG -I. -Isrc/src", "")
KISSAT_BUILD = "".join(f'#define {name} "none"\n' for name in ("VERSION", "COMPILER", "ID", "BUILD", "DIR"))
"""What Kissat's own build writes into `build.h`."""
Rule = Callable[[str, Mapping[str, str], list[str], Collection[str]], str]
"""Rules of make for one program, from its name, the files that it changes, all units, and the units with an
object."""


def with_defaults(name: str) -> Edit:
    """Return the patch with the default value of each parameter."""
    parameters = PATCHES[name].parameters
    return Edit(
        "patch",
        name,
        {key: int(item.default) if item.whole else item.default for key, item in parameters.items()},
    )


@dataclass(frozen=True)
class Patching:
    """One base and its patches, applied and not yet built.

    files: the texts that every build needs. units: the sources that are compiled. changed: patch -> the
    files that it changes, of patches that apply.
    """

    adapter: Adapter
    files: dict[str, str]
    units: list[str]
    rule: Rule
    outcomes: dict[str, EditOutcome]
    changed: dict[str, dict[str, str]]

    def rules(self, patch: str) -> str:
        """The rules of make for one program; "" is the base."""
        return (
            self.rule(patch, self.changed[patch], self.units, ())
            if patch
            else self.rule("base", {}, self.units, ())
        )

    def build(
        self, patches: Collection[str], into: Path, objects: Mapping[str, bytes] | None = None
    ) -> tuple[dict[str, Path], str]:
        """Return the programs of the base ("") and of those of `patches` that compile, and what the
        compiler said.

        objects: those of the seed's own build, by the name of the unit without its ending. Those of units
        that no patch changes are taken as they are.
        """
        files = {path: text.encode("latin-1") for path, text in self.files.items()}
        rules, programs, touched = {}, {"": "base"}, set()
        for patch in sorted(self.changed.keys() & set(patches)):
            changed = self.changed[patch]
            touched |= {path for path in self.units if path in changed or _header(changed)}
            # a file may include its neighbour without naming the folder
            tree = self.files | changed if _header(changed) else changed
            files |= {
                path.replace("src/", f"{patch}/", 1): text.encode("latin-1") for path, text in tree.items()
            }
            programs[patch], rules[patch] = patch, self.rules(patch)
        given = {
            unit: data
            for unit in self.units
            if unit not in touched and (data := (objects or {}).get(Path(unit).stem))
        }
        files |= {f"base_{Path(unit).name}.o": data for unit, data in given.items()}
        rules[""] = self.rule("base", {}, self.units, given)
        outputs = [f"{name}.exe" for name in programs.values()]
        makefile = f"all: {' '.join(outputs)}\n" + "".join(rules[patch] for patch in programs)
        limits = Limits(
            cpu_s=300,
            wall_s=900,
            memory_mb=4096,
            file_mb=128,
            output_bytes=1 << 20,
            open_files=256,
            processes=40,
        )
        built = run_native(
            NativeRun(["/usr/bin/make", "-k", "-j2"], files | {"Makefile": makefile.encode()}, outputs),
            limits,
        )
        result = {}
        for patch, name in programs.items():
            if data := built.outputs.get(f"{name}.exe"):
                result[patch] = into / name / Path(self.adapter.program).name
                result[patch].parent.mkdir(parents=True)
                result[patch].write_bytes(data)
                result[patch].chmod(0o755)
        return result, (built.stdout + built.stderr).decode("utf-8", "replace")


def apply_patches(folder: Path, adapter: Adapter) -> Patching:
    """Apply each patch that has a form for a base to the seed's sources at `folder`."""
    files = {path: text for path, text in source_files(folder).items() if path.startswith("src/")}
    units = sorted(path for path in files if any(Path(path).match(f"src/{pattern}") for pattern in SOURCES))
    more, rule = {}, _rule
    if not units:  # CaDiCaL: flat sources that all include one header first, which is compiled once
        units, rule = sorted(path for path in files if path.endswith(".cpp")), partial(_flat_rule, *CADICAL)
    if not units:  # Kissat, in C
        units, rule = (
            sorted(path for path in files if Path(path).match("src/src/*.c")),
            partial(_flat_rule, *KISSAT),
        )
        more = {"build.h": KISSAT_BUILD}
    outcomes, applied = {}, {}
    for spec in catalogue(adapter):
        changed, (outcomes[spec.name],) = edited(files, adapter, [with_defaults(spec.name)])
        if outcomes[spec.name].applied:
            applied[spec.name] = changed
    return Patching(adapter, files | more, units, rule, outcomes, applied)


def _header(changed: Mapping[str, str]) -> bool:
    return any(path.endswith(".h") for path in changed)


def _rule(name: str, changed: Mapping[str, str], units: list[str], given: Collection[str]) -> str:
    """Return the rules of one program: from the base's objects, and its own if a header or the unit itself
    differs."""
    assert not given, "two folders may have units of one name"
    lines, objects = [], []
    for unit in units:
        own = unit in changed or (_header(changed) and "/utils/" not in unit)
        place = name if own else "src"
        target = f"{name if own else 'base'}_{unit.removeprefix('src/').replace('/', '_')}.o"
        objects.append(target)
        if own or name == "base":
            source = unit.replace("src/", f"{place}/", 1)
            lines.append(f"{target}:\n\tg++ {FLAGS} -I{place} -Isrc -c {source} -o {target}\n")
    return f"{name}.exe: {' '.join(objects)}\n\tg++ {' '.join(objects)} -s -o $@\n" + "".join(lines)


def _flat_rule(
    compiler: str,
    header: str,
    name: str,
    changed: Mapping[str, str],
    units: list[str],
    given: Collection[str],
) -> str:
    """Return the same for sources in one folder whose headers no patch touches. header: compiled
    beforehand, or ""."""
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
