"""The machines: how each generation splits a shared-memory request, as records with sources; and the counting."""
