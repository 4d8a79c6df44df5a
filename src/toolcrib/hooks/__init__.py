"""Hooks: watchers around calls that may veto, never change. One file per way a hook can run."""
