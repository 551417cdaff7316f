"""Terms as integers, relations and their indexes, kernels."""
