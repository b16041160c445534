"""Measures what machine instructions do to shared memory: loads, stores and atomics, on a GPU, against the lifter.

    python -m bench.shared_encodings plan FOLDER                    no GPU needed
    python3 bench/encodings/measure.py FOLDER -o OUT                on a GPU; needs numpy and cuda-bindings
    python -m bench.shared_encodings check FOLDER OUT               registers and a digest of memory are compared

As `bench.encodings`, with shared memory that is filled before each instruction. Each lane has addresses of its own;
modifiers, scales, uniform registers and offsets of the address vary.
"""
