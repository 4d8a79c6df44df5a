"""One streaming reader per family of wire formats. What tells formats of a family apart is data, kept elsewhere."""
