"""A validator of liars that decides one after another and goes back at a contradiction."""

KNOWN = ""
WORD = ()
__answer__ = __constants__ = None
# --- program ---
"""One more is decided as long as no sentence whose persons are all decided is contradicted."""

__constants__
TRUTH = {
    "liar": lambda a: 1 - a, "honest": lambda a: a, "same": lambda a, b: 1 - (a ^ b), "different": lambda a, b: a ^ b, "one": lambda a, b: 1 - a * b,
}


def extended(decided, names, says):
    if len(decided) == len(names):
        lying = sum(value == 0 for value in decided.values())
        balance = {"odd": lying % 2 > 0, "even": lying % 2 < 1, "fewer": lying >= len(names) // 2 + 1}[KNOWN]
        return decided if balance else None
    for value in (0, 1):
        trial = {**decided, names[len(decided)]: value}
        known = [(who, kind, some) for who, kind, *some in says if who in trial and all(one in trial for one in some)]
        if all(TRUTH[kind](*(trial[one] for one in some)) == trial[who] for who, kind, some in known):
            found = extended(trial, names, says)
            if found is not None:
                return found
    return None


def solution(inputs):
    names, result = inputs["names"], extended({}, inputs["names"], inputs["says"])
    if result is None:
        return {"status": "schema_error", "detail": "contradiction"}
    __answer__
