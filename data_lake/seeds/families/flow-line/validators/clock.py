"""A clock: in each minute the pieces that can move do so, from the last machine to the first."""

SEQUENCE = "up"
ROOM = "plenty"


def solution(inputs):
    try:
        times, asked = inputs["times"], inputs["asked"]
        count = len(times[0])
    except (TypeError, KeyError, IndexError):
        return {"status": "schema_error", "detail": "times and asked"}
    numbers = list(range(1, len(times) + 1))
    queues = [numbers if SEQUENCE == "up" else numbers[::-1]] + [[] for _ in range(count - 1)]
    on = [None] * count
    minute = 0
    while any(queues) or any(on):
        for machine in range(count - 1, -1, -1):
            if on[machine] and on[machine][1] == 0:
                piece = on[machine][0]
                if machine == count - 1:
                    if piece == asked:
                        return minute
                    on[machine] = None
                elif ROOM == "plenty" or on[machine + 1] is None:
                    queues[machine + 1].append(piece)
                    on[machine] = None
                    start(machine + 1, queues, on, times)
            start(machine, queues, on, times)
        minute += 1
        on = [state and [state[0], max(0, state[1] - 1)] for state in on]
    return {"status": "schema_error", "detail": "asked is not a piece"}


def start(machine, queues, on, times):
    if on[machine] is None and queues[machine]:
        piece = queues[machine].pop(0)
        on[machine] = [piece, times[piece - 1][machine]]
