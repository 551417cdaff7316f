"""What tests of several rooms share: oracles, random programs, fixtures as text, the effort of a run."""
