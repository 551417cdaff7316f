"""Options that several commands share: for reasoners, loading, limits, labels and tables; checks of their values."""
