package main

import "presage/datasets/programs/internal/cfd"

func newMeshwise(c cfd.Coefficients, most int) *linewise { return newLinewise(c, most) }
