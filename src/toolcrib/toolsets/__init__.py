"""Toolsets: one module (or package) here is one toolset, named like it. Each captures its services when it is built."""
