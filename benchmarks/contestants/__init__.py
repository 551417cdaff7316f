"""One module per contestant. Each runs in its own process; none imports another."""
