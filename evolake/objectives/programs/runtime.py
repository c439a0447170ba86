"""What the operators of programs compute: an objective file has the functions that its program uses, `evaluate` calls them here.

None raises on finite floats: the logarithm of what is not positive and a division by nothing are bounded. Products may leave the finite numbers;
aggregates bound what they take by BEYOND, and the score is bounded at last, in an order that is kept.
Every byte of a function that a file uses is part of the file's identity in lakes (`evolake.objectives.source`): do not reword what is there.
"""

import math

LEAST = 1e-9
LARGE = 1e7
MOST = 1.7e308
BEYOND = 1e30
WORST = 1e9


def bounded(value):
    """The score, beyond LARGE by its logarithm: in the same order, and below WORST, which a design without results and what is no number get."""
    if value != value:
        return WORST
    size = min(abs(value), MOST)
    if size <= LARGE:
        return float(value)
    size = LARGE * (1.0 + math.log(size / LARGE) / 10.0)
    return size if value > 0 else -size


def kept(values):
    """The values with what is beyond all measure, or no number, bounded."""
    return [max(-BEYOND, min(BEYOND, value)) if value == value else BEYOND for value in values]


def log(value):
    """Natural logarithm; of what is below LEAST, that of LEAST."""
    return math.log(value if value > LEAST else LEAST)


def root(value):
    """Square root of the magnitude."""
    return math.sqrt(abs(value))


def square(value):
    """The value times itself."""
    return value * value


def squash(value):
    """Hyperbolic tangent."""
    return math.tanh(value)


def over(value, by):
    """A quotient; a divisor smaller than LEAST counts as LEAST."""
    return value / math.copysign(max(abs(by), LEAST), by)


def left(level):
    """Share unsolved above one half; 0 where the size is solved."""
    return 0.0 if level["solved"] else max(level["unsolved"] - 0.5, 0.0)


def back(levels, level):
    """Octaves from this size to the largest that was run."""
    return math.log2(levels[-1]["n"] / level["n"])


def reach(levels):
    """Largest size solved, at least 1."""
    return max([level["n"] for level in levels if level["solved"]], default=1.0)


def mean(levels, values):
    """Over all sizes."""
    return math.fsum(kept(values)) / len(values)


def highest(levels, values):
    """Over all sizes."""
    return max(kept(values))


def lowest(levels, values):
    """Over all sizes."""
    return min(kept(values))


def last(levels, values):
    """At the largest size."""
    return kept(values)[-1]


def line(levels, values):
    """(intercept, slope) of the least-squares line through the values, over log n; one size alone has slope 0."""
    values = kept(values)
    x = [math.log(level["n"]) for level in levels]
    centre_x, centre_y = math.fsum(x) / len(x), math.fsum(values) / len(values)
    around = math.fsum((a - centre_x) ** 2 for a in x)
    slope = math.fsum((a - centre_x) * (b - centre_y) for a, b in zip(x, values, strict=True)) / around if around > LEAST else 0.0
    return centre_y - slope * centre_x, slope


def slope(levels, values):
    """Growth of the values with log n."""
    return line(levels, values)[1]


def forecast(levels, values, size):
    """The line in log n, at a size."""
    start, growth = line(levels, values)
    return start + growth * math.log(size)


def tail(levels, values, count):
    """Mean over the largest sizes."""
    return mean(levels[-count:], values[-count:])


def tail_slope(levels, values, count):
    """Growth with log n over the largest sizes."""
    return slope(levels[-count:], values[-count:])


def spread(levels, values):
    """Standard deviation over the sizes."""
    centre = mean(levels, values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in kept(values)) / len(values))


def rise(levels, values):
    """Largest growth with log n between two neighbouring sizes; 0 where there is one."""
    values = kept(values)
    pairs = zip(levels, levels[1:], values, values[1:], strict=False)
    return max([(high - low) / math.log(b["n"] / a["n"]) for a, b, low, high in pairs], default=0.0)


def weighted(levels, values, power):
    """Mean with weights n**power."""
    weights = [(level["n"] / levels[-1]["n"]) ** power for level in levels]
    return math.fsum(weight * value for weight, value in zip(weights, kept(values), strict=True)) / math.fsum(weights)


def quantile(levels, values, share):
    """Over the sizes, between the two nearest in proportion."""
    values = sorted(kept(values))
    place = share * (len(values) - 1)
    low = int(place)
    return values[low] + (place - low) * (values[min(low + 1, len(values) - 1)] - values[low])
