"""Documents to blocks of ids, by the kernels in `kernels.readers`; and the scanner that checks documents for other parsers."""
