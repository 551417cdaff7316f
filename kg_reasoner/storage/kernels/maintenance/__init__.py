"""Maintenance: deletion by backward/forward and by delete/rederive, counting, and whole updates of the common case in one call."""
