"""A vector of letter counts, moved on step by step."""

from collections import Counter

PACE = "all"
WANTED = "B"


def solution(inputs):
    if not isinstance(inputs, dict) or not {"rules", "start", "steps"} <= set(inputs):
        return {"status": "schema_error", "detail": "rules, start, steps"}
    images = {letter: Counter(word) for letter, word in inputs["rules"]}
    counts = Counter(inputs["start"])
    for step in range(1, inputs["steps"] + 1):
        following = Counter()
        for letter, number in counts.items():
            if PACE == "rest" and letter == "A" and step % 2 == 0:
                following["A"] += number
                continue
            for other, times in images[letter].items():
                following[other] += number * times
        counts = following
    return sum(counts.values()) if WANTED == "all" else counts[WANTED]
