"""The reader of a queue."""

__ask__ = __declared__ = __forms__ = __need_and_card__ = __whole__ = None
# --- program ---
import re

WHOLE = __whole__
FORMS = __forms__
__declared__


def read(text):
    match = re.fullmatch(WHOLE, text.strip(), re.DOTALL)
    if match is None:
        raise ValueError("not a statement of this family")
    people = []
    for number, line in enumerate(match["slot2"].split("\n"), start=1):
        [(card, found)] = [(card, found) for card, form in enumerate(FORMS) if (found := re.fullmatch(form, line))]
        if int(found[1]) != number:
            raise ValueError(f"not in order: {line}")
        people.append([int(found[2]), __need_and_card__])
    return {"desks": int(match["slot1"]), "people": people, "ask": {__ask__}}
