"""Region after region, the first colour that no neighbour has, and back where there is none."""


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("borders"), list) or not isinstance(inputs.get("regions"), int):
        return {"status": "schema_error", "detail": "regions, colours, borders"}
    near = {region: set() for region in range(1, inputs["regions"] + 1)}
    for one, two in inputs["borders"]:
        near[one].add(two)
        near[two].add(one)
    chosen = {}

    def paint(region):
        if region > inputs["regions"]:
            return True
        for colour in range(1, inputs["colours"] + 1):
            if all(chosen.get(other) != colour for other in near[region]):
                chosen[region] = colour
                if paint(region + 1):
                    return True
                del chosen[region]
        return False

    if not paint(1):
        return {"status": "schema_error", "detail": "no colouring"}
    return [chosen[region] for region in sorted(chosen)]
