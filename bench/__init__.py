"""The speed and memory figures that README quotes: `python -m bench` prints all of them."""
