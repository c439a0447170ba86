"""Texts that once made the host raise, or might: for the gates of the families line, in unit, integration and
attack tests.

Every entry changes one seed in one place, so that it comes as far through the gates as it can. `name ->
changes` for `dataclasses.replace`.
"""

from dataclasses import replace

from evolake.families.model.contract import Family
from evolake.families.model.statement import stated

ANSWERS = {
    "fraction past every float": "'1' + '0' * 400 + '/3'",
    "tiny fraction": "'1/' + '3' * 4000",
    "long digits": "'7' * 4300",
    "longer digits": "'7' * 5000",
    "huge exponent": "'1e999999999'",
    "mantissa and exponent": "'7' * 4200 + 'e999'",
    "decimal and exponent": "'0.' + '3' * 4000 + 'e-999'",
    "grouped digits": "'1' + ',000' * 1000",
    "infinite text": "'Infinity'",
    "not a number": "'NaN'",
    "large integer": "10 ** 3999",
    "keys that are numbers": "{'7' * 4200 + 'e999': 1, 'b': 2}",
    "keys of mixed types": "{1: 2, 'a': 3, (1, 2): 4}",
    "half a pair": "'\\ud800'",
    "zero byte": "'a\\0b'",
    "path": "'../../etc/passwd'",
    "open box": "'\\\\boxed{' * 2000",
    "closed boxes": "'\\\\boxed{' * 500 + '}' * 500",
    "deep brackets": "'[' * 50_000",
    "quotes": "'\"' * 9999",
    "deep list": "deep(55)",
    "long text": "'x' * 900_000",
    "wide list": "[[]] * 90_000",
    "wide mapping": "{str(n): n for n in range(50_000)}",
    "fractions": "Fraction(10 ** 3000, 7)",
    "decimals": "Decimal('1E+3000')",
    "negative zero": "-0.0",
    "smallest float": "5e-324",
    "largest float": "1.7e308",
    "booleans": "[True, 1, 1.0]",
    "nothing": "None",
}
"""What every voter answers, as an expression."""
HELP = (
    "from decimal import Decimal\nfrom fractions import Fraction\n\n\ndef deep(n):\n    found = []\n    "
    "for _ in range(n):\n        found = [found]\n"
    "    return found\n\n\n"
)
CONSTANTS = {
    "sum of 900 terms": "+".join(["1"] * 900),
    "sum of 3000 terms": "+".join(["1"] * 3000),
    "minus signs": "-" * 500 + "1",
    "attributes": "print" + ".__class__" * 500,
    "calls": "(lambda: 0)" + " or f()" * 300,
    "hexadecimal": "0x" + "f" * 5000,
    "decimal digits": "7" * 5000,
    "lambdas": "lambda: " * 400 + "1",
    "string": "'" + "x" * 90_000 + "'",
    "escaped surrogate": "'\\ud800'",
    "infinity": "1e999",
    "conditions": "1 if x else " * 500 + "1",
    "comparisons": "1" + " < 2" * 600,
    "brackets": "(" * 150 + "1" + ")" * 150,
}
"""Constants of a source, as expressions."""
SLOTS = {
    "digits in the statement": "'7' * 5000",
    "digits in brackets": "'[' + '9' * 350 + ']'",
    "many brackets": "'[(' * 9000",
    "many words": "'a b ' * 9000",
    "many lines": "'\\n' * 19_000",
    "slots in slots": "'[Input Slot 1]' * 999",
    "direction": "'\\u202e\\u2066'",
    "half a pair": "'\\udfff'",
    "zero bytes": "'\\0' * 99",
    "grid": "'# ' * 9000",
    "frames": "'|-' * 9000",
}
"""The last slot text, as expressions."""
FORGED = {
    "unknown status": "{'status': 'fine', 'reason': '', 'answer': 1}",
    "status of another type": "{'status': [1], 'reason': '', 'answer': 1}",
    "no item": "7",
    "reason of another type": "{'status': 'ok', 'reason': {'a': 1}, 'answer': 1}",
    "endless reason": "{'status': 'error', 'reason': 'x' * 90000}",
    "steps without end": "{'status': 'ok', 'reason': '', 'answer': 1, 'steps': 10 ** 4000}",
    "negative steps": "{'status': 'ok', 'reason': '', 'answer': 1, 'steps': -5}",
    "times": "{'status': 'ok', 'reason': '', 'answer': 1, 'cpu_s': 1e308, 'type': 'x' * 99999}",
    "wide answer": "{'status': 'ok', 'reason': '', 'answer': [0] * 900_000}",
    "schema error": "{'status': 'ok', 'reason': '', 'answer': {'status': 'schema_error', 'detail': [[1]] * 9999}}",  # noqa: E501
}
"""Items of a reply that a candidate forges after it took over the driver."""


PADS = (
    "",
    "    total = 0\n    for number in range(9):\n        total += number * 7\n    while total > 3:\n"
    "        total //= 2\n",
    "    found = {key: str(value) for key, value in inputs.items()}\n    if not found:\n        return "
    "'nothing', 1, 2\n    assert len(found) > 0\n",
)
"""Lines that make copies of one solution independent for the gate that looks for copies."""


def plain(family: Family) -> Family:
    """The family as a model would write it: its rules written out, nothing declared."""
    return replace(family, template=stated(family), points=(), ports=(), filterables=())


def answering(family: Family, expression: str) -> Family:
    """Every voter answers a number that varies and this; the declared type is any."""
    sources = [
        f"{HELP}def solution(inputs):\n{pad}    return [sum(map(ord, str(sorted(inputs)))) + "
        f"len(str(inputs)), {expression}]\n"
        for pad in PADS
    ]
    voters = dict(zip(family.validators, sources[1:], strict=False))
    return replace(family, validator=sources[0], validators=voters, answer=replace(family.answer, type="any"))


def with_constant(family: Family, expression: str) -> Family:
    """Every source has the constant, in capitals."""
    head = f"def _later():\n    UNUSED_CONSTANT = {expression}\n    return UNUSED_CONSTANT\n\n\n"
    return replace(
        family,
        generator=head + family.generator,
        validator=head + family.validator,
        reader=head + (family.reader or ""),
        validators={name: head + source for name, source in family.validators.items()},
    )


def with_slot(family: Family, expression: str) -> Family:
    """The generator puts this behind its last slot text."""
    tail = (
        "\n\n_input = input\n\n\ndef input(difficulty):\n    inputs, texts = _input(difficulty)\n"
        f"    return inputs, [*list(texts)[:-1], list(texts)[-1] + {expression}]\n"
    )
    return replace(family, generator=family.generator + tail)


def forging(family: Family, expression: str) -> Family:
    """The voters replace the driver's items by forged ones."""
    head = (
        "import evolake.families.sandbox.driver as driver\n\ndriver.each = lambda one, items, cap_s: "
        f"[{expression} for _ in items]\n\n\n"
    )
    return replace(
        family,
        validator=head + family.validator,
        validators={name: head + source for name, source in family.validators.items()},
    )


def corpus(family: Family) -> dict[str, Family]:
    """name -> poisoned family."""
    family = plain(family)
    result = {f"answer: {name}": answering(family, answer) for name, answer in ANSWERS.items()}
    result |= {f"constant: {name}": with_constant(family, constant) for name, constant in CONSTANTS.items()}
    result |= {f"slot: {name}": with_slot(family, slot) for name, slot in SLOTS.items()}
    result |= {f"forged: {name}": forging(family, item) for name, item in FORGED.items()}
    result["template: lines"] = replace(family, template="\n" * 150_000 + family.template)
    result["template: marks"] = replace(family, template=family.template + "\n<!-- question -->" * 9000)
    result["template: open slots"] = replace(family, template=family.template + "[Input Slot " * 9000)
    return result
