"""The rule language: text to programs and back, what is wrong with a program, and which of its rules can fire."""
