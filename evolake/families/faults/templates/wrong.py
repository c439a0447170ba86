"""An answer that is another by a number."""

# --- program ---


def wrong(answer, by):
    if isinstance(answer, bool):
        return not answer
    if isinstance(answer, str):
        return answer + "x" * by
    if isinstance(answer, dict):
        return {**answer, "extra": by}
    if isinstance(answer, (list, tuple)):
        return [*answer, *[0] * by]
    return answer + by
