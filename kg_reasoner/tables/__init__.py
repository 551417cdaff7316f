"""Tables of other libraries as facts: Arrow, Polars, pandas, Parquet, CSV, JSON lines, and the results of SQL queries.

Every source becomes batches of Arrow (`sources`, `files`), whose columns become ids of terms (`encoding`), one distinct
value at a time: no Python object is made for a cell.
"""
