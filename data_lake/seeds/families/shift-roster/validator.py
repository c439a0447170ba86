"""The open place with the fewest people left comes next, and of those the person with the lowest number."""


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("roster"), list):
        return {"status": "schema_error", "detail": "roster"}
    grid = [list(row) for row in inputs["roster"]]
    return grid if filled(grid) else {"status": "schema_error", "detail": "no roster"}


def filled(grid):
    size = len(grid)
    best = None
    for row in range(size):
        for column in range(size):
            if not grid[row][column]:
                taken = set(grid[row]) | {line[column] for line in grid}
                free = [name for name in range(1, size + 1) if name not in taken]
                if best is None or len(free) < len(best[2]):
                    best = (row, column, free)
    if best is None:
        return True
    row, column, free = best
    for name in free:
        grid[row][column] = name
        if filled(grid):
            return True
    grid[row][column] = 0
    return False
