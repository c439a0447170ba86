"""What rules of the line may name."""

from __future__ import annotations

from importlib import import_module

from evolake.gate_spec import GateSpec


def known_gates() -> tuple[GateSpec, ...]:
    """Every gate that a rule may be of, in order; on return all checkers of the line are registered."""
    from evolake.families.gates import checkers  # noqa: F401  # pyright: ignore[reportUnusedImport]  (it registers the checkers)
    from evolake.families.gates.specs import GATES, own_modules

    for module in own_modules():
        import_module(module)  # which registers the checkers of its gate
    return GATES
