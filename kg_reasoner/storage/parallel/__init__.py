"""Teams of threads that load, derive and delete facts, with the results of one thread."""
