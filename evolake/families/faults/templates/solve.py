"""A validator around a validator."""

part = None
__expression__ = __head__ = None
# --- program ---

import json

solve = part()
__head__

def solution(inputs):
    given = json.loads(json.dumps(inputs))
    answer = solve(given)
    if isinstance(answer, dict) and answer.get("status") == "schema_error":
        return answer
    return __expression__
