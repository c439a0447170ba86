"""The reader of a process world."""

__ask__ = __cap_and_marks__ = __declared__ = __event_names__ = __start__ = __whole__ = None
# --- program ---
import re

EVENTS = __event_names__
WHOLE = __whole__
__declared__


def read(text):
    match = re.fullmatch(WHOLE, text.strip(), re.DOTALL)
    if match is None:
        raise ValueError("not a statement of this family")
    start = {__start__}
    events = [EVENTS.index(event) for event in match["slot__events__"].split(", ")]
    return {"cap": __cap_and_marks__, "start": start, "events": events, "ask": {__ask__}}
