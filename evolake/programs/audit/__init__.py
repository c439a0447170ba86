"""Audits: can a project's score be forged, is it a measurement, is a gain real? See docs/audit.md."""
