"""
Rings: groups of accounts that vote for each other far more often than chance explains. The module `detection` needs
numpy, which is the extra `rings`.
"""
