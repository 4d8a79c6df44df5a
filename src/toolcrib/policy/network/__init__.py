"""Rules about the network: one way to read a URL, hosts that may be reached, addresses that count as private.

All of it is text and numbers. Names are looked up and connections made in `toolcrib.network`.
"""
