"""The standard library of the rule language: `import "std/graph.dl" as net .`"""
