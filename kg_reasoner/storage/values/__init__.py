"""Values of terms on columns of ids: arithmetic, comparisons, the order of terms."""
