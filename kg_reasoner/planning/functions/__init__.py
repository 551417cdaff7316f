"""Functions as relations: the results of BIND and FILTER, of rows one by one, of columns, of collections, and within joins."""
