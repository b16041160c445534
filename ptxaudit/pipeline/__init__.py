"""From inputs to examined kernels: loaded, analysed, put together; `kernels.examine_kernels` is the tool on one
page.
"""
