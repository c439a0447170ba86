"""Instances that need certain rules: the generator."""

as_it_comes = with_all = None
__draws__ = __without__ = None
# --- program ---

import copy

draw = as_it_comes()
answer = with_all()
lacking = __without__


def needs(some, inputs, label):
    """Whether the answer is another without a rule, in some way that gives one."""
    for solution in some:
        try:
            if solution(copy.deepcopy(inputs)) != label:
                return True
        except Exception:
            continue
    return False


def input(difficulty):
    for _ in range(__draws__):
        inputs, texts = draw(difficulty)
        label = answer(copy.deepcopy(inputs))
        if all(needs(some, inputs, label) for some in lacking):
            break
    return inputs, texts
