#!/usr/bin/env python3
"""Draws the kinds of the third fresh programs, from what draw2.py left.

What it drew is dropped, and what has the method of a program written since.
"""
import contextlib
import io
import random

with contextlib.redirect_stdout(io.StringIO()):
    import draw2

DRAWN, LONGER = 14, 18  # a sample of 18 begins with that of 14; see the check below

SAME = {
    "covariance (PolyBench/C 4.2)": "correlation (second)",
    "first difference (Livermore)": "eos",
    "tridiagonal elimination (Livermore)": "recurrence (second)",
}

unknown = set(SAME) - set(draw2.kept)
assert not unknown, unknown
kept = [name for name in draw2.kept if name not in SAME and name not in draw2.drawn]
drawn = random.Random(20261201).sample(kept, DRAWN)
longer = random.Random(20261201).sample(kept, LONGER)
assert longer[:DRAWN] == drawn
print(f"{len(draw2.kept)} names, {len(draw2.drawn)} drawn before, {len(SAME)} dropped,",
      f"{len(kept)} to draw from:")
for name in kept:
    print(f"  {name}")
print(f"drawn, and from {DRAWN + 1} on in reserve:")
for i, name in enumerate(longer, 1):
    print(f"  {i:2} {name}")
