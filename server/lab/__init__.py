"""
The ranking lab: replays a file of stories and compares what orders and weights would have shown.

It needs neither a store nor a server. The formulas are those of `store/ranking/formulas.py`.
"""
