"""A JAX and Pallas program, to be recorded through the driver: python pallas_program.py on a GPU, with jax."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as plgpu


def turned(x, y):
    y[...] = x[...].T


def main():
    x = jnp.arange(64 * 64, dtype=jnp.float32).reshape(64, 64)
    shape = jax.ShapeDtypeStruct((64, 64), jnp.float32)
    compiler = plgpu.CompilerParams(num_warps=4, num_stages=1)
    jax.block_until_ready(pl.pallas_call(turned, out_shape=shape, compiler_params=compiler)(x))
    jax.block_until_ready(jax.jit(lambda x: jax.nn.softmax(x @ x.T, axis=0))(x))


if __name__ == "__main__":
    main()
