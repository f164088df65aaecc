"""
The texts of the pages: `LANGUAGE.ftl` in this folder has those of a language as messages of Fluent (https://projectfluent.org),
for the server's HTML and for the script alike. `site/words.ftl` and `site/LANGUAGE.ftl` of the operator override them.
"""
