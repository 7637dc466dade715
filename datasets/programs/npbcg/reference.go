package main

func reference(p *problem) (float64, bool) {
	m := map[string]float64{"S": 8.5971775078648, "W": 10.362595087124, "A": 17.130235054029}
	v, ok := m[p.class]
	return v, ok && p.iterations == 15
}
