"""A run of three signals: its actions as cases of one function, and the states that follow one another."""

ONE = TWO = THREE = ()
__cases__ = __close__ = None
# --- program ---


def act(rule, w, cap, m):
    __cases__


def played(start, inputs):
    w, cap, m = dict(start), inputs["cap"], inputs.get("marks", 1)
    trace = [dict(w)]
    for event in inputs["events"]:
        for rule in ((ONE, TWO, THREE)[event], *__close__):
            act(rule, w, cap, m)
        trace.append(dict(w))
    return trace
