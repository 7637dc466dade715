#!/usr/bin/env python3
"""Draws the kinds of the second fresh programs, from what draw.py left.

What it drew is dropped, and what has the method of a program drawn there.
"""
import contextlib
import io
import random

with contextlib.redirect_stdout(io.StringIO()):
    import draw

DRAWN, LONGER = 12, 15  # a sample of 15 begins with that of 12; see the check below

SAME = {
    "bicg (PolyBench/C 4.2)": "atax",
    "mvt (PolyBench/C 4.2)": "atax",
    "hydro fragment (Livermore)": "eos",
}

unknown = set(SAME) - set(draw.kept)
assert not unknown, unknown
kept = [name for name in draw.kept if name not in SAME and name not in draw.drawn]
drawn = random.Random(20261130).sample(kept, DRAWN)
longer = random.Random(20261130).sample(kept, LONGER)
assert longer[:DRAWN] == drawn
print(f"{len(draw.kept)} names, {len(draw.drawn)} drawn before, {len(SAME)} dropped,",
      f"{len(kept)} to draw from:")
for name in kept:
    print(f"  {name}")
print(f"drawn, and from {DRAWN + 1} on in reserve:")
for i, name in enumerate(longer, 1):
    print(f"  {i:2} {name}")
