"""The speed and memory figures that docs/speed.md quotes: `python -m bench` prints all of them."""
