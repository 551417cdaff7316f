"""What semi-naive evaluation will need, found in its plans beforehand: sizes, indexes, bits of terms, the order of relations."""
