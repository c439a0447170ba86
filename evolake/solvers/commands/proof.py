"""`evolake proof`: check a proof of unsatisfiability that any solver wrote."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from evolake.commands import OrdinaryPath
from evolake.terminal import say, say_json

SPELLINGS = ("auto", "drat-text", "drat-binary", "lrat-text", "lrat-binary")
READ = "DRAT or LRAT, text or binary, plain or packed by gzip, xz, bzip2 or Zstandard"
NEXT = "name the format by --spelling, or let the solver write one of these"
UNREAD = ("malformed", "unsupported")
STRICTER = {
    "incomplete": (
        "drat-trim may verify it: it needs no empty clause if unit propagation finds a conflict without one"
    ),
    "malformed": "drat-trim may verify it: it skips bytes that are no step, and what is behind the last one",
}
"""Where we are stricter than drat-trim, by verdict."""


@click.group(short_help="Check proofs of unsatisfiability.")
def proof() -> None:
    """Check proofs of unsatisfiability.

    \b
    Example:
      evolake proof check formula.cnf proof.drat
    """


@proof.command(short_help="Check the DRAT or LRAT proof PROOF of the formula CNF.")
@click.argument("cnf", type=OrdinaryPath())
@click.argument("proof_file", metavar="PROOF", type=OrdinaryPath())
@click.option(
    "--checker",
    default="default",
    help=(
        "evolake (the default), dratify, dratify-python; drat-trim, lrat-trim, lrat-check, cake_lpr if "
        "present."
    ),
)
@click.option(
    "--second",
    is_flag=True,
    help="Ask a second, independent checker too where one is present; both must agree.",
)
@click.option(
    "--spelling",
    type=click.Choice(SPELLINGS),
    default="auto",
    show_default=True,
    help="The proof's format; auto: by name and content.",
)
@click.option(
    "--cpu-s",
    default=200.0,
    show_default=True,
    type=click.FloatRange(min=1),
    help="Seconds of processor time for the checker.",
)
@click.option(
    "--memory-mb",
    default=4096,
    show_default=True,
    type=click.IntRange(min=256),
    help="MiB of memory for the checker.",
)
@click.option(
    "--proof-mb",
    default=1024,
    show_default=True,
    type=click.IntRange(min=1),
    help="MiB of the largest proof that is read, unpacked.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
def check(
    cnf: Path,
    proof_file: Path,
    checker: str,
    second: bool,
    spelling: str,
    cpu_s: float,
    memory_mb: int,
    proof_mb: int,
    as_json: bool,
) -> None:
    """Judge the proof PROOF (DRAT or LRAT, text or binary) of the formula CNF; both may be packed by gzip,
    xz, bzip2 or Zstandard.

    Exit code 0 means verified; 1 refuted (a step does not follow), incomplete (no empty clause) or unknown
    (no verdict within the limits); 2 malformed or unsupported (the proof cannot be read, so nothing is known
    of it), or that a file cannot be used. Verified means that the formula is unsatisfiable. Steps that the
    refutation does not need are checked by `--checker dratify` alone.
    """
    from evolake.solvers.proof import ProofLimits
    from evolake.solvers.proof.checking import check_proof

    limits = ProofLimits(cpu_s=cpu_s, memory_mb=memory_mb, proof_mb=proof_mb)
    result = check_proof(cnf, proof_file, limits=limits, checker=checker, second=second, spelling=spelling)  # type: ignore[arg-type]
    unread = {"wanted": READ, "got": result.reason, "next": NEXT} if result.verdict in UNREAD else {}
    note = {"note": STRICTER[result.verdict]} if result.verdict in STRICTER else {}
    if as_json:
        shown = {
            "verdict": result.verdict,
            "reason": result.reason,
            "checker": result.checker,
            "cpu_s": round(result.cpu_s, 3),
        }
        say_json(shown | {"proof_sha256": result.proof_sha} | unread | note)
    else:
        say(f"{result.verdict}: {result.reason} ({result.checker}, {result.cpu_s:.2f} s)")
        for name in ("wanted", "next") if unread else ():
            say(f"  {name}: {unread[name]}")
        if note:
            say(f"  note: {note['note']}")
    if result.verdict == "verified":
        code = 0
    elif result.verdict in UNREAD:
        code = 2
    else:
        code = 1
    sys.exit(code)


@proof.command(short_help="Build drat-trim and lrat-trim from CaDiCaL's sources.")
@click.argument("source", type=OrdinaryPath(exists=True))
def tools(source: Path) -> None:
    """Build drat-trim and lrat-trim from SOURCE, cadical's sources (a folder or an archive), for second
    opinions: in the folder that EVOLAKE_PROOF_TOOLS names, else in the lake's."""
    from evolake.solvers.proof.tools import build_tools

    for path in build_tools(source):
        say(f"built {path}")
