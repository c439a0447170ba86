"""One question about several answers: the generator."""

part_a = None
__letters__ = __more__ = None
# --- program ---

make_a = part_a()


def input(difficulty):
    items, lines = [], []
    cases = 3 + __more__ + difficulty // 4
    for number in range(cases):
        inputs, texts = make_a(1 + __more__ + difficulty // 2 if number + 1 < cases else max(difficulty, 1 + __more__))
        items.append(inputs)
        lines.append("[__marker__ case %d]" % (number + 1))
        for letter, text in zip(__letters__, texts):
            lines.append(letter + (":\n" if "\n" in text else ": ") + text)
        lines.append("")
    return {"items": items}, ["\n".join([*lines, "[End of __marker__ cases]"])]
