"""The HTML pages: one file each that needs nothing else, no network, no other file.

    Checked + Material  ──data──▶  JSON  ──write──▶  page.html.jinja with page.css, app.js and the JSON in it

The page draws what it shows from the JSON as it is needed, so that ten thousand sites open at once. Nothing in it
computes a figure: all of them are the report's. A Content-Security-Policy in the page allows its own script and style
by their digests, and nothing from elsewhere.
"""
