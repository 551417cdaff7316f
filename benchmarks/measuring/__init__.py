"""Measurements in processes: CPU time, wall time and memory; the settings of all commands."""
