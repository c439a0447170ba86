"""A code location of toy lines under the same policy as the real one. Each end-to-end test has a line of its
own; only `gated` has a check."""

from toy_location.lines import toy_line

from pipelines.policy import define

lines = [
    toy_line(name)
    for name in ("ordered", "failing", "changed", "left", "right", "killed", "nightly", "clicked")
]
lines.append(toy_line("gated", checked=True))
defs = define(lines)
