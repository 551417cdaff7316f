"""What the driver decides before Spark runs. Nothing here imports pyspark."""
