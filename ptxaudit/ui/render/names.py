"""The names of the formats of a report: what `--format` takes, known without importing any of them."""

NAMES = ("text", "json", "sarif", "html", "github", "gitlab", "junit", "markdown", "gcc", "jsonl")
