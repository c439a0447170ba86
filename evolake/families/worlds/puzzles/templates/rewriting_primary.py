"""The primary of rewriting."""

WHICH = WHERE = ""
__answer__ = __constants__ = None
# --- program ---
"""One text, searched and changed."""

__constants__


def solution(inputs):
    word, used = inputs["word"], []
    numbered = list(enumerate(inputs["rules"], start=1))
    if WHICH == "highest":
        numbered.reverse()
    for _ in range(inputs["steps"]):
        used.append(0)
        for number, (old, new) in numbered:
            at = word.find(old) if WHERE == "left" else word.rfind(old)
            if at >= 0:
                word = word[:at] + new + word[at + len(old) :]
                used[-1] = number
                break
    __answer__
