"""The error of one-step forecasts of a series with trend, season and a jump."""

import math

LENGTH = 160
WORST = 1000.0


def series():
    """Return the series."""
    values = []
    for k in range(LENGTH):
        season = 3 * math.sin(2 * math.pi * k / 14) + math.cos(2 * math.pi * k / 7)
        noise = 0.6 * math.sin(12.9898 * k * k)
        values.append(10 + 0.05 * k + season + noise + (4 if k > 100 else 0))
    return values


def cases(seed):
    """One: the series as text."""
    return ["\n".join(f"{value:.6f}" for value in series())]


def score(cases, results):
    """Return the root mean square error after the first 30 values."""
    values = series()
    try:
        forecasts = [float(word) for word in results[0]["output"].split()] if results[0]["status"] == "ok" else []
    except ValueError:
        return {"error": WORST}
    if len(forecasts) != LENGTH or not all(map(math.isfinite, forecasts)):
        return {"error": WORST}
    squares = [min(abs(forecasts[k] - values[k]), WORST) ** 2 for k in range(30, LENGTH)]
    return {"error": math.sqrt(math.fsum(squares) / len(squares))}
