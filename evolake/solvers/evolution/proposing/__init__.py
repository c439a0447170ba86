"""From plans to variants: `propose` carries out the plans of a cycle, `write` one of them, by `draft`,
`request` and `excerpt`."""
