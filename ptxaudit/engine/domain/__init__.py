"""The abstract domain: a register's value in every lane of many warps, known, affine or opaque."""
