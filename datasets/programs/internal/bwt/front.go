package bwt

// ToFront replaces letters by how many different ones there were since the same
// one was there last, in place.
func ToFront(data []byte) {
	list := alphabet()
	for i, c := range data {
		k := 0
		for list[k] != c {
			k++
		}
		copy(list[1:k+1], list[:k])
		list[0] = c
		data[i] = byte(k)
	}
}

// FromFront undoes ToFront.
func FromFront(data []byte) {
	list := alphabet()
	for i, k := range data {
		c := list[k]
		copy(list[1:int(k)+1], list[:k])
		list[0] = c
		data[i] = c
	}
}

func alphabet() (list [256]byte) {
	for i := range list {
		list[i] = byte(i)
	}
	return list
}
