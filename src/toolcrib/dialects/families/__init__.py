"""One streaming reader per family of wire formats. What tells one format of a family from another is data, elsewhere."""
