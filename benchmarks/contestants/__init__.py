"""One file a contestant. Each is run in a process of its own; none imports another."""
