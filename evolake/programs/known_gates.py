"""What rules of the line may name."""

from __future__ import annotations

from evolake.gate_spec import GateSpec


def known_gates() -> tuple[GateSpec, ...]:
    """Every gate that a rule may be of, in order; on return all checkers of the line are registered."""
    from evolake.programs.gates import checkers  # noqa: F401  # pyright: ignore[reportUnusedImport]  (it registers the checkers)
    from evolake.programs.gates.specs import GATES

    return GATES
