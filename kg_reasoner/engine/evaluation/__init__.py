"""Semi-naive evaluation: rules as plans, the strata of the plans, and their evaluation by the kernels to the fixpoint."""
