"""Measurements in processes: CPU time, wall time and memory."""
