"""A validator of routes that relaxes every road again and again."""

COST = ""
__answer__ = __constants__ = None
# --- program ---
"""As many rounds over all roads as there are places (Bellman 1958)."""

__constants__
FAR = 10**9


def solution(inputs):
    places, start = inputs["places"], inputs["start"]
    least = dict.fromkeys(places, FAR)
    least[start] = 0
    both_ways = [(a, b, w) for a, b, w in inputs["roads"]] + [(b, a, w) for a, b, w in inputs["roads"]]
    for _ in places:
        for a, b, w in both_ways:
            step = {"plain": w, "stops": w + 3 * (a != start), "twice": w * (1 + (a == start))}[COST]
            if least[a] + step < least[b]:
                least[b] = least[a] + step
    __answer__
