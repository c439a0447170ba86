"""An answer decides a rule: the generator."""

part_a = part_b = None
# --- program ---

make_a, make_b = part_a(), part_b()


def input(difficulty):
    second, more = make_b(difficulty)
    first, texts = make_a(difficulty)
    return {"a": first, "b": second}, [*texts, *more]
