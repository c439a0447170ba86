"""A queue, minute by minute."""

leave = order = pace = None
# --- program ---


def held(people, desks):
    """The calls in their order, the numbers of those who went away, and how many stand in the line at the end of each minute."""
    everybody = [{"number": number, "come": one[0], "need": one[1], "card": one[2]} for number, one in enumerate(people, start=1)]
    waiting, taken, calls, gone, line, t = [], [0] * desks, [], [], [0], 0
    while len(calls) + len(gone) < len(everybody) or t < max(taken):
        t += 1
        for c in everybody:
            if c["come"] == t:
                (gone if leave(c, len(waiting), None) else waiting).append(c)
        for desk in range(desks):
            if taken[desk] < t and waiting:
                c = min(waiting, key=lambda c: order(c, t))
                waiting.remove(c)
                lasting, closed = pace(c, t)
                calls.append({**c, "called": t, "last": t + lasting - 1})
                taken[desk] = t + lasting + closed - 1
        for c in list(waiting):
            if leave(c, len(waiting) - 1, t - c["come"]):
                waiting.remove(c)
                gone.append(c)
        line.append(len(waiting))
    return calls, gone, line
