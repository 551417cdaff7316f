"""The commands, one module for each; `kg_reasoner.cli` imports the one that runs."""
