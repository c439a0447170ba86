"""What rules of the line may name."""

from __future__ import annotations

from evolake.gate_spec import GateSpec


def known_gates() -> tuple[GateSpec, ...]:
    """Every gate that a rule may be of, in order; on return all checkers of the line are registered."""
    from evolake.lines import modules_of
    from evolake.solvers.gates.specs import GATES
    from evolake.solvers.tables import LATE_GATES

    modules_of("evolake.solvers.rules")  # which registers the checkers
    late = (GateSpec(len(GATES) + number, name, "", about="what came to light later") for number, name in enumerate(LATE_GATES))
    return (*GATES, *late)
