package query

import "github.com/botctx/go-sdk/document"

const (
	// memoryOfByte is how much memory a byte of an object or array in a document may take,
	// by its size in BSON.
	memoryOfByte = 4
	// memoryOfField is what a field of a document takes beside its value.
	memoryOfField = 16
	// maxComparedFields is the number of fields that are looked at one by one.
	maxComparedFields = 64
)

// grownBy estimates the memory that a changed document takes in addition to the one before.
func grownBy(before, after document.Object) int {
	grown := after.Size() - before.Size()
	switch {
	case grown <= 0:
		return 0
	case max(before.Len(), after.Len()) > maxComparedFields: // Looking at all of them would take long.
		return grown * memoryOfByte
	default:
		return max(0, memoryOfFields(after)-memoryOfFields(before))
	}
}

// memoryOfFields estimates the memory of an object's fields, without their names, which objects of
// one kind share.
func memoryOfFields(o document.Object) int {
	memory := o.Len() * memoryOfField
	for _, value := range o.All() {
		switch v := value.(type) {
		case string:
			memory += len(v)
		case document.Object, document.Array:
			memory += document.SizeOf(v) * memoryOfByte
		}
	}
	return memory
}
