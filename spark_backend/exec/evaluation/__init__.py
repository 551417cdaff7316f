"""Semi-naive evaluation of strata: rules as joins, transitive closures, the last phase on the driver; overdeletion."""
