"""Facts as the engine has them: rows of terms as ids, the relations that hold them, copies of told facts, changes of facts."""
