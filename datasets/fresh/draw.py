#!/usr/bin/env python3
"""Draws the kinds of the fresh programs from the kernels of public suites.

The lists hold published names only. A name is dropped, before the draw, if its method
is that of a program of datasets/suite or datasets/practice.
"""
import random

DRAWN, LONGER = 14, 21  # a sample of 21 begins with that of 14; see the check below

SUITES = {
    "PolyBench/C 4.2": """2mm 3mm adi atax bicg cholesky correlation covariance deriche
        doitgen durbin fdtd-2d floyd-warshall gemm gemver gesummv gramschmidt heat-3d
        jacobi-1d jacobi-2d lu ludcmp mvt nussinov seidel-2d symm syr2k syrk trisolv
        trmm""".split(),
    "Rodinia 3.1": """b+tree backprop bfs cfd dwt2d gaussian heartwall hotspot hotspot3D
        huffman hybridsort kmeans lavaMD leukocyte lud mummergpu myocyte nn nw
        particlefilter pathfinder srad streamcluster""".split(),
    "Parboil": """bfs cutcp histo lbm mri-gridding mri-q sad sgemm spmv stencil
        tpacf""".split(),
    "mini-apps": """AMG CloverLeaf CoMD Graph500 HPCCG Kripke LULESH RSBench SNAP TeaLeaf
        XSBench miniFE miniGhost miniMD""".split(),
    "Livermore": [
        "hydro fragment", "incomplete Cholesky conjugate gradient", "inner product",
        "banded linear equations", "tridiagonal elimination",
        "general linear recurrence (6)", "equation of state fragment",
        "ADI integration", "integrate predictors", "difference predictors", "first sum",
        "first difference", "2-D particle in cell", "1-D particle in cell",
        "casual Fortran", "Monte Carlo search", "implicit conditional computation",
        "2-D explicit hydrodynamics", "general linear recurrence (19)",
        "discrete ordinates transport", "matrix product", "Planckian distribution",
        "2-D implicit hydrodynamics", "location of first minimum",
    ],
    # Without basicmath, typeset, ghostscript, ispell, rsynth, sphinx and pgp.
    "MiBench": """adpcm bitcount blowfish CRC32 dijkstra FFT GSM jpeg lame mad patricia
        qsort rijndael sha stringsearch susan tiff2bw tiff2rgba tiffdither
        tiffmedian""".split(),
}

DROPPED = {
    ("PolyBench/C 4.2", "2mm"): "gemmtile",
    ("PolyBench/C 4.2", "3mm"): "gemmtile",
    ("PolyBench/C 4.2", "gemm"): "gemmtile",
    ("Parboil", "sgemm"): "gemmtile",
    ("Livermore", "matrix product"): "gemmtile",
    ("PolyBench/C 4.2", "adi"): "adi (practice), solver3d",
    ("Livermore", "ADI integration"): "adi (practice), solver3d",
    ("PolyBench/C 4.2", "cholesky"): "cholesky",
    ("PolyBench/C 4.2", "floyd-warshall"): "floyd",
    ("PolyBench/C 4.2", "heat-3d"): "heat3d",
    ("Rodinia 3.1", "hotspot3D"): "heat3d",
    ("Parboil", "stencil"): "heat3d",
    ("mini-apps", "miniGhost"): "heat3d",
    ("PolyBench/C 4.2", "jacobi-1d"): "jacobi2d",
    ("PolyBench/C 4.2", "jacobi-2d"): "jacobi2d",
    ("Rodinia 3.1", "hotspot"): "jacobi2d",
    ("PolyBench/C 4.2", "lu"): "lufact",
    ("PolyBench/C 4.2", "ludcmp"): "lufact",
    ("Rodinia 3.1", "lud"): "lufact",
    ("Rodinia 3.1", "gaussian"): "lufact",
    ("PolyBench/C 4.2", "seidel-2d"): "seideltile",
    ("Livermore", "2-D implicit hydrodynamics"): "seideltile",
    ("PolyBench/C 4.2", "syrk"): "syrk",
    ("PolyBench/C 4.2", "syr2k"): "syrk",
    ("PolyBench/C 4.2", "trisolv"): "trsolve",
    ("PolyBench/C 4.2", "trmm"): "trsolve",
    ("Rodinia 3.1", "bfs"): "bfs",
    ("Parboil", "bfs"): "bfs",
    ("mini-apps", "Graph500"): "bfs",
    ("Rodinia 3.1", "huffman"): "huff (practice)",
    ("Rodinia 3.1", "hybridsort"): "mergesort",
    ("Rodinia 3.1", "lavaMD"): "nbody",
    ("mini-apps", "CoMD"): "md",
    ("mini-apps", "miniMD"): "md",
    ("Rodinia 3.1", "nw"): "align",
    ("Parboil", "lbm"): "lbm",
    ("Parboil", "spmv"): "spmv",
    ("mini-apps", "HPCCG"): "cgmesh, spmv",
    ("mini-apps", "TeaLeaf"): "cgmesh",
    ("mini-apps", "LULESH"): "lagrange",
    ("mini-apps", "Kripke"): "sweep",
    ("mini-apps", "SNAP"): "sweep",
    ("mini-apps", "XSBench"): "transport",
    ("Livermore", "1-D particle in cell"): "bspl (practice)",
    ("Livermore", "2-D particle in cell"): "bspl (practice)",
    ("MiBench", "FFT"): "fft",
}

names = [(suite, name) for suite, members in SUITES.items() for name in members]
unknown = set(DROPPED) - set(names)
assert not unknown, unknown
kept = sorted(
    (name.casefold(), name, suite) for suite, name in names if (suite, name) not in DROPPED
)
kept = [f"{name} ({suite})" for _, name, suite in kept]
drawn = random.Random(20261129).sample(kept, DRAWN)
longer = random.Random(20261129).sample(kept, LONGER)
assert longer[:DRAWN] == drawn
print(f"{len(names)} names, {len(DROPPED)} dropped, {len(kept)} to draw from:")
for name in kept:
    print(f"  {name}")
print(f"drawn, and from {DRAWN + 1} on in reserve:")
for i, name in enumerate(longer, 1):
    print(f"  {i:2} {name}")
