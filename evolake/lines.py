"""Which lines and studies there are: whatever installed packages register under the entry-point group
`evolake.lines`.

A line is two packages, its science and its assets, and one `LineSpec` that names what it contributes.
Everything that lists lines (settings, profiles, the command line, reports, guidance, `evolake doctor`, the
cookbook, Dagster's definitions) asks here, and nothing else names one, so that a further line is its own
package with no change in this one:

    [project.entry-points."evolake.lines"]
    bridges = "bridges.line:LINE"

A spec names objects (`evolake.lazy.Lazy`), which are imported when they are needed: listing the lines costs
no import of their science.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module, metadata, resources
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import TYPE_CHECKING, Any

from evolake.errors import InputError
from evolake.lazy import Lazy
from evolake.project import install

if TYPE_CHECKING:
    import click
    from pydantic import BaseModel

GROUP = "evolake.lines"


@dataclass(frozen=True)
class LineSpec:
    """Declare what a line, or a study, contributes. What it leaves out it does not have.

    Attributes:
        name: lower-case identifier: its settings' section, its assets' key prefix, its schema in SQL.
        assets: package of its Dagster assets, which has a `line` (assets.line.Line) or a `study`
            (assets.study.Study).
        settings: class of its section of the settings, a pydantic model whose defaults can run.
        profiles: package that holds a file `<profile>.toml` with the section's values for each profile that
            departs from the defaults.
        commands: name of a command of `evolake` -> click command or group.
        report: function (lake's root, cycle) -> `evolake.report.pages.Section`; None for the section that
            every line gets.
        weight: how much work a cycle is next to those of other lines; any unit will do, and 1 is little. Run
            side by side, the heaviest line starts first and the lightest next to it, which gets the processor
            first; the others follow from the heaviest on. A line that others wait for counts with the
            heaviest of these.
        after: function (settings) -> lines whose results it reads: run side by side with them, it starts when
            they have ended.
        stands_on: lines whose code it imports; it must not import other lines or packages above the lines.
        story: function (`evolake.report.story.Story`, ask) -> Story: what only the line knows of a cycle, put
            into the shared story.
        findings: function (lake's root) -> sentences: what a study, which seals no cycle, has to say on the
            report's first page, [] before it is finished.
        tables: asset -> TableSchema: tables that SQL may name before the line has run.
        gates: the GateSpecs that its rules may be of, in order; None if the names of its rules are not
            checked.
        checkers: modules that register the checkers of its rules, next to those that collect the evidence of
            its gates.
        evidence: `evolake.gates.stored.StoredEvidence`: how what its gates saw is found again; None if
            verdicts name it.
        cookbook: package that holds questions as SQL files next to those in `sql/cookbook`.
        requirements: function () -> requirements of this machine.
        artifacts: `evolake.report.artifacts.LineArtifacts`: how its artifacts are shown, and the gain of its
            champion; None for the common way.
        seeds: `evolake.lake.added_seeds.SeedSource`: the files that it starts from, and which enter it later.
        bundle: `evolake.bundles.model.LineBundle`: what a champion is taken out with so that it can be
            checked elsewhere.
        model_calls: function (settings, `evolake.agents.forecast.Start`) -> `RoleCalls` of a cycle, of a
            study as a whole: how often each role is asked. None: it asks no model.
    """

    name: str
    assets: str
    settings: Lazy[type[BaseModel]] | None = None
    profiles: str = ""
    commands: Mapping[str, Lazy[click.Command]] = field(default_factory=dict[str, Lazy["click.Command"]])
    report: Lazy[Callable[[Path, str], Any]] | None = None
    weight: float = 1.0
    after: Lazy[Callable[[Any], Sequence[str]]] | None = None
    stands_on: tuple[str, ...] = ()
    story: Lazy[Callable[[Any, Any], Any]] | None = None
    findings: Lazy[Callable[[Path], list[str]]] | None = None
    tables: Lazy[Mapping[str, Any]] | None = None
    gates: Lazy[Iterable[Any]] | None = None
    checkers: tuple[str, ...] = ()
    evidence: Lazy[Any] | None = None
    cookbook: str = ""
    requirements: Lazy[Callable[[], Iterable[Requirement]]] | None = None
    artifacts: Lazy[Any] | None = None
    seeds: Lazy[Any] | None = None
    bundle: Lazy[Any] | None = None
    model_calls: Lazy[Callable[..., Sequence[Any]]] | None = None

    def __post_init__(self) -> None:
        if not self.name.isidentifier() or self.name != self.name.lower():
            raise InputError(
                "a line needs a name that settings, SQL and asset keys can bear",
                wanted="a lower-case identifier",
                got=repr(self.name),
            )


@dataclass(frozen=True)
class Requirement:
    """Something that a line needs of the machine, as `evolake doctor` says it. Its absence skips the line or
    a part of it and nothing else.

    name: what is needed.
    ok: it is there.
    detail: what was found.
    skips: what its absence skips.
    mend: the command that installs it.
    """

    name: str
    ok: bool
    detail: str
    skips: str
    mend: str


@cache
def lines() -> Mapping[str, LineSpec]:
    """Return name -> spec of every registered line and study, by name. Read once per process.

    Raises:
        InputError: no entry point at all (an earlier version is installed), one that is no LineSpec or cannot
            be imported, or two of one name.
    """
    result: dict[str, LineSpec] = {}
    for entry in metadata.entry_points(group=GROUP):
        owner = entry.dist.name if entry.dist else "an installed package"
        try:
            spec = entry.load()
        except Exception as error:
            what = f"the line {entry.name!r} of {owner} cannot be loaded"
            raise InputError(
                what,
                wanted=entry.value,
                got=f"{type(error).__name__}: {error}",
                do=f"fix or uninstall {owner}",
            ) from error
        if not isinstance(spec, LineSpec) or spec.name != entry.name:
            wanted = f"a LineSpec named {entry.name!r}"
            raise InputError(
                f"the entry point {entry.value} of {owner} is no line",
                wanted=wanted,
                got=repr(spec)[:80],
                do=f"fix or uninstall {owner}",
            )
        if result.get(spec.name, spec) != spec:
            raise InputError(
                f"two packages have a line {spec.name!r}",
                got=f"{owner} and another",
                do="uninstall one of them",
            )
        result[spec.name] = spec
    if not result:
        do = f"install evolake again: {install()}"
        raise InputError("no line is registered", wanted=f"entry points of the group {GROUP}", do=do)
    return {name: result[name] for name in sorted(result)}


def modules_of(package: str) -> dict[str, ModuleType]:
    """Return name -> module of every module in a package (not in packages below it), by name; of a module
    itself, where it is no package. What is listed so needs no list elsewhere."""
    found = import_module(package)
    if not hasattr(found, "__path__"):
        return {package.rpartition(".")[2]: found}
    return {
        module.name: import_module(f"{package}.{module.name}")
        for module in sorted(iter_modules(found.__path__), key=lambda result: result.name)
        if not module.ispkg
    }


def folder_of(package: str) -> Path:
    """Return the folder of an installed package's files."""
    return Path(str(resources.files(package)))
