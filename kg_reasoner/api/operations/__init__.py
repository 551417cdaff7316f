"""Operations of a reasoner: the core, in which they begin and end, what they may change, and who is notified."""
