"""The Reasoner: transactions, subscriptions, declared relations."""
