"""What is measured: generated data, rules, jobs, and streams of updates."""
