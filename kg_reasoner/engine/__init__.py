"""The engine keeps facts and rules materialised: semi-naive evaluation, maintenance strategies, and merging of equal terms."""
