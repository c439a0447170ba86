import random


def input(difficulty):
    count = 4 + difficulty
    alarms = 4 + difficulty // 2
    faults = [sorted(random.sample(range(1, alarms + 1), random.randint(1, 2 + difficulty // 4))) for _ in range(count)]
    present = random.sample(range(count), random.randint(2, 2 + difficulty // 3))
    ringing = sorted({alarm for number in present for alarm in faults[number]})
    most = random.randint(len(present), min(count, len(present) + 2))
    lines = [f"- fault {number} sets off {', '.join(f'alarm {alarm}' for alarm in caused)}" for number, caused in enumerate(faults, start=1)]
    inputs = {"alarms": alarms, "faults": faults, "ringing": ringing, "most": most}
    return inputs, [str(alarms), "\n".join(lines), ", ".join(map(str, ringing)), str(most)]
