"""One question about several answers: the generator."""

part_a = None
__letters__ = None
# --- program ---

make_a = part_a()


def input(difficulty):
    items, lines = [], []
    cases = 3 + difficulty // 4
    for number in range(cases):
        inputs, texts = make_a(1 + difficulty // 2 if number + 1 < cases else difficulty)
        items.append(inputs)
        lines.append("[__marker__ case %d]" % (number + 1))
        for letter, text in zip(__letters__, texts):
            lines.append(letter + (":\n" if "\n" in text else ": ") + text)
        lines.append("")
    return {"items": items}, ["\n".join([*lines, "[End of __marker__ cases]"])]
