import random

ANCHOR = True


def input(difficulty):
    count = 3 + difficulty
    truthful = [ANCHOR] + [random.random() < 0.5 for _ in range(count - 1)]
    order = list(range(1, count))
    random.shuffle(order)
    known, statements = [0], []
    for person in order:
        other = random.choice(known)
        speaker, about = random.choice([(person, other), (other, person)])
        statements.append([speaker, about, None, truthful[about] == truthful[speaker]])
        known.append(person)
    for _ in range(difficulty):
        speaker, first, second = random.sample(range(count), 3)
        statements.append([speaker, first, second, (truthful[first] == truthful[second]) == truthful[speaker]])
    random.shuffle(statements)
    numbered = [[speaker + 1, first + 1, None if second is None else second + 1, positive] for speaker, first, second, positive in statements]
    lines = []
    for speaker, first, second, positive in numbered:
        if second is None:
            lines.append(f"- Person {speaker} says: person {first} is a {'truth-teller' if positive else 'liar'}.")
        else:
            lines.append(f"- Person {speaker} says: persons {first} and {second} are of {'the same kind' if positive else 'different kinds'}.")
    return {"count": count, "statements": numbered}, [str(count), "\n".join(lines)]
