"""Planning on the driver before Spark runs. Nothing here imports pyspark."""
