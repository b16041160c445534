"""Measures single shared-memory requests on an NVIDIA GPU and compares the rules with its counters.

    python -m bench.calibrate build FOLDER                 # anywhere: a kernel per instruction, and its machine code
    python -m bench.calibrate plan -o plan.json.gz         # anywhere: the requests; seeded, so the same each time
    python -m bench.calibrate measure FOLDER plan.json.gz -o requests.json.gz     # on a GPU with ncu on the PATH
    ptxaudit calibrate --results requests.json.gz          # anywhere: rule by rule, how that GPU agrees
    python -m bench.calibrate build-forms FOLDER           # anywhere: products and bulk copies, a kernel per form
    python -m bench.calibrate measure-forms FOLDER -o forms.json.gz               # on the GPU

`instructions` has the kernels, `patterns` and `plan` the requests; `measure` runs them under the profiler.
"""
