# Vector code of the cpu backend: the same source compiled once per instruction set
# (FILE.c includes it), chosen at run time. See kernels/cpu/.
