package document

import (
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// IDField is the name of the field that identifies a document in its collection.
const IDField = "_id"

// CheckInsert returns InvalidArgument for a document that Collection.Insert refuses in every store: one that
// is absent, carries an error (see Object.Err), is larger than MaxSize or nested deeper than MaxDepth, or
// whose _id is missing, an array, or an object with a field that begins with "$". Elsewhere in a document
// MongoDB accepts such names, from version 5.0 on.
func CheckInsert(o Object) error {
	if err := o.Err(); err != nil {
		return err
	}
	if o.IsZero() {
		return boterr.Invalid("", "the document is absent")
	}
	if err := CheckExtent(o, MaxSize); err != nil {
		return err
	}
	id, ok := o.Field(IDField)
	if !ok {
		return boterr.Invalid(IDField, "the document has no _id")
	}
	switch id := id.(type) {
	case Array:
		return boterr.Invalid(IDField, "an array cannot be an _id")
	case Object:
		for name := range id.All() {
			if strings.HasPrefix(name, "$") {
				return boterr.Invalid(IDField+"."+name, "a field of an _id cannot begin with $")
			}
		}
	}
	return nil
}

// CheckExtent returns InvalidArgument for a document of more than most bytes or more than MaxDepth levels.
// most is MaxSize less the size of a store's own additions to the document.
func CheckExtent(o Object, most int) error {
	if o.Depth() > MaxDepth {
		return boterr.Invalid("", "the document is nested deeper than %d levels", MaxDepth)
	}
	if size := o.Size(); size > most {
		return boterr.Invalid("", "the document has %d bytes, at most %d are allowed; split it or store less in it", size, most)
	}
	return nil
}
