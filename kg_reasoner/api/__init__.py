"""The programming interface: the `Reasoner`, its transactions, subscriptions, streams, named graphs and documents."""
