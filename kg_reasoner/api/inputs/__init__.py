"""What programs give to a reasoner: values, rules, functions and labels."""
