"""The shell: commands in DDlog's format, SPARQL queries and rules, from a terminal, a pipe or a file.

`text_parts` splits text into statements, `commands` reads DDlog's, `session` executes them on a reasoner and prints the results of
them (`records`), and `terminal` asks for lines with completion, highlighting and a history.
"""
