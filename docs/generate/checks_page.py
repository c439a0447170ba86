"""Reference of asset checks: which are suites of Great Expectations and what each expects, and which are
plain, with the reason."""

from __future__ import annotations

from cells import code, table

from assets.checks import SUITE, SuiteName
from pipelines.lines import built_lines, built_studies

HEAD = """# Asset checks

Each check is a row of the table `checks` and an asset check in the UI. A suite is judged by Great Expectations. It is declared by predicates,
each of which becomes an expectation (`assets/expectations.py` lists the forms): in `rows` of the table's entry in `tables.toml`, or, if it needs
rows of several tables, next to the query that joins them. `blocking`: a cycle in which it fails is not sealed. `make dev` serves the Data Docs of
every cycle, and the page `<line>/story` links to them.
"""  # noqa: E501
PLAIN = """
## Plain checks

These look at several tables, or at what is not a table, and warn instead of judging rows. They are no suites.

"""


def checks_page() -> str:
    """Return the page: the plain checks, then the suites of each line."""
    built = [(item.line.name, item) for item in built_lines()]
    built += [(item.study.name, item) for item in built_studies()]
    plain, sections = [], []
    for name, item in built:
        rows = []
        for spec in (spec for check in item.checks for spec in check.check_specs):
            suite = spec.metadata.get(SUITE)
            if isinstance(suite, SuiteName):
                shown = "; ".join(code(text) for text in suite.suite.predicates) or "written out in Python"
                blocks = "yes" if spec.blocking else "no"
                rows.append([code(spec.asset_key.path[-1]), code(spec.name), blocks, spec.description, shown])
            else:
                plain.append([code(spec.asset_key.to_user_string()), code(spec.name), spec.description])
        heads = ["asset", "check", "blocking", "meaning", "what is expected"]
        sections.append(f"\n## {name}\n\n{table(heads, rows)}")
    return HEAD + PLAIN + table(["asset", "check", "meaning"], plain) + "".join(sections)
