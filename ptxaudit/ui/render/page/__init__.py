"""Self-contained HTML pages: one file each, which loads nothing from elsewhere.

    Checked + Material  ──data──▶  JSON  ──write──▶  report.html.jinja with page.css, app.js and the JSON in it

The page draws from the JSON on demand, so that ten thousand sites open at once. It computes no figure: all figures
come from the report. A Content-Security-Policy in the page allows its own script and style by their digests, and
nothing from elsewhere.
"""
