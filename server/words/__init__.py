"""
The texts of the pages. `LANGUAGE.ftl` in this folder has the texts of a language, as messages of Fluent
(https://projectfluent.org). Both the HTML that the server renders and the script that takes over in the browser
(`reader/`) use them. `site/words.ftl` and `site/LANGUAGE.ftl` of the operator override them.
"""
