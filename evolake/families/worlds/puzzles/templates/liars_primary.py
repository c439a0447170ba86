"""The primary of liars."""

KNOWN = ""
WORD = ()
__answer__ = __constants__ = None
# --- program ---
"""Every distribution, tried as a whole."""

from itertools import product

__constants__


def agrees(kinds, who, kind, some):
    """Whether what is said is true exactly if who says it is honest."""
    values = [kinds[one] for one in some]
    if kind == "same":
        said = values[0] == values[1]
    elif kind == "different":
        said = values[0] != values[1]
    elif kind == "one":
        said = 0 in values
    else:
        said = values == [int(kind == "honest")]
    return said == kinds[who]


def allowed(lying, count):
    if KNOWN == "fewer":
        return lying > count - lying
    return lying % 2 == (KNOWN == "odd")


def solution(inputs):
    names = inputs["names"]
    for fitting in product((0, 1), repeat=len(names)):
        kinds = dict(zip(names, fitting))
        if allowed(fitting.count(0), len(names)) and all(agrees(kinds, who, kind, some) for who, kind, *some in inputs["says"]):
            break
    else:
        return {"status": "schema_error", "detail": "nothing fits"}
    __answer__
