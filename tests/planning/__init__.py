"""From rules to plans: join orders, layouts, functions and aggregates as relations."""
