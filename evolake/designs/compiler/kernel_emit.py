"""The whole kernel as LLVM text: for each instance, for each step, the passes of a plan.

    for each instance of the caller's list:
        for t = 0 .. steps:
            A  variables: v moves (not when t = 0), sums over clauses are cleared, passes at -1
            B  clauses: memories move (not when t = 0), the check of the clauses, passes at 0
            write down whether the instance was solved after step t; leave when t = steps
            C  the other passes, in order of time

The last round's passes at 0 are computed for nothing; in exchange literals are gathered once a step. One
instance stays in the cache for all the steps of a call.
"""

from __future__ import annotations

import re
from functools import cache

from evolake.designs.compiler.expression import Inexpressible
from evolake.designs.compiler.kernel_guard import guarded
from evolake.designs.compiler.kernel_loops import Layout, Loop
from evolake.designs.compiler.kernel_math import definitions
from evolake.designs.compiler.kernel_plan import FINAL, KernelPlan
from evolake.designs.compiler.kernel_text import TYPES, Lines
from evolake.designs.compiler.kernel_values import Scalars

ENTRY = "evolake_steps"
MOST_INSTRUCTIONS = 60_000
"""Compiled in a few seconds; the designs that are known have one to three thousand."""
_CALL = re.compile(r"call <\d+ x \w+> @(v_\w+)\(")
SIGNATURE = (
    "i64 %count, i64 %n, i64 %m, i64 %npad, i64 %mpad, i64 %steps, ptr %numbers, ptr %idx, ptr %work, ptr "
    "%solved, i64 %row, ptr %chosen, ptr %states"
)


def arrays_of(plan: KernelPlan) -> list[tuple[int, str]]:
    """Return (serial, loop) of every temporary array, in the order of the work buffer."""
    return [(item.serial, "N") for item in plan.scatters] + [
        (item.serial, item.domain) for item in plan.stored if item.operator != "scatter"
    ]


def pointers_of(plan: KernelPlan) -> list[str]:
    """Return the names of what the caller passes pointers to, in order: states (B, cells, padded extent) and
    externals (B, cells)."""
    return sorted({*plan.states, *(item.data[0] for item in plan.externals)})


def emit(
    plan: KernelPlan, dtype: str, *, single: bool = False, checked: bool = False, lane_by_lane: bool = False
) -> str:
    """Return LLVM text of a module with one function, ENTRY, and the vector functions it needs. `single`: one
    step per call, with nothing computed ahead. `checked`: with bounds checks, and a table of guards as a
    further argument (evolake.designs.compiler.kernel_guard). `lane_by_lane`: without gather instructions
    (`kernel_build.gathers_slowly`); the numbers are the same.

    Raises:
        Inexpressible: more instructions than should be compiled.
    """
    types = TYPES[dtype]
    lines = Lines(types, prefix="v")
    cells = [(name, cell) for name in sorted(plan.moves) for cell in range(len(plan.moves[name]))]
    layout = _entry(lines, plan, lane_by_lane)
    constants = Scalars(lines.branch(), layout.slots, constant=True)
    body = _instance(lines.branch(), plan, layout, constants, cells, single=single)
    text = [
        f"define void @{ENTRY}({SIGNATURE}) nounwind {{",
        "entry:",
        *lines.text,
        *constants.lines.text,
        "  br label %instances",
    ]
    if (size := instructions([*text, *body], dtype)) > MOST_INSTRUCTIONS:
        if lane_by_lane:  # which designs are compiled does not depend on the processor
            return emit(plan, dtype, single=single, checked=checked)
        raise Inexpressible(f"{size:,} instructions, at most {MOST_INSTRUCTIONS:,} are compiled")
    whole = "\n".join([*_declarations(dtype), definitions(types), *text, *body, "}", ""])
    return guarded(whole) if checked else whole


def instructions(lines: list[str], dtype: str) -> int:
    """Return instructions that the compiler is handed: a call of a vector function counts as its body, which
    is put in its place."""
    bodies = _bodies(dtype)
    return len(lines) + sum(bodies.get(name, 0) for name in _CALL.findall("\n".join(lines)))


@cache
def _bodies(dtype: str) -> dict[str, int]:
    """Lines of each vector function; they call none that is defined later."""
    sizes: dict[str, int] = {}
    for text in definitions(TYPES[dtype]).split("define internal ")[1:]:
        inside = text.split("\n")
        name = inside[0].partition("@")[2].partition("(")[0]
        sizes[name] = len(inside) + sum(
            sizes.get(called, 0) for called in _CALL.findall("\n".join(inside[1:]))
        )
    return sizes


def _declarations(dtype: str) -> list[str]:
    types = TYPES[dtype]
    vectors = {types.vector: types.suffix, types.real: f"f{types.bits}"}
    declared = [
        f"declare {vector} @llvm.{name}.{suffix}({vector})"
        for vector, suffix in vectors.items()
        for name in ("fabs", "sqrt", "floor", "ceil", "trunc")
    ]
    declared.append(
        f"declare {types.vector} @llvm.fma.{types.suffix}({types.vector}, {types.vector}, {types.vector})"
    )
    name = f"llvm.masked.gather.{types.suffix}.v{types.lanes}p0"
    declared.append(
        f"declare {types.vector} @{name}(<{types.lanes} x ptr>, i32, {types.truth}, {types.vector})"
    )
    return declared


def _entry(lines: Lines, plan: KernelPlan, lane_by_lane: bool) -> Layout:
    """Slots for scalars and scratch space."""
    types = lines.types
    slots = {}
    for item in plan.reductions:
        slots[item.serial] = lines.let(f"alloca {types.real}, align 8")
        lines.add(f"store {types.real} {types.number(1.0)}, ptr {slots[item.serial]}")
    for place, item in enumerate(plan.slots):
        slots[item.serial] = lines.let(f"getelementptr {types.real}, ptr %numbers, i64 {place}")
    most = max((len(item.args) // 2 for item in plan.scatters), default=1)
    values = lines.let(f"alloca [{most * types.lanes} x {types.real}], align 64")
    broken = lines.let(f"alloca {types.real}, align 8")
    solved = lines.let(f"alloca {types.real}, align 8")
    slots[-1], slots[-2] = broken, solved
    return Layout(
        {}, {}, [], slots, values, lane_by_lane, {"N": "%n", "M": "%m"}, {"N": "%npad", "M": "%mpad"}
    )


def _instance(
    lines: Lines,
    plan: KernelPlan,
    layout: Layout,
    constants: Scalars,
    cells: list[tuple[str, int]],
    *,
    single: bool,
) -> list[str]:
    """Return the loop over instances: pointers, then the steps."""
    types = lines.types
    lines.label("instances")
    lines.add("%turn = phi i64 [ 0, %entry ], [ %turn.next, %instance.done ]")
    lines.add(f"%b = load i64, ptr {lines.let('getelementptr i64, ptr %chosen, i64 %turn')}")
    places = lines.let("mul i64 %b, %mpad")
    for place in range(3):
        at = lines.let(f"add i64 {lines.let(f'mul i64 {places}, 3')}, {lines.let(f'mul i64 %mpad, {place}')}")
        layout.idx.append(lines.let(f"getelementptr i32, ptr %idx, i64 {at}"))
    bases = {}
    for order, name in enumerate(pointers_of(plan)):
        bases[name] = lines.let(f"load ptr, ptr {lines.let(f'getelementptr ptr, ptr %states, i64 {order}')}")
    for item in plan.externals:
        name, place, count = item.data
        at = lines.let(f"add i64 {lines.let(f'mul i64 %b, {count}')}, {place}")
        layout.slots[item.serial] = lines.let(f"getelementptr {types.real}, ptr {bases[name]}, i64 {at}")
    for name, (loop, count) in sorted(plan.states.items()):
        base, padded = bases[name], layout.padded[loop]
        first = lines.let(f"mul i64 {lines.let(f'mul i64 %b, {count}')}, {padded}")
        for cell in range(count):
            at = lines.let(f"add i64 {first}, {lines.let(f'mul i64 {padded}, {cell}')}")
            layout.states[name, cell] = lines.let(f"getelementptr {types.real}, ptr {base}, i64 {at}")
    offset = "0"
    for serial, loop in arrays_of(plan):
        layout.arrays[serial] = lines.let(f"getelementptr {types.real}, ptr %work, i64 {offset}")
        offset = lines.let(f"add i64 {offset}, {layout.padded[loop]}")
    if single:
        _one_step(lines, plan, layout, constants, cells)
        return _ended(lines)
    lines.add("br label %steps.top")
    lines.label("steps.top")
    lines.add("%t = phi i64 [ 0, %instances ], [ %t.next, %step.end ]")
    lines.add("%first = icmp eq i64 %t, 0")
    _rounds(lines, plan, layout, constants, cells)
    lines.add("br label %step.end")
    lines.label("step.end")
    lines.add("%t.next = add i64 %t, 1")
    lines.add("br label %steps.top")
    return _ended(lines)


def _ended(lines: Lines) -> list[str]:
    """On to the next instance, or out."""
    lines.label("instance.done")
    lines.add("%turn.next = add i64 %turn, 1")
    lines.add("%turn.more = icmp ult i64 %turn.next, %count")
    lines.add("br i1 %turn.more, label %instances, label %exit")
    lines.label("exit")
    lines.add("ret void")
    return lines.text


def _rounds(
    lines: Lines, plan: KernelPlan, layout: Layout, constants: Scalars, cells: list[tuple[str, int]]
) -> None:
    """Emit the loops of a round: a, B, the check, C."""
    finals = Scalars(lines.branch(), layout.slots, constants)
    opening = Scalars(lines.branch(), layout.slots, constants)
    variables = Loop("N", plan, layout, lines.branch(), {FINAL: finals, -1: constants})
    clauses = Loop("M", plan, layout, lines.branch(), {FINAL: finals, 0: opening})
    _move(variables, plan, cells, "N")
    if "v" in plan.moves:
        _look_for_broken(variables)
    for scatter in plan.scatters:
        variables.store(lines.types.splat(0.0), layout.arrays[scatter.serial])
    _pass(variables, plan, -1)
    after_variables = lines.branch()
    variable_text = variables.written(after_variables)
    _move(clauses, plan, cells, "M")
    if "v" in plan.moves:
        _check(clauses)
    _pass(clauses, plan, 0)
    after_clauses = lines.branch()
    clause_text = clauses.written(after_clauses)
    lines.text += [
        *finals.lines.text,
        *variable_text,
        *after_variables.text,
        *opening.lines.text,
        *clause_text,
        *after_clauses.text,
    ]
    _write_down(lines, layout)
    for time in sorted(plan.passes):
        if time > 0:
            _alone(lines, plan, layout, constants, time)


def _alone(lines: Lines, plan: KernelPlan, layout: Layout, constants: Scalars, time: int) -> None:
    """Emit a loop of one regular pass; with -1 also the sums over clauses are cleared."""
    scalars = Scalars(lines.branch(), layout.slots, constants)
    loop = Loop("M" if time % 2 == 0 else "N", plan, layout, lines.branch(), {time: scalars})
    if time == -1:
        for scatter in plan.scatters:
            loop.store(lines.types.splat(0.0), layout.arrays[scatter.serial])
    _pass(loop, plan, time)
    _append(lines, loop, scalars)


def _append(lines: Lines, loop: Loop, scalars: Scalars) -> None:
    after = lines.branch()
    text = loop.written(after)
    lines.text += [*scalars.lines.text, *text, *after.text]


def _one_step(
    lines: Lines, plan: KernelPlan, layout: Layout, constants: Scalars, cells: list[tuple[str, int]]
) -> None:
    """All regular passes, then the moves and the check."""
    lines.add("%first = icmp eq i64 0, 1")
    for time in sorted({-1, *plan.passes}):
        _alone(lines, plan, layout, constants, time)
    for kind in ("N", "M"):
        scalars = Scalars(lines.branch(), layout.slots, constants)
        loop = Loop(kind, plan, layout, lines.branch(), {FINAL: scalars})
        _move(loop, plan, cells, kind)
        if "v" in plan.moves:
            (_look_for_broken if kind == "N" else _check)(loop)
        _append(lines, loop, scalars)
    at = lines.let("getelementptr i8, ptr %solved, i64 %b")
    lines.add(f"store i8 {_good(lines, layout)}, ptr {at}")
    lines.add("br label %instance.done")


def _pass(loop: Loop, plan: KernelPlan, time: int) -> None:
    """Emit the code of what one regular pass leaves behind."""
    if time in plan.passes:
        loop.at(time)
        work = plan.passes[time]
        for expression in work.stores:
            loop.keep(expression)
        for expression in work.reductions:
            loop.reduce(expression)
        for expression in work.scatters:
            loop.scatter(expression)


def _move(loop: Loop, plan: KernelPlan, cells: list[tuple[str, int]], kind: str) -> None:
    """Emit new states of the variables of one loop; on the first round they stay."""
    loop.at(FINAL)
    types, body = loop.body.types, loop.body
    for name, cell in cells:
        if plan.states[name][0] == kind:
            old = loop.load(loop.layout.states[name, cell])
            moved = loop.value(plan.moves[name][cell])
            new = body.let(f"select i1 %first, {types.vector} {old}, {types.vector} {moved}")
            loop.states[name, cell] = new
    for place, new in loop.states.items():
        loop.store(new, loop.layout.states[place])


def _look_for_broken(loop: Loop) -> None:
    """Whether any v is no longer a number."""
    types, body = loop.body.types, loop.body
    v = loop.states["v", 0]
    broken = body.let(f"and {types.truth} {body.compare('uno', v, v)}, {loop.mask()}")
    loop.total(loop.layout.slots[-1], "most", body.choose(broken, types.splat(1.0), types.splat(0.0)))


def _check(loop: Loop) -> None:
    """Whether every clause holds a literal above zero: our own check, from v alone."""
    types, body = loop.body.types, loop.body
    good = body.let(f"xor {types.truth} {loop.mask()}, splat (i1 true)")
    for place in range(3):
        literal = loop.signed(loop.gathered(loop.layout.states["v", 0], place), place)
        good = body.let(f"or {types.truth} {good}, {body.compare('ogt', literal, types.splat(0.0))}")
    loop.total(loop.layout.slots[-2], "least", body.choose(good, types.splat(1.0), types.splat(0.0)))


def _write_down(lines: Lines, layout: Layout) -> None:
    """solved[t-1][b], then on with the step or with the next instance."""
    byte = _good(lines, layout)
    lines.add("br i1 %first, label %go.on, label %write")
    lines.label("write")
    row = lines.let("sub i64 %t, 1")
    start = lines.let(f"mul i64 {row}, %row")
    at = lines.let(f"add i64 {start}, %b")
    lines.add(f"store i8 {byte}, ptr {lines.let(f'getelementptr i8, ptr %solved, i64 {at}')}")
    last = lines.let("icmp eq i64 %t, %steps")
    lines.add(f"br i1 {last}, label %instance.done, label %go.on")
    lines.label("go.on")


def _good(lines: Lines, layout: Layout) -> str:
    """1 when every clause is satisfied and v is made of numbers, else 0."""
    real = lines.types.real
    solved = lines.let(f"load {real}, ptr {layout.slots[-2]}")
    broken = lines.let(f"load {real}, ptr {layout.slots[-1]}")
    return lines.let(f"zext i1 {lines.let(f'fcmp ogt {real} {solved}, {broken}')} to i8")
