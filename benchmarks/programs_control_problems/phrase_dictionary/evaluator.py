"""The size of tomorrow's log in percent, compressed by a dictionary that was made from today's."""

LEVELS = ["INFO", "INFO", "WARNING", "INFO", "ERROR"]
EVENTS = ["user {} logged in from 10.0.{}.17", "order {} of customer {} was paid", "order {} was sent to warehouse {}",
          "connection to database-{} timed out after {} ms", "user {} logged out"]


def log(first, lines):
    """Return a log of so many lines."""
    return "".join(
        f"2026-11-{first:02} {8 + k // 6:02}:{k * 7 % 60:02} {LEVELS[(k * k + first) % 5]} "
        f"{EVENTS[(k * 3 + k // 4) % 5].format(k * 317 % 211, k * 13 % 60)}\n" for k in range(lines))


def cases(seed):
    """One: today's log."""
    return [log(28, 50)]


def score(cases, results):
    """Return what the log takes with its dictionary, both in bytes, in percent of the log; 100 without a dictionary."""
    phrases = results[0]["output"] if results[0]["status"] == "ok" else None
    if not isinstance(phrases, list) or len(phrases) > 20 or not all(isinstance(phrase, str) and phrase for phrase in phrases):
        return {"size": 100.0}
    text = log(29, 50)
    least = [0] * (len(text) + 1)
    for place in range(len(text) - 1, -1, -1):
        least[place] = 1 + min([least[place + 1]] + [least[place + len(p)] for p in phrases if text.startswith(p, place)])
    return {"size": 100 * (least[0] + sum(len(phrase) + 1 for phrase in phrases)) / len(text)}
