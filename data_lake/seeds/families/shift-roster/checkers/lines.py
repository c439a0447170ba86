"""Each week and each shift, sorted, is 1, 2, 3 and so on."""


def check(inputs, answer):
    shown = inputs["roster"]
    wanted = list(range(1, len(shown) + 1))
    if not isinstance(answer, list) or len(answer) != len(shown):
        return False
    for row in answer:
        if not isinstance(row, list) or any(isinstance(name, bool) or not isinstance(name, int) for name in row) or sorted(row) != wanted:
            return False
    if any(sorted(column) != wanted for column in zip(*answer, strict=True)):
        return False
    return all(before in (0, name) for old, new in zip(shown, answer, strict=True) for before, name in zip(old, new, strict=True))
