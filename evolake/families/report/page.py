"""The families line's part of the page."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from evolake.families.report import paper
from evolake.families.report.data import DUPLICATE, LINE, FamiliesReport, read_report
from evolake.families.report.figures import report_figures
from evolake.report.html import Section, esc, picture, section, table

STATEMENT = 2500
LESSONS = 30


def families_section(root: Path, cycle: str) -> Section:
    """What there is, what the gates did and cost, figures beside the paper's, planted faults, examples."""
    report = read_report(root, cycle)
    figures = report_figures(report)
    lead = headline(report)
    parts = [
        f"<h1>Cycle {cycle} of the families line</h1>",
        f'<p class="note">backend {esc(report.backend)}; the paper is SSLogic: its figures are of another pipeline on other seeds, run by models</p>',
        f'<p class="lead">{lead}</p>', f"<p>{esc(label_sentence(report))}</p>", f"<p>{esc(duplicate_sentence(report))}</p>",
        picture("Gates", figures["Gates"]),
        '<p class="note">The paper gives shares of all its 100 traces, not of those that came to the gate: '
        f'{paper.GATE_RATES["quality"]:.0%} passed its quality check, {paper.GATE_RATES["consensus"]:.0%} consensus, '
        f'{paper.GATE_RATES["blind"]:.0%} blind review.</p>',
        section("By operator", report.funnel),
        section("What attempts took", _spent(report)), f"<p>{esc(cost_sentence(report))}</p>",
        section("What was blocked, and by which rule", report.blocked), section("Kinds of failure", report.failures),
        section("Blind reviews that match, of five", _reviews(report)),
        picture("Growth", figures["Growth"]), section("Cycles", report.made), section("Draws that were dropped", report.dropped),
        picture("Categories", figures["Categories"]), picture("Complexity", figures["Complexity"]), section("Mean complexity", _complexity(report)),
        '<p class="note">The paper counts Halstead\'s operators over every node of the tree, radon those of expressions: compare what evolution did '
        "to the seeds, not the levels.</p>",
        section("Inferred time classes, share of families", _classes(report)), section("Patterns, share of families", _patterns(report)),
        *_faults(report, figures), *_drift(report), *_audit(report),
        section("Lessons in force", report.experience.select("cycle", "item").head(LESSONS)),
        *_examples(report),
    ]
    return Section(LINE, cycle, lead, parts, figures)


def headline(report: FamiliesReport) -> str:
    """Families and instances, of this cycle and so far."""
    now = report.made.filter(pl.col("cycle") == report.cycle).to_dicts()
    fresh = now[0] if now else {"accepted": 0, "attempts": 0}
    return (
        f"<b>{len(report.accepted)} families</b> passed every gate so far, {len(report.evolved)} of them evolved, with "
        f"<b>{report.labels['instances']:,} instances</b>; this cycle {fresh['accepted']} of {fresh['attempts']} attempts were accepted."
    )


def label_sentence(report: FamiliesReport) -> str:
    """How labels came about."""
    labels = report.labels
    if not labels["instances"]:
        return "No instance has been sampled."
    return (
        f"{labels['by_majority']:,} of {labels['instances']:,} labels have a strict majority of their voters, {labels['unanimous']:,} are unanimous; "
        f"{labels['instances'] - labels['texts']:,} texts occur more than once."
    )


def duplicate_sentence(report: FamiliesReport) -> str:
    """Near-duplicates that were kept out, and that are in."""
    stopped = sum(row["blocked"] for row in report.blocked.to_dicts() if row["rule_id"] == "families-near-duplicate")
    return (
        f"{len(report.duplicates)} pairs of accepted families are near-duplicates (the same code but for names; {DUPLICATE['answers']:.0%} of the "
        f"answers on shared seeds; or {DUPLICATE['both']:.0%} of code and answers); {stopped} candidates were blocked for being one."
    )


def cost_sentence(report: FamiliesReport) -> str:
    """Rejected against accepted, and the price of an accepted family; beside the paper's."""
    spent = {row["outcome"]: row for row in report.resources.to_dicts()}
    said = "No attempt was rejected, so there is no ratio of costs."
    if {"accepted", "rejected"} <= spent.keys() and spent["accepted"]["cpu_s"]:
        ratio = spent["rejected"]["cpu_s"] / spent["accepted"]["cpu_s"]
        said = f"A rejected attempt took {ratio:.1f} times the cpu time of an accepted one (runtime in the paper: {paper.RUNTIME_RATIO} times)."
    if report.evolved and report.costs["usd"]:
        each = report.costs["usd"] / len(report.evolved)
        return said + f" An accepted family cost ${each:.2f}, rejected ones included (the paper: ${paper.USD_EACH})."
    return said + f" No model was paid for; the paper's families cost ${paper.USD_EACH} each."


def _spent(report: FamiliesReport) -> pl.DataFrame:
    return report.resources.with_columns(pl.col("jail_calls").round(1), pl.col("cpu_s", "wall_s").round(2), pl.col("usd").round(2))


def _reviews(report: FamiliesReport) -> pl.DataFrame:
    ours = dict(report.reviews.iter_rows())
    return pl.DataFrame([{"matches": n, "families_here": ours.get(n, 0), "the_paper": paper.BLIND_PASSES.get(n)} for n in sorted({*ours, *range(6)})])


def _complexity(report: FamiliesReport) -> pl.DataFrame:
    """Means: ours by group, then the paper's."""
    columns = list(paper.COMPLEXITY["seed"])
    groups = {"seeds here": pl.col("operator") == "seed", "evolved here": pl.col("operator") != "seed"}
    rows = []
    for name, chosen in groups.items():
        frame = report.measured.filter(chosen)
        rows.append({"source": name, "families": frame.height} | {column: round(_mean(frame, column), 1) for column in columns if frame.height})
    rows += [{"source": f"the paper, {name}", "families": None, **values} for name, values in paper.COMPLEXITY.items()]
    return pl.DataFrame(rows)


def _mean(frame: pl.DataFrame, column: str) -> float:
    return float(frame[column].cast(pl.Float64).mean() or 0.0)  # pyright: ignore[reportArgumentType]


def _classes(report: FamiliesReport) -> pl.DataFrame:
    seeds, evolved = (report.measured.filter(chosen) for chosen in (pl.col("operator") == "seed", pl.col("operator") != "seed"))
    names = sorted(set(report.measured["time_class"].to_list()))
    return pl.DataFrame([
        {"class": name} | {
            said: f"{(frame['time_class'] == name).sum() / max(frame.height, 1):.0%}" for said, frame in (("seeds", seeds), ("evolved", evolved))
        }
        for name in names
    ])


def _patterns(report: FamiliesReport) -> pl.DataFrame:
    seeds, evolved = (report.measured.filter(chosen) for chosen in (pl.col("operator") == "seed", pl.col("operator") != "seed"))
    names = ("recursive", "binary_search", "sorting", "dynamic_programming", "graph_traversal", "divide_and_conquer")
    return pl.DataFrame([
        {"pattern": name.replace("_", " ")} | {
            said: f"{frame[name].sum() / max(frame.height, 1):.0%}" for said, frame in (("seeds", seeds), ("evolved", evolved))
        }
        for name in names
    ])


def _faults(report: FamiliesReport, figures: dict[str, bytes]) -> list[str]:
    """The kill rates, and what no gate sees."""
    if report.kills.is_empty():
        return ["<h2>Planted faults</h2>", '<p class="note">not measured; materialize families/fault_kill_rates</p>']
    meant = report.kills.filter(pl.col("expected") != "none").unique("fault")
    unseen = sorted(set(report.kills.filter(pl.col("caught") < pl.col("planted"))["fault"].to_list()))
    said = f"{meant['caught'].sum()} of {meant['planted'].sum()} planted faults of {meant.height} classes are caught. "
    said += f"Seen by no gate: {', '.join(unseen)}. What text and all programs have wrong together is seen only by a reader of the text."
    return [picture("Planted faults", figures["Planted faults"]), f"<p>{esc(said)}</p>"]


def _drift(report: FamiliesReport) -> list[str]:
    if report.drift.is_empty():
        return ["<h2>Difficulty drift</h2>", '<p class="note">not measured: no solver model is named for the role families_solver</p>']
    return [section("Difficulty drift: pass@k of a solver model on new families and their parents", report.drift.drop("cycle"))]


def _audit(report: FamiliesReport) -> list[str]:
    if report.grades.is_empty():
        return ["<h2>Human audit</h2>", '<p class="note">none yet: <code>evolake families audit export</code></p>']
    from evolake.families.dataset.audit import audit_summary

    found = audit_summary(report.grades.to_dicts())
    interval, theirs = f"95% interval {found['usable_low']:.0%} to {found['usable_high']:.0%}", paper.AUDIT
    said = f"{found['usable']} of {found['graded']} graded families are usable ({interval}), {found['fully_correct']} fully correct. "
    said += f"The paper: {theirs['usable']} and {theirs['fully_correct']} of {theirs['families']}."
    return ["<h2>Human audit</h2>", f"<p>{esc(said)}</p>"]


def _examples(report: FamiliesReport) -> list[str]:
    """One accepted family an operator, its shortest instance."""
    parts = ["<h2>Accepted in this cycle, one an operator</h2>"]
    for row in report.examples:
        answer = json.loads(row["answer"])
        shown = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        cut = row["text"][:STATEMENT] + ("…" if len(row["text"]) > STATEMENT else "")
        facts = pl.DataFrame([{
            "operator": row["operator"], "category": row["category"], "difficulty": row["difficulty"], "label": shown,
            "votes": f"{row['votes']} of {row['voters']}", "family": row["family_id"],
        }])
        parts.append(f"<h3>{esc(row['title'])}</h3>{table(facts)}<pre style='white-space: pre-wrap'>{esc(cut)}</pre>")
    return parts if report.examples else [*parts, '<p class="note">none</p>']
