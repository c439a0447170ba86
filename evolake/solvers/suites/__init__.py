"""Suites of formulas with known answers: specs that say how each formula is made, and a lock that pins what
must come out."""

from evolake.solvers.suites.folders import competition_suite
from evolake.solvers.suites.spec import Instance, Suite, load_spec, materialize_suite, suite_names, with_files

__all__ = [
    "Instance",
    "Suite",
    "competition_suite",
    "load_spec",
    "materialize_suite",
    "suite_names",
    "with_files",
]
