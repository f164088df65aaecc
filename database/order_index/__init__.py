"""
Indexes in SQL that find ranks as well as ranges: one for each listing of archived articles, which the database alone
has. A place is an article with its value in a listing.
"""
