"""Boxes by volume; for each one and each size of a nest, the number of nests of which it is the outermost."""

FITS = "smaller"
TURNING = "fixed"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("boxes"), list) or not isinstance(inputs.get("chain"), int):
        return {"status": "schema_error", "detail": "boxes and chain"}
    boxes = [sorted(box) if TURNING == "turned" else list(box) for box in inputs["boxes"]]
    boxes.sort(key=lambda box: box[0] * box[1] * box[2])
    nests = []
    for number, box in enumerate(boxes):
        counts = [1] + [0] * (inputs["chain"] - 1)
        for inner in range(number):
            gaps = [large - small for large, small in zip(box, boxes[inner], strict=True)]
            if min(gaps) > 0 or (FITS == "flat" and min(gaps) == 0 and max(gaps) > 0):
                for size in range(1, inputs["chain"]):
                    counts[size] += nests[inner][size - 1]
        nests.append(counts)
    return sum(counts[-1] for counts in nests)
