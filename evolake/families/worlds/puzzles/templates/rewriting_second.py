"""A validator of rewriting that takes texts apart at what is replaced."""

WHICH = WHERE = ""
__answer__ = __constants__ = None
# --- program ---
"""A text is split once at a piece and joined with another."""

__constants__


def stepped(text, rules):
    """(the text after a step, the place of the rule in the list, -1 for none)."""
    for place in sorted(range(len(rules)), reverse=WHICH == "highest"):
        old, new = rules[place]
        parts = text.rsplit(old, 1) if WHERE == "right" else text.split(old, 1)
        if len(parts) == 2:
            return new.join(parts), place
    return text, -1


def solution(inputs):
    text, history = inputs["word"], []
    for _ in range(inputs["steps"]):
        text, place = stepped(text, inputs["rules"])
        history.append(place)
    __answer__
