"""Reference of asset checks: which are suites of Great Expectations and what each expects, and which are
plain, with the reason."""

from __future__ import annotations

from cells import code, table

from assets.checks import SUITE, SuiteName, suites_of
from evolake.cli.sql import all_tables
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

WITHOUT = """
## Tables without a suite

Types and names of columns are checked when a table is published, and `evolake lake verify` reads every byte. The rows of these tables are judged by
no suite of their own. A suite costs processor time in every cycle: keys alone, in the 15 such tables of a demo cycle of `families`, would take 0.42 s
more, where the cycle's 16 checks together take 2.6 s and the whole cycle 10.7 s (one run, two busy cores).

"""  # noqa: E501


def without_suite() -> dict[str, list[str]]:
    """Return line -> names of its tables that no suite judges."""
    judged = {
        suite.asset for built in (*built_lines(), *built_studies()) for suite in suites_of(built.checks)
    }
    result: dict[str, list[str]] = {}
    for line, asset in sorted(key for key in all_tables() if key not in judged):
        result.setdefault(line, []).append(asset)
    return result


def checks_page() -> str:
    """Return the page: the plain checks, tables without a suite, then the suites of each line."""
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
    bare = [[code(line), ", ".join(code(name) for name in names)] for line, names in without_suite().items()]
    start = HEAD + PLAIN + table(["asset", "check", "meaning"], plain)
    return start + WITHOUT + table(["line", "tables"], bare) + "".join(sections)
