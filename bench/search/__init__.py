"""The tool-search benchmark: builds its data, runs Toolcrib and its peers over it, prints one table.

Nothing here is imported by the product. Everything it downloads or builds goes to `.bench/search`.
"""
