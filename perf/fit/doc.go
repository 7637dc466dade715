// Package fit turns data measured at a few points into a function: a linear
// combination of basis functions given in symbolic form. Leave-one-out error
// chooses the terms, and the shape can be restricted where the quantity is
// known to be non-negative, monotone, convex or concave.
//
//	basis, err := fit.ParseBasis("1, n, n^2, n^3, n*log(n)")
//	design, err := fit.NewDesign(basis, points, fit.Reach{})
//	f, err := design.Fit(counts, fit.Options{Shape: fit.Shape{NonNegative: true}})
//	fmt.Println(f)                                  // 12.5 + 3 n^2
//	fmt.Println(f.Eval(fit.Point{"n": 100}))        // 30012.5
//
// The method is that of Marin and Mellor-Crummey, SIGMETRICS 2004, section
// 2.3.1: quadratic programming over a monomial basis or the user's own, with
// restrictions that keep the fit from oscillating. The paper does not say how
// many terms a model has; here the leave-one-out error decides.
//
// Not modelled: terms that are not linear in their coefficients (an unknown
// exponent), and functions with pieces.
package fit
