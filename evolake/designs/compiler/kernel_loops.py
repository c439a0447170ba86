"""The loops of a kernel: blocks of variables or clauses, one vector of lanes at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

from evolake.designs.compiler.expression import Expression
from evolake.designs.compiler.kernel_plan import FINAL, KernelPlan
from evolake.designs.compiler.kernel_text import Lines
from evolake.designs.compiler.kernel_values import Scalars, accumulated, combined, folded, identity, splat

SIGN_32 = -(2**31)
INDEX_MASK = 2**31 - 1


@dataclass
class Layout:
    """Where everything is: names of pointers and sizes inside the kernel.

    states: (variable, cell) -> pointer of this instance's row.
    arrays: serial of a stored or scattered expression -> pointer.
    idx: three pointers of packed literals (variable, and the sign in the top bit).
    slots: serial of a reduction or slot -> pointer to its scalar.
    spill_values: scratch for scatters.
    lane_by_lane: load values at the variables of literals one by one, for processors with slow gathers.
    extents, padded: loop -> its length, and that of a row in memory.
    """

    states: dict[tuple[str, int], str]
    arrays: dict[int, str]
    idx: list[str]
    slots: dict[int, str]
    spill_values: str
    lane_by_lane: bool
    extents: dict[str, str]
    padded: dict[str, str]


@dataclass
class Loop:
    """One loop under construction. Values are cached by expression; `time` says which pass they belong to
    (finals see old states)."""

    kind: str
    plan: KernelPlan
    layout: Layout
    body: Lines
    scalars: dict[int, Scalars]
    time: int = FINAL
    known: dict[tuple[str, int], str] = field(default_factory=dict)
    states: dict[tuple[str, int], str] = field(default_factory=dict)
    totals: list[tuple[str, str, str, str]] = field(default_factory=list)
    cached: dict[str, str] = field(default_factory=dict)
    counter: str = ""

    def __post_init__(self) -> None:
        self.counter = f"%{self.body.fresh('i')}"

    def at(self, time: int) -> None:
        """Continue with the expressions of another pass."""
        self.time = time

    def mask(self) -> str:
        """Return the lanes that are real variables or clauses, not padding."""
        if "mask" not in self.cached:
            types = self.body.types
            here = self.body.let(f"trunc i64 {self.counter} to i32")
            start = splat(self.body, here, "int")
            lanes = ", ".join(f"i32 {lane}" for lane in range(types.lanes))
            places = self.body.let(f"add {types.small} {start}, <{lanes}>")
            end = splat(self.body, self.body.let(f"trunc i64 {self.layout.extents[self.kind]} to i32"), "int")
            self.cached["mask"] = self.body.let(f"icmp ult {types.small} {places}, {end}")
        return self.cached["mask"]

    def load(self, array: str, element: str | None = None) -> str:
        """Return the block's vector of an array."""
        place = self.body.let(
            f"getelementptr {element or self.body.types.real}, ptr {array}, i64 {self.counter}"
        )
        vector = self.body.types.vector if element is None else self.body.types.small
        return self.body.let(
            f"load {vector}, ptr {place}, align {4 if element else self.body.types.bits // 8}"
        )

    def store(self, value: str, array: str) -> None:
        """Emit a store of a value to this loop's place in an array."""
        place = self.body.let(f"getelementptr {self.body.types.real}, ptr {array}, i64 {self.counter}")
        self.body.add(
            f"store {self.body.types.vector} {value}, ptr {place}, align {self.body.types.bits // 8}"
        )

    def literal_word(self, place: int) -> str:
        """Return packed literals of the block."""
        key = f"word {place}"
        if key not in self.cached:
            self.cached[key] = self.load(self.layout.idx[place], "i32")
        return self.cached[key]

    def literal_index(self, place: int) -> str:
        """Return the name of the index of the variable of a literal, emitted once per loop."""
        key = f"index {place}"
        if key not in self.cached:
            self.cached[key] = self.body.let(
                f"and {self.body.types.small} {self.literal_word(place)}, splat (i32 {INDEX_MASK})"
            )
        return self.cached[key]

    def lane_index(self, place: int, lane: int) -> str:
        """Return the variable of one literal, read from memory again: that is faster than taking the block's
        vector apart."""
        here = self.body.let(f"add i64 {self.counter}, {lane}") if lane else self.counter
        word = self.body.let(
            f"load i32, ptr {self.body.let(f'getelementptr i32, ptr {self.layout.idx[place]}, i64 {here}')}"
        )
        return self.body.let(f"zext i32 {self.body.let(f'and i32 {word}, {INDEX_MASK}')} to i64")

    def sign_bits(self, place: int) -> str:
        """Return the sign in the top bit of a real-sized integer, all else zero."""
        key = f"bits {place}"
        if key not in self.cached:
            types, body = self.body.types, self.body
            bit = body.let(f"and {types.small} {self.literal_word(place)}, splat (i32 {SIGN_32})")
            if types.bits == 64:
                bit = body.whole(
                    "shl", body.let(f"zext {types.small} {bit} to {types.whole}"), types.splat_whole(32)
                )
            self.cached[key] = bit
        return self.cached[key]

    def signed(self, value: str, place: int) -> str:
        """Return value * sign, which only flips a bit."""
        return self.body.from_bits(self.body.whole("xor", self.body.to_bits(value), self.sign_bits(place)))

    def gathered(self, array: str, place: int) -> str:
        """Return the array's values at the variables of a literal."""
        key = f"gather {array} {place}"
        if key not in self.cached and self.layout.lane_by_lane:
            types, vector = self.body.types, "poison"
            for lane in range(types.lanes):
                where = self.body.let(
                    f"getelementptr {types.real}, ptr {array}, i64 {self.lane_index(place, lane)}"
                )
                value = self.body.let(f"load {types.real}, ptr {where}")
                vector = self.body.let(
                    f"insertelement {types.vector} {vector}, {types.real} {value}, i32 {lane}"
                )
            self.cached[key] = vector
        if key not in self.cached:
            types = self.body.types
            pointers = self.body.let(
                f"getelementptr {types.real}, ptr {array}, {types.small} {self.literal_index(place)}"
            )
            inside = (
                f"<{types.lanes} x ptr> {pointers}, i32 {types.bits // 8}, {types.truth} splat (i1 true), "
                f"{types.vector} poison"
            )
            name = f"llvm.masked.gather.{types.suffix}.v{types.lanes}p0"
            self.cached[key] = self.body.let(f"call {types.vector} @{name}({inside})")
        return self.cached[key]

    def value(self, expression: Expression) -> str:
        """Return the vector of an expression in the present pass."""
        if expression.domain == "S":
            return self.scalars[self.time].vector(expression)
        phase = "final" if self.time == FINAL else "step"
        key = (phase, expression.serial)
        if key not in self.known:
            self.known[key] = self._made(expression)
        return self.known[key]

    def _made(self, expression: Expression) -> str:
        match expression.operator:
            case "state":
                return self._state(expression.data)
            case "sign":
                return self.signed(self.body.types.splat(1.0), expression.data)
            case "scatter":
                return self.load(self.layout.arrays[expression.serial])
        if expression.serial in self.plan.kept.get(self.time, ()):
            return self._from_array(expression)
        if expression.operator == "gather":
            source, index = expression.args
            array = (
                self.layout.states[source.data]
                if source.operator == "state"
                else self.layout.arrays[source.serial]
            )
            return self.gathered(array, index.data)
        if expression.operator == "mul":
            for first, other in (expression.args, expression.args[::-1]):
                if other.operator == "sign":
                    return self.signed(self.value(first), other.data)
        return combined(self.body, expression, [self.value(arg) for arg in expression.args], vector=True)

    def _state(self, place: tuple[str, int]) -> str:
        if self.time != FINAL and place in self.states:
            return self.states[place]
        return self.load(self.layout.states[place])

    def _from_array(self, expression: Expression) -> str:
        value, types = self.load(self.layout.arrays[expression.serial]), self.body.types
        if expression.kind == "bool":
            return self.body.compare("une", value, types.splat(0.0))
        return (
            self.body.let(f"fptosi {types.vector} {value} to {types.small}")
            if expression.kind == "int"
            else value
        )

    def keep(self, expression: Expression) -> None:
        """Write a value to its temporary array."""
        value, types = self.value(expression), self.body.types
        if expression.kind == "bool":
            value = self.body.choose(value, types.splat(1.0), types.splat(0.0))
        elif expression.kind == "int":
            value = self.body.let(f"sitofp {types.small} {value} to {types.vector}")
        self.store(value, self.layout.arrays[expression.serial])

    def reduce(self, expression: Expression) -> None:
        """Add the block to a reduction; padding counts for nothing."""
        name = expression.data[0]
        start = self.body.types.splat(identity(name))
        value = self.body.choose(self.mask(), self.value(expression.args[0]), start)
        self.total(self.layout.slots[expression.serial], name, value)

    def total(self, slot: str, name: str, value: str) -> None:
        """Emit a running vector over the blocks, folded into `slot` after the loop."""
        running = f"%{self.body.fresh('run')}"
        self.totals.append((slot, name, running, accumulated(self.body, running, value, name)))

    def scatter(self, expression: Expression) -> None:
        """Add each lane's values to its variables, clause by clause, literal by literal: the order in which
        torch adds."""
        types, body = self.body.types, self.body
        pairs = [
            (expression.args[at].data, self.value(expression.args[at + 1]))
            for at in range(0, len(expression.args), 2)
        ]
        array = self.layout.arrays[expression.serial]
        for position, (_, value) in enumerate(pairs):
            at = body.let(
                f"getelementptr {types.real}, ptr {self.layout.spill_values}, i64 {position * types.lanes}"
            )
            body.add(f"store {types.vector} {value}, ptr {at}, align 64")
        for lane in range(types.lanes):
            for position, (place, _) in enumerate(pairs):
                at = position * types.lanes + lane
                pointer = body.let(
                    f"getelementptr {types.real}, ptr {array}, i64 {self.lane_index(place, lane)}"
                )
                value = body.let(
                    f"load {types.real}, ptr "
                    f"{body.let(f'getelementptr {types.real}, ptr {self.layout.spill_values}, i64 {at}')}"
                )
                old = body.let(f"load {types.real}, ptr {pointer}")
                body.add(f"store {types.real} {body.let(f'fadd {types.real} {old}, {value}')}, ptr {pointer}")

    def written(self, after: Lines) -> list[str]:
        """Return the whole loop as text, with what follows it in `after`."""
        types, body = self.body.types, self.body
        top, end, before = body.fresh("loop"), body.fresh("done"), body.fresh("enter")
        text = [f"  br label %{before}", f"{before}:", f"  br label %{top}", f"{top}:"]
        text.append(f"  {self.counter} = phi i64 [ 0, %{before} ], [ {self.counter}.next, %{top} ]")
        text += [
            f"  {running} = phi {types.vector} [ {types.splat(identity(name))}, %{before} ], [ {update}, "
            f"%{top} ]"
            for _, name, running, update in self.totals
        ]
        text += body.text
        text += [
            f"  {self.counter}.next = add i64 {self.counter}, {types.lanes}",
            f"  {self.counter}.more = icmp ult i64 {self.counter}.next, {self.layout.padded[self.kind]}",
            f"  br i1 {self.counter}.more, label %{top}, label %{end}",
            f"{end}:",
        ]
        for slot, name, _, update in self.totals:
            after.add(f"store {types.real} {folded(after, update, name)}, ptr {slot}")
        return text
