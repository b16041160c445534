"""The names of the report formats, for `--format`, known without importing the formats."""

NAMES = ("text", "json", "sarif", "html", "github", "gitlab", "junit", "markdown", "gcc", "jsonl")
