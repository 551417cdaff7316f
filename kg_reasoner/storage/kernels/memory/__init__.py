"""The memory model of the kernels: structs of named fields and typed pointers, over NumPy arrays owned by Python.

A kernel is a plain Python function over these types. It runs in two modes:

* compiled: `translation` gives the types machine meaning (a struct is an address, a field is one 64-bit word);
* checked: the function runs in Python, and the classes of `checked_memory` check every access.

A struct has only 64-bit words: integers, and addresses of arrays. All kernel integers are 64 bits wide; narrower array items are
widened when read.
"""
