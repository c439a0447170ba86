"""A proper part of the word is empty, or a pair, what it encloses, and the rest: dynamic programming over intervals."""

from functools import cache

INSIDE = "any"
LIMIT = "most"


def solution(inputs):
    if not isinstance(inputs, dict) or {"word", "depth"} - set(inputs):
        return {"status": "schema_error", "detail": "word and depth"}
    word = inputs["word"]

    @cache
    def fillings(start, end, depth, banned):
        if start == end:
            return 1
        if depth <= 0:
            return 0
        total = 0
        for letter in "ab":
            if word[start] not in (letter, "?") or (banned and letter == "a"):
                continue
            inner = banned or (INSIDE == "ban" and letter == "b")
            for close in range(start + 1, end, 2):
                if word[close] in (letter.upper(), "?"):
                    total += fillings(start + 1, close, depth - 1, inner) * fillings(close + 1, end, depth, banned)
        return total

    whole = [fillings(0, len(word), depth, False) for depth in (inputs["depth"], inputs["depth"] - 1)]
    return whole[0] if LIMIT == "most" else whole[0] - whole[1]
