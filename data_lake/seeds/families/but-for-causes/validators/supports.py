"""The smallest sets of free events that make an event happen on their own; decisive is what lies in all of them."""

from itertools import combinations, product

SOME = 2
WANTED = "decisive"


def smallest(sets):
    kept = []
    for one in sorted(set(sets), key=len):
        if not any(other <= one for other in kept):
            kept.append(one)
    return kept


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("roots"), list) or not isinstance(inputs.get("effects"), list):
        return {"status": "schema_error", "detail": "roots, effects, asked"}
    supports = [[frozenset([number])] if root else [] for number, root in enumerate(inputs["roots"], start=1)]
    for kind, causes in inputs["effects"]:
        least = {"ALL": len(causes), "ANY": 1, "SOME": SOME}[kind]
        found = []
        for group in combinations(causes, least):
            found += [frozenset().union(*choice) for choice in product(*(supports[cause - 1] for cause in group))]
        supports.append(smallest(found))
    asked = supports[inputs["asked"] - 1]
    decisive = frozenset.intersection(*asked) if asked else frozenset()
    return [
        number for number, root in enumerate(inputs["roots"], start=1) if root and (number in decisive) == (WANTED == "decisive")
    ]
