"""Tables of other libraries as facts: Arrow, Polars, pandas, Parquet, CSV, JSON lines, and the results of SQL queries.

Every source becomes batches of Arrow (`table_sources`, `files`), whose columns become ids of terms (`table_facts`), one distinct
value at a time: no Python object is made for a cell.
"""
