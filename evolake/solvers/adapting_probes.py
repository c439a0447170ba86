"""Find out how a built program is run: which command line answers, which writes a proof that a checker
verifies, and what counters it prints.

Everything is tried in the sandbox on four small formulas. What the program's help says only decides what is
tried first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evolake.jail import Limits
from evolake.jail.direct import DirectRun, run_direct
from evolake.jail.protocol import one_line
from evolake.reading.formula import write_dimacs
from evolake.solvers.execute import Program, ProofFormat, RunLimits, SolverRun, run_solver
from evolake.solvers.measurement.measuring import COMPLAINT, Job, run_all
from evolake.solvers.suites.combinatorial import pigeonhole
from evolake.solvers.suites.generators import planted_ksat, random_ksat
from evolake.solvers.suites.spec import Instance

HELPS = ("--help", "-h", "--help-verb", "-hh", "--fullhelp", "--hhelp")
FORMATS: tuple[ProofFormat, ...] = ("drat-text", "drat-binary", "lrat-text", "lrat-binary")
COUNTERS = ("conflicts", "decisions", "propagations", "restarts")
LIMITS = RunLimits(cpu_s=5, wall_s=60, memory_mb=1024, proof_mb=16)
MOST_TRIED = 40
_ABOUT_PROOFS = re.compile(r"(?i)proof|drat|drup|\brup\b|certif|lrat|frat")
_OPTION = re.compile(r"(?<![\w-])(-{1,2}[A-Za-z][\w-]*)")
_NO_ANSWER_LINE = re.compile(r"(?m)^(?:SATISFIABLE|UNSATISFIABLE)\s*$")
_NO_HELP = re.compile(r"(?i)(unknown|invalid|unrecogni[sz]ed|unexpected|bad) (flag|option|argument)")


@dataclass(frozen=True)
class Probed:
    """What was found out about one program.

    argv: the command line that answers, None if none does. proof_argv, proof: that of proofs. statistics:
    counter -> regular expression. reasons: why there is no command line, or no proof, a sentence each. tried:
    command lines that were run.
    """

    name: str
    argv: tuple[str, ...] | None
    proof_argv: tuple[str, ...] | None = None
    proof: ProofFormat = "none"
    statistics: dict[str, str] = field(default_factory=dict)
    reasons: tuple[str, ...] = ()
    tried: int = 0


class Formulas:
    """Two formulas with a model and two without, as files below a folder."""

    def __init__(self, folder: Path):
        doors = [(pigeon, hole) for pigeon in range(5) for hole in range(4)]
        made = {
            "planted": ("SAT", planted_ksat(60, 200, 3, 7)),
            "places": ("SAT", pigeonhole(4, 4, [door for door in doors if door[0] < 4])),
            "pigeons": ("UNSAT", pigeonhole(5, 4, doors)),
            "random": ("UNSAT", random_ksat(40, 260, 3, 11)),
        }
        folder.mkdir(parents=True, exist_ok=True)
        self.instances = []
        for name, (status, formula) in made.items():
            path = folder / f"{name}.cnf"
            path.write_bytes(write_dimacs(formula))
            self.instances.append(Instance(name, "probe", status, name, path=path, base=name))  # type: ignore[arg-type]

    def of(self, status: str) -> list[Instance]:
        """Return those of one status."""
        return [item for item in self.instances if item.status == status]


def probe(folder: Path, name: str, formulas: Formulas, scratch: Path) -> Probed:
    """Return what is found out about the program `name` in `folder`. A program that fails is a value.

    Raises:
        JailUnavailable: nothing was run.
    """
    help_text = help_of(folder, name)
    reasons: list[str] = []
    tried = 0
    for words in _answering(help_text):
        argv = (name, *words)
        rows = _rows(Program(folder, argv), formulas.instances)
        tried += 1
        if all(row["answer"] == row["expected"] and row["status"] in ("sat", "unsat") for row in rows):
            break
        reasons.append(_why_not(argv, rows, _ended(folder, argv, formulas.of("SAT")[0], scratch)))
    else:
        return Probed(name, None, reasons=tuple(reasons[:1]), tried=tried)
    proof_reasons: list[str] = []
    for proof_argv in list(_proving(name, words, help_text))[:MOST_TRIED]:
        for proof in FORMATS:
            program = Program(folder, argv, proof_argv, proof)
            rows = _rows(program, formulas.of("UNSAT"))
            tried += 1
            if all(row["proof_status"] == "verified" for row in rows) and all(
                row["solved"] for row in _rows(program, formulas.of("SAT"))
            ):
                return Probed(
                    name, argv, proof_argv, proof, _counters(program, formulas, scratch), tried=tried
                )
            if not any(row["proof_bytes"] for row in rows):
                proof_reasons += (
                    _unproved(proof_argv, rows)[:1]
                    if not any(row["status"] == "unsat" for row in rows)
                    else []
                )
                break
            proof_reasons.insert(0, _unproved(proof_argv, rows)[0])
    said = (
        "its help names no option for proofs"
        if not _ABOUT_PROOFS.search(help_text)
        else f"{tried} command lines were tried"
    )
    first = f"; {proof_reasons[0]}" if proof_reasons else ""
    reason = f"no command line writes a proof that a checker verifies ({said}){first}"
    return Probed(
        name,
        argv,
        statistics=_counters(Program(folder, argv), formulas, scratch),
        reasons=(reason,),
        tried=tried,
    )


def help_of(folder: Path, name: str) -> str:
    """Return the longest text that the program prints when it is asked for help; "" if it prints none."""
    texts = []
    for word in HELPS:
        run = DirectRun(["{solver}/" + name, word], folder)
        outcome = run_direct(run, Limits(cpu_s=2, wall_s=20, memory_mb=1024, output_bytes=1 << 20))
        text = (outcome.stdout + b"\n" + outcome.stderr).decode("utf-8", "replace")
        if outcome.exit_code in (0, 1) and not (_NO_HELP.search(text) and len(text) < 400):
            texts.append(text)
    return max(texts, key=len, default="")


def _answering(help_text: str) -> Iterator[tuple[str, ...]]:
    """Arguments that may make a program answer, the likeliest first."""
    yield ("{cnf}",)
    options = set(_OPTION.findall(help_text))
    for option in ("-model", "--model", "--print-model", "--witness", "-w"):
        if option in options:
            yield (option, "{cnf}")


def _proving(name: str, words: Sequence[str], help_text: str) -> Iterator[tuple[str, ...]]:
    """Command lines that may write a proof, the likeliest first, each once."""
    lines = [line for line in help_text.splitlines() if _ABOUT_PROOFS.search(line)]
    options = list(dict.fromkeys(option for line in lines for option in _OPTION.findall(line)))
    options = [
        option for option in options if not re.match(r"-+no-", option) and option not in ("-h", "--help")
    ][:12]
    plain = list(words)
    made: list[list[str]] = []
    if lines:
        text_flags = [
            flag for flag in ("--no-binary", "--binary=false", "--binary=0") if "binary" in help_text
        ]
        made += [[name, flag, *plain, "{proof}"] for flag in text_flags] + [[name, *plain, "{proof}"]]
        for option in options:
            made += [
                [name, f"{option}={{proof}}", *plain],
                [name, *plain, option, "{proof}"],
                [name, option, "{proof}", *plain],
            ]
            made += [[name, option, *plain, "{proof}"]]
        made += [
            [name, first, f"{second}={{proof}}", *plain]
            for first in options
            for second in options
            if first != second and re.search(r"file|out|name", second)
        ]
    return iter(dict.fromkeys(tuple(item) for item in made))


def _rows(program: Program, instances: Sequence[Instance]) -> list[dict[str, Any]]:
    return run_all(
        [
            Job("probe", program, item, "probe", "probe", LIMITS, measured=False, complaints=True)
            for item in instances
        ]
    )


def _ended(folder: Path, argv: tuple[str, ...], instance: Instance, scratch: Path) -> SolverRun:
    assert instance.path is not None
    return run_solver(Program(folder, argv), instance.path, LIMITS, scratch=scratch)


def ending_of(run: SolverRun) -> str:
    """Return how a run ended in words: its exit code or signal. "Crashed" is a signal."""
    if run.signal is not None and run.status == "crash":
        return f"crashed by signal {run.signal}"
    return (
        f"ended with exit code {run.exit_code}" if run.exit_code is not None else f"was ended: {run.status}"
    )


def _why_not(argv: Sequence[str], rows: Sequence[dict[str, Any]], run: SolverRun) -> str:
    """Return why a command line does not answer, on a formula with a model, with what the program wrote."""
    if _NO_ANSWER_LINE.search(run.stdout_tail) and run.answer is None:
        return (
            f"`{' '.join(argv)}` prints SATISFIABLE or UNSATISFIABLE, but no line 's SATISFIABLE' and no "
            "model in lines that begin with 'v', as the "
            "competitions' format has them: a patch of its main file must add them (`layout.patch`; the "
            "shipped adapter minisat22 has one)"
        )
    bad = next(
        row for row in rows if row["answer"] != row["expected"] or row["status"] not in ("sat", "unsat")
    )
    said = one_line(bad.get(COMPLAINT) or run.stdout_tail, 400) or "nothing"
    return (
        f"`{' '.join(argv)}` {ending_of(run)} on {bad['instance']} ({bad['problems'] or bad['status']}); "
        f"it wrote: {said}"
    )


def _unproved(argv: Sequence[str], rows: Sequence[dict[str, Any]]) -> list[str]:
    return [
        f"`{' '.join(argv)}`: "
        f"{one_line('; '.join(filter(None, [row['problems'] or row['status'], row.get(COMPLAINT)])), 300)}"
        for row in rows
        if row["proof_status"] != "verified"
    ] or [f"`{' '.join(argv)}`: a formula with a model is not answered"]


def _counters(program: Program, formulas: Formulas, scratch: Path) -> dict[str, str]:
    """Return regular expressions for the counters that the program prints about a formula that takes
    conflicts."""
    instance = formulas.of("UNSAT")[1]
    assert instance.path is not None
    patterns = {
        f"{name} {number}": pattern
        for name in COUNTERS
        for number, pattern in enumerate(
            (rf"(?i)^(?:c\s*)?(?:total |number of )?{name}\s*[:=]?\s+(\d+)", rf"^c (\d+) {name}\b")
        )
    }
    asked = replace(program, statistics=patterns)
    found = run_solver(
        asked, instance.path, LIMITS, scratch=scratch, want_proof=program.proof_argv is not None
    ).counters
    return {name: patterns[key] for name in COUNTERS for key in (f"{name} 1", f"{name} 0") if key in found}
