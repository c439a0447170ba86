"""14 points in the plane whose smallest triangle is as large as possible a share of their convex hull."""


# EVOLVE-BLOCK-START
def build(case):
    """Return the points as [x, y]: drawn by chance, then moved by chance as long as the smallest triangle grows."""
    state = 7
    points = []
    for _ in range(14):
        state = (state * 1103 + 12345) % 65521
        x = state / 65521
        state = (state * 1103 + 12345) % 65521
        points.append([x, state / 65521])
    best = smallest(points)
    width = 0.3
    for step in range(30):
        state = (state * 1103 + 12345) % 65521
        i = state % 14
        before = points[i]
        state = (state * 1103 + 12345) % 65521
        x = before[0] + width * (state / 65521 - 0.5)
        state = (state * 1103 + 12345) % 65521
        y = before[1] + width * (state / 65521 - 0.5)
        points[i] = [min(max(x, 0.0), 1.0), min(max(y, 0.0), 1.0)]
        now = smallest(points)
        if now < best:
            points[i] = before
        else:
            best = now
        width = width * 0.99
    return points
# EVOLVE-BLOCK-END


def smallest(points):
    """Return twice the area of the smallest triangle."""
    return min(
        abs((u - x) * (t - y) - (v - y) * (s - x))
        for i, (x, y) in enumerate(points) for j, (u, v) in enumerate(points[:i]) for s, t in points[:j]
    )
