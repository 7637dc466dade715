package figure

// Beside returns the panels of several figures as one figure, from left to right.
func Beside(figures ...*Figure) *Figure {
	f := new(Figure)
	for _, g := range figures {
		f.panels = append(f.panels, g.panels...)
	}
	return f
}
