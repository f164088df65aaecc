"""
The texts of the pages: `LANGUAGE.ftl` in this folder has those of a language as messages of Fluent (https://projectfluent.org),
for the HTML that the server renders and for the script that takes over in the browser (`reader/`). `site/words.ftl` and
`site/LANGUAGE.ftl` of the operator override them.
"""
