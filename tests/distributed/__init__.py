"""Plans for Spark, evaluated by the stand-in."""
