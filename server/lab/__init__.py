"""
The ranking lab: replays a file of stories and compares what orders and weights would have shown. An order is a formula
that ranks stories, such as `hot`; a weight is a constant of it.

It needs neither a store nor a server. The formulas are those of `store/ranking/formulas.py`.
"""
