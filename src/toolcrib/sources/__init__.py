"""Where tools come from: one module or package per origin, all giving ordinary tools. Nothing here decides."""
