"""Guesses at an answer from a question's data alone, without its text: name of a guess -> the guess."""

# --- program ---

from collections import Counter


def solution(inputs):
    numbers, texts, rows, waiting = [], [], [], [inputs]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            numbers.append(value)
        elif isinstance(value, (list, dict)):
            parts = list(value.values() if isinstance(value, dict) else value)
            if isinstance(value, list) and len(parts) > 1:
                rows.append(parts)
            waiting += parts[::-1]
    guesses = {"yes": True, "no": False}
    if numbers:
        ordered = sorted(numbers)
        guesses |= {
            "first number": numbers[0],
            "last number": numbers[-1],
            "smallest number": ordered[0],
            "largest number": ordered[-1],
            "middle number": ordered[len(ordered) // 2],
            "commonest number": Counter(numbers).most_common(1)[0][0],
            "sum of the numbers": sum(numbers),
            "largest less smallest": ordered[-1] - ordered[0],
            "different numbers": len(set(numbers)),
        }
    if texts:
        ranked = Counter(texts).most_common()
        guesses |= {
            "first word": texts[0],
            "last word": texts[-1],
            "commonest word": ranked[0][0],
            "rarest word": ranked[-1][0],
            "first word by the alphabet": min(texts),
        }
    if rows:
        longest = max(rows, key=len)
        guesses |= {"length": len(longest), "row": longest, "row backwards": longest[::-1]}
        if all(isinstance(item, str) for item in longest) or all(isinstance(item, int) for item in longest):
            guesses["row in order"] = sorted(longest)
    return guesses
