"""Published constructions of the open problems that evolake ships, with their published values: by a rule, or
as `known_constructions.toml` has them. They are nowhere else: no search can read them."""

from __future__ import annotations

import base64
import struct
import tomllib
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Known:
    """A construction. value: as published; unit: of its last digit, 0 if it is a count. source: of both."""

    value: float
    unit: float
    source: str
    output: Any


def numbers(text: str) -> list[float]:
    return [float(item) for item in text.split()]


def integers(text: str) -> list[int]:
    return [int(item) for item in text.split()]


def twos(text: str) -> list[list[float]]:
    found = iter(numbers(text))
    return [list(row) for row in zip(found, found, strict=True)]


def threes(text: str) -> list[list[float]]:
    found = iter(numbers(text))
    return [list(row) for row in zip(found, found, found, strict=True)]


def digits(text: str) -> list[list[int]]:
    return [[int(digit, 36) for digit in word] for word in text.split()]


def bits(text: str) -> list[int]:
    """Return the bits of a hexadecimal number; as many as a graph of 42 vertices has pairs."""
    return [int(bit) for bit in f"{int(''.join(text.split()), 16):0861b}"]


def sixteen_bits(text: str) -> list[float]:
    packed = base64.b85decode("".join(text.split()))
    return [float(item) for item in struct.unpack(f"<{len(packed) // 2}H", packed)]


def runs(lengths: str) -> list[int]:
    """Return signs: so many of one, so many of the other, and so on."""
    return [(-1) ** place for place, length in enumerate(lengths) for _ in range(int(length, 36))]


def roots(dimensions: int) -> list[list[int]]:
    """Return all vectors with two numbers 1 or -1 and else 0."""
    return [
        [dict(zip(pair, signs, strict=True)).get(place, 0) for place in range(dimensions)]
        for pair in combinations(range(dimensions), 2)
        for signs in product((1, -1), repeat=2)
    ]


def paley(prime: int) -> list[int]:
    squares = {x * x % prime for x in range(1, prime)}
    return [int((other - one) % prime in squares) for other in range(prime) for one in range(other)]


def three_triangles() -> list[list[int]]:
    """Return the sums of the corners of three triangles of side 1, each turned against the others."""
    sides = [((1, 0, 0, 0), (0, 1, 0, 0)), ((0, 0, 1, 0), (0, 0, 0, 1)), ((1, 1, -1, -1), (-1, 2, 1, -2))]
    corners = product(*[((0, 0, 0, 0), *side) for side in sides])
    return [[sum(column) for column in zip(*three, strict=True)] for three in corners]


def bernstein() -> list[list[int]]:
    """Return a chain of 254 doublings and 11 other additions; `ones_n` is 2**n - 1."""
    pairs: list[list[int]] = []

    def add(one: int, other: int) -> int:
        pairs.append([one, other])
        return len(pairs)

    def doubled(number: int, times: int) -> int:
        for _ in range(times):
            number = add(number, number)
        return number

    two = doubled(0, 1)
    nine = add(doubled(two, 2), 0)
    eleven = add(nine, two)
    ones_5 = add(doubled(eleven, 1), nine)
    ones_10 = add(doubled(ones_5, 5), ones_5)
    ones_20 = add(doubled(ones_10, 10), ones_10)
    ones_40 = add(doubled(ones_20, 20), ones_20)
    ones_50 = add(doubled(ones_40, 10), ones_10)
    ones_100 = add(doubled(ones_50, 50), ones_50)
    ones_200 = add(doubled(ones_100, 100), ones_100)
    ones_250 = add(doubled(ones_200, 50), ones_50)
    add(doubled(ones_250, 5), eleven)
    return pairs


def cap_512() -> list[int]:
    """Return the cap of FunSearch by its description: which places are not 0, and how many of three pairs
    of places agree."""
    either = "0123 0125 0367 0567 1346 1456 2347 2457"
    one = "0127 0126 0137 0167 0157 0236 0267 0256 1247 1246 1347 1467 1457 2346 2467 2456"
    zeros = "047 024 014 046 126 267 127 167"
    found = []
    for vector in product(range(3), repeat=8):
        places = "".join(str(place) for place in range(8) if vector[place])
        rest = "".join(str(place) for place in range(8) if not vector[place])
        agree = sum(vector[place] == vector[-place] for place in (1, 2, 3))
        apart = vector[1] * vector[7] % 3 != 1 and vector[2] * vector[6] % 3 != 1
        if (
            (not rest and agree >= 2)
            or places in either.split()
            or (places in one.split() and agree == 1)
            or (rest in zeros.split() and agree <= 1 and apart)
        ):
            found.append(sum(digit * 3**place for place, digit in enumerate(vector)))
    return found


def starter(text: str) -> list[list[int]]:
    """Return all turns of a row with each number added modulo 3, and three rows of one symbol."""
    row = [int(digit) for digit in text]
    turned = [row[place:] + row[:place] for place in range(len(row))]
    return [[(symbol + more) % 3 for symbol in one] for one in [*turned, [0] * len(row)] for more in range(3)]


FANO = "013 124 235 346 450 561 602"
SORT_8 = "02 13 46 57 04 15 26 37 01 23 45 67 24 35 14 36 12 34 56"
"""A network of 19 comparators for 8 inputs."""

KNOWN = {
    "kissing_5": Known(40, 0, "the shortest vectors of the lattice D5", roots(5)),
    "unit_distance_27": Known(81, 0, "a sum of three triangles, arXiv:2406.15317", three_triangles()),
    "no_three_in_line_61": Known(61, 0, "Erdős: x * x modulo a prime", [[x, x * x % 61] for x in range(61)]),
    "cap_set_8": Known(512, 0, "FunSearch, Nature 625 (2024)", cap_512()),
    "low_autocorrelation_67": Known(
        241,
        0,
        "the energy in arXiv:1512.02475, found again by tabu search",
        runs("2454222111111111222b22211211121121"),
    ),
    "addition_chain_25519": Known(265, 0, "Bernstein's Curve25519", bernstein()),
    "sorting_network_13": Known(
        45,
        0,
        "Dobbelaere's list of sorting networks",
        digits("""
0c 1a 29 37 5b 68 16 23 4b 79 8a 04 12 36 78 9a bc 46 59 8b ac 05 38 47 6b 9a 01 25 69 78 ab 13 24 56 9a 12
34 57 68 23 45 67 89 34 56"""),
    ),
    "covering_array_3_16_3": Known(
        51, 0, "the size in Colbourn's tables, by a starter drawn by chance", starter("0220001020022212")
    ),
}
FORMS = {form.__name__: form for form in (numbers, integers, twos, threes, digits, bits, sixteen_bits)}
for name, given in tomllib.loads(Path(__file__).with_suffix(".toml").read_text()).items():
    [form] = FORMS.keys() & given.keys()
    KNOWN[name] = Known(given["value"], given["unit"], given["source"], FORMS[form](given[form]))
