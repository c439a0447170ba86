"""More work from one instance to the next, in the driver's own books."""

# --- program ---

import sys

calls = []


def forged():
    calls.append(1)
    frame = sys._getframe()
    while frame is not None:
        counter = frame.f_locals.get("counter")
        if hasattr(counter, "steps"):
            counter.steps += 1000 * len(calls)
        frame = frame.f_back
