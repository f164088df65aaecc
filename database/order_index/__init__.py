"""Indexes in SQL of places by value, which find ranks as well as ranges: one for each listing of archived articles."""
