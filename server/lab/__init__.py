"""
The ranking lab: a file of stories is replayed, and orders and their weights are compared by what they would have shown.

Neither store nor server takes part. What an order sorts by is asked of `store/ranking.py`.
"""
