package document

// newObjectNode returns a node whose values, none as yet, have room for a number of fields. Node
// and room are one piece of memory, which saves a cache miss when a field is read.
func newObjectNode(fields int) *objectNode {
	switch {
	case fields <= 1:
		return roomFor1()
	case fields <= 2:
		return roomFor2()
	case fields <= 4:
		return roomFor4()
	case fields <= 6:
		return roomFor6()
	case fields <= 8:
		return roomFor8()
	case fields <= 12:
		return roomFor12()
	case fields <= 16:
		return roomFor16()
	default:
		return &objectNode{values: make([]any, 0, fields)}
	}
}

func roomFor1() *objectNode {
	n := &struct {
		objectNode

		room [1]any
	}{}
	n.values = n.room[:0]
	return &n.objectNode
}

func roomFor2() *objectNode {
	n := &struct {
		objectNode

		room [2]any
	}{}
	n.values = n.room[:0]
	return &n.objectNode
}

func roomFor4() *objectNode {
	n := &struct {
		objectNode

		room [4]any
	}{}
	n.values = n.room[:0]
	return &n.objectNode
}

func roomFor6() *objectNode {
	n := &struct {
		objectNode

		room [6]any
	}{}
	n.values = n.room[:0]
	return &n.objectNode
}

func roomFor8() *objectNode {
	n := &struct {
		objectNode

		room [8]any
	}{}
	n.values = n.room[:0]
	return &n.objectNode
}

func roomFor12() *objectNode {
	n := &struct {
		objectNode

		room [12]any
	}{}
	n.values = n.room[:0]
	return &n.objectNode
}

func roomFor16() *objectNode {
	n := &struct {
		objectNode

		room [16]any
	}{}
	n.values = n.room[:0]
	return &n.objectNode
}
