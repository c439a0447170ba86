"""Writes a genome as a design file: plain, readable Python in the contract's format, the artifact that is
traced, run and stored.

The text holds the baseline dynamics (spec, "Baseline dynamics") with the terms of the genome written where
they act. The defaults of HYPER_SPACE are the genome's values, so the file alone is the whole design.
"""

from __future__ import annotations

import textwrap

from evolake.designs.genome.open_compose import plain
from evolake.designs.genome.parameters import Parameter
from evolake.designs.grammars.paper_genome.genome import PaperGenome, kinds, parameters_of
from evolake.designs.grammars.paper_genome.kind import Kind, Slot
from evolake.designs.grammars.paper_genome.release import NEUTRAL

INDENT = "    "


def compose(genome: PaperGenome, title: str = "", rationale: str = "") -> str:
    """Return the design file of `genome`. The same arguments give the same text; title and rationale only
    enter the docstring."""
    present = [kinds()[name] for name in genome.term_names()]
    parts = [
        _docstring(genome, title, rationale),
        "import torch\n",
        _variables(present),
        _hyper_space(genome),
        _gradient(genome, present),
    ]
    return "\n".join(parts)


def _docstring(genome: PaperGenome, title: str, rationale: str) -> str:
    heading = plain(title) or "3-SAT solver design"
    lines = [heading.rstrip(".") + ".", ""]
    if rationale:
        lines += [*textwrap.wrap(plain(rationale), 110), ""]
    lines.append("Terms: " + (", ".join(genome.term_names()) or "none (the baseline dynamics)") + ".")
    return '"""' + "\n".join(lines) + '\n"""\n'


def _variables(present: list[Kind]) -> str:
    lines = [
        "VARIABLES_SPEC = {",
        '    "v": dict(init=lambda shape: 2.0 * torch.rand(shape) - 1.0, shape=("B", "N"), bounds=(-1.0, '
        "1.0)),",
        '    "xl": dict(init=lambda shape: torch.ones(shape), shape=("B", "M"), bounds=(1.0, 1e6)),',
        '    "xs": dict(init=lambda shape: torch.zeros(shape), shape=("B", "M"), bounds=(0.0, 1.0)),',
    ]
    for kind in present:
        if kind.variable is not None:
            extra = kind.variable
            lines.append(
                f'    "{_state_name(kind)}": dict(init=lambda shape: torch.zeros(shape), shape=("B", '
                f'"{extra.axis}"), '
                f"bounds=({extra.low!r}, {extra.high!r})),"
            )
    return "\n".join([*lines, "}\n"])


def _state_name(kind: Kind) -> str:
    assert kind.variable is not None
    return kind.variable.name


def _hyper_space(genome: PaperGenome) -> str:
    values, lines = genome.values(), ["HYPER_SPACE = {"]
    for name, parameter in parameters_of(genome).items():
        lines.append(
            f'    "{name}": dict(type="{parameter.type}", default={_number(parameter, values[name])}, '
            f"low={_number(parameter, parameter.low)}, high={_number(parameter, parameter.high)}),"
        )
    return "\n".join([*lines, "}\n"])


def _number(parameter: Parameter, value: float) -> str:
    return repr(int(value)) if parameter.type == "int" else repr(float(value))


def _gradient(genome: PaperGenome, present: list[Kind]) -> str:
    slots: dict[Slot, list[Kind]] = {"mix": [], "v": [], "xs": [], "release": [], "xl": []}
    for kind in present:
        slots[kind.slot].append(kind)
    state = [kind for kind in present if kind.variable is not None]
    body: list[str] = ['v, xl, xs = vars["v"], vars["xl"], vars["xs"]']
    if state:
        body.append("state = vars")
    body += [
        "",
        "# c is 0 for a clause with a literal wholly true and 1 for one whose literals are all wholly false",
    ]
    body += [
        "literal = v[idx] * sgn",
        "leading, place = torch.topk(literal, 2, dim=1)",
        "unmet = 0.5 * (1.0 - leading)",
        "c, runner_up = unmet[:, 0], unmet[:, 1:]",
        "winner = place[:, :1]",
        "cost = c.unsqueeze(1)",
        "",
        "# the force on v: push while xs is high, hold the best literal while xs is low",
        "weight, switch = xl, xs",
        *_written(slots["mix"]),
        "push = cost.expand(-1, 3).scatter(1, winner, runner_up) * (weight * switch).unsqueeze(1)",
        "hold = torch.zeros_like(literal).scatter(1, winner, cost) * ((1.0 + hp.zeta * weight) * (1.0 - "
        "switch)).unsqueeze(1)",
        "pull = sgn * (push + hold)",
        "dv = torch.zeros_like(v).scatter_add(0, idx.reshape(-1), pull.reshape(-1))",
    ]
    if slots["v"]:
        body += ["largest = torch.clamp(torch.max(torch.abs(dv)), min=1e-6)", *_written(slots["v"])]
    body += [
        "",
        "# the switch xs",
        "threshold = hp.gamma",
        *_written([kind for kind in slots["xs"] if kind.name == "threshold_shift"]),
        "short = (xs + hp.epsilon) * (c - threshold)",
        *_written([kind for kind in slots["xs"] if kind.name != "threshold_shift"]),
        *_release(genome, slots["release"]),
        "dxs = hp.beta * short",
        "",
        "# the long-term weight xl",
        "long = c - hp.delta",
        *_written(slots["xl"]),
        "dxl = hp.alpha * long",
        "",
        "# time runs so that the fastest variable moves one unit in one unit of time; the engine "
        "descends, hence the sign",
        "scale = -1.0 / torch.clamp(torch.max(torch.abs(dv)), min=1e-6)",
    ]
    returned = ['"v": dv * scale', '"xl": dxl * scale', '"xs": dxs * scale']
    returned += [f'"{_state_name(kind)}": d_{_state_name(kind)} * scale' for kind in state]
    body.append("return {" + ", ".join(returned) + "}")
    text = "\n".join(INDENT + line if line else "" for line in body)
    return f"\ndef _grad_single(vars, idx, sgn, hp):\n{text}\n"


def _written(present: list[Kind]) -> list[str]:
    return [line for kind in present for line in (f"# {kind.name}: {kind.why}", *kind.lines)]


def _release(genome: PaperGenome, gates: list[Kind]) -> list[str]:
    """Return the release: every gate's lines, then the product of their factors added to `short`."""
    if not gates:
        return []
    names, lines = set(genome.term_names()), ["", "# the release: a push on xs where every gate is open"]
    for kind in gates:
        for name, setter, reader, neutral in NEUTRAL:
            if reader == kind.name and setter not in names:
                lines.append(f"{name} = {neutral}")
        lines += _written([kind])
    factors = [kind.factor for kind in gates if kind.factor is not None]
    return [*lines, "release = " + " * ".join(["hp.kappa", *factors]), "short = short + release"]
