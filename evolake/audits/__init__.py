"""Audits as rows of a lake: `evolake audit`, its requests, and the tables of the study `audits`
(docs/audit.md). The audit itself is `evolake.programs.audit`."""
