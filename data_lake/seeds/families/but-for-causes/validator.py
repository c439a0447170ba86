"""Prevent each free event in turn, and work out the rest again."""

SOME = 2
WANTED = "decisive"


def solution(inputs):
    if not isinstance(inputs, dict) or {"roots", "effects", "asked"} - set(inputs):
        return {"status": "schema_error", "detail": "roots, effects, asked"}

    def happens(prevented):
        found = [root and number != prevented for number, root in enumerate(inputs["roots"], start=1)]
        for kind, causes in inputs["effects"]:
            true = [found[cause - 1] for cause in causes]
            found.append(all(true) if kind == "ALL" else any(true) if kind == "ANY" else sum(true) >= SOME)
        return found[inputs["asked"] - 1]

    actual = happens(None)
    decisive = [number for number, root in enumerate(inputs["roots"], start=1) if root and actual and not happens(number)]
    if WANTED == "decisive":
        return decisive
    return [number for number, root in enumerate(inputs["roots"], start=1) if root and number not in decisive]
