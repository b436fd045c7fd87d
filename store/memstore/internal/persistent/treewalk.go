package persistent

// ascend yields what is below n in ascending order, and reports whether to go on.
func (n *treeNode[K, V]) ascend(yield func(K, V) bool) bool {
	return n.ascendAt(0, yield)
}

// ascendAt is ascend from place i of the node on.
func (n *treeNode[K, V]) ascendAt(i int, yield func(K, V) bool) bool {
	for ; i < len(n.keys); i++ {
		if n.isBranch() {
			if !n.children[i].ascend(yield) {
				return false
			}
		} else if !yield(n.keys[i], n.values[i]) {
			return false
		}
	}
	return true
}

// ascendFrom is ascend for the keys that are not below key.
func (n *treeNode[K, V]) ascendFrom(key K, yield func(K, V) bool) bool {
	if !n.isBranch() {
		i, _ := n.find(key)
		return n.ascendAt(i, yield)
	}
	i := n.childFor(key)
	return n.children[i].ascendFrom(key, yield) && n.ascendAt(i+1, yield)
}

// descend yields what is before place i of the node in descending order, and
// reports whether to go on.
func (n *treeNode[K, V]) descend(i int, yield func(K, V) bool) bool {
	for i--; i >= 0; i-- {
		if n.isBranch() {
			child := n.children[i]
			if !child.descend(len(child.keys), yield) {
				return false
			}
		} else if !yield(n.keys[i], n.values[i]) {
			return false
		}
	}
	return true
}

// descendBefore is descend for the keys below key.
func (n *treeNode[K, V]) descendBefore(key K, yield func(K, V) bool) bool {
	if !n.isBranch() {
		i, _ := n.find(key)
		return n.descend(i, yield)
	}
	i := n.childFor(key)
	return n.children[i].descendBefore(key, yield) && n.descend(i, yield)
}
