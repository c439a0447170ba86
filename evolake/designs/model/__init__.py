"""The contract of a design, its graph of operators, planted instances, and the stepper that runs one."""
