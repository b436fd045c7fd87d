package persistent

import "iter"

// Key is what a Tree is sorted by: types with a total order, which excludes floats with their NaN.
type Key interface{ string | uint64 }

// Tree is a map sorted by its keys: a B+ tree. The zero Tree is empty.
type Tree[K Key, V any] struct {
	root   *treeNode[K, V]
	length int
}

// Len returns the number of keys.
func (t *Tree[K, V]) Len() int { return t.length }

// Get returns the value of a key, and whether there is one.
func (t *Tree[K, V]) Get(key K) (value V, ok bool) {
	n := t.root
	if n == nil {
		return value, false
	}
	for n.isBranch() {
		n = n.children[n.childFor(key)]
	}
	i, found := n.find(key)
	if !found {
		return value, false
	}
	return n.values[i], true
}

// Set sets the value of a key.
func (t *Tree[K, V]) Set(edit *Edit, key K, value V) {
	if t.root == nil {
		t.root = newTreeLeaf[K, V](edit, 1)
	}
	left, right, added := t.root.set(edit, key, value)
	t.root = left
	if right != nil {
		root := newTreeBranch[K, V](edit, fewItems)
		root.appendItems(left.asChild(), right.asChild())
		t.root = root
	}
	if added {
		t.length++
	}
}

// Delete removes a key and reports whether it was there.
func (t *Tree[K, V]) Delete(edit *Edit, key K) bool {
	if _, ok := t.Get(key); !ok {
		return false
	}
	t.length--
	t.root = t.root.remove(edit, key)
	for t.root.isBranch() && len(t.root.keys) == 1 {
		t.root = t.root.children[0]
	}
	if len(t.root.keys) == 0 {
		t.root = nil
	}
	return true
}

// All returns the keys with their values in ascending order.
func (t *Tree[K, V]) All() iter.Seq2[K, V] {
	root := t.root
	return func(yield func(K, V) bool) {
		if root != nil {
			root.ascend(yield)
		}
	}
}

// From returns the keys that are not below a key, in ascending order.
func (t *Tree[K, V]) From(key K) iter.Seq2[K, V] {
	root := t.root
	return func(yield func(K, V) bool) {
		if root != nil {
			root.ascendFrom(key, yield)
		}
	}
}

// Backward returns the keys with their values in descending order.
func (t *Tree[K, V]) Backward() iter.Seq2[K, V] {
	root := t.root
	return func(yield func(K, V) bool) {
		if root != nil {
			root.descend(len(root.keys), yield)
		}
	}
}

// Before returns the keys below a key, in descending order.
func (t *Tree[K, V]) Before(key K) iter.Seq2[K, V] {
	root := t.root
	return func(yield func(K, V) bool) {
		if root != nil {
			root.descendBefore(key, yield)
		}
	}
}
