"""What the blind reviewer runs on a statement."""

TEXT = None
__reader__ = __strategy__ = None
# --- program ---
import json

reader, strategy = {}, {}
exec(__reader__, reader)
exec(__strategy__, strategy)
inputs = json.loads(json.dumps(reader["read"](TEXT)))
answer = strategy["solution"](inputs)
if isinstance(answer, dict) and answer.get("status") == "schema_error":
    answer = "N/A"
print("\\boxed{" + (answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, default=str)) + "}")
