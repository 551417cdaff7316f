"""What programs use: the `Reasoner`, its transactions, subscriptions, streams, named graphs and documents."""
