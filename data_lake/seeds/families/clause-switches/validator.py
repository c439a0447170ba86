"""Split on one switch after the other; a line whose claims are all decided prunes at once."""

KIND = "some"
HELD = True


def fine(true, undecided):
    """Whether a line of three with so many true and undecided claims can still be as it must."""
    if KIND == "some":
        return true + undecided >= 1
    return true <= 1 <= true + undecided


def solution(inputs):
    if not isinstance(inputs, dict) or {"switches", "clauses", "asked"} - set(inputs):
        return {"status": "schema_error", "detail": "switches, clauses, asked"}
    clauses, count = inputs["clauses"], inputs["switches"]

    def settings(known, switch):
        for clause in clauses:
            values = [known[abs(literal)] == (literal > 0) for literal in clause if abs(literal) in known]
            if not fine(sum(values), 3 - len(values)):
                return 0
        while switch in known:
            switch += 1
        if switch > count:
            return 1
        return sum(settings({**known, switch: value}, switch + 1) for value in (True, False))

    return settings({inputs["asked"]: HELD}, 1)
