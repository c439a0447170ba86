"""A validator of rewriting that looks at every place of a list of letters."""

WHICH = WHERE = ""
__answer__ = __constants__ = None
# --- program ---
"""All places of all rules, of which one is taken."""

__constants__


def solution(inputs):
    letters, numbers = list(inputs["word"]), []
    for _ in range(inputs["steps"]):
        places = {}
        for number, (old, _) in enumerate(inputs["rules"], start=1):
            for at in range(len(letters)):
                if letters[at : at + len(old)] == list(old):
                    places.setdefault(number, []).append(at)
        if not places:
            numbers.append(0)
            continue
        number = max(places) if WHICH == "highest" else min(places)
        at = places[number][-1 if WHERE == "right" else 0]
        old, new = inputs["rules"][number - 1]
        letters[at : at + len(old)] = list(new)
        numbers.append(number)
    __answer__
