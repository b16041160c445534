"""Measures the gain of `ptxaudit fix --patch`: kernels before and after, counted and timed on a GPU (docs/fixes.md).

python -m bench.repairs build kernels/                     # anywhere: repairs, compiles and predicts
python -m bench.repairs measure kernels/ -o repairs.json   # on a GPU with ncu on the PATH
python -m bench.repairs document repairs.json              # writes the table of docs/fixes.md
"""
