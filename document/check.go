package document

import (
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// The functions below are what every store checks before it does anything.

// CheckInsert returns InvalidArgument for what Collection.Insert refuses, whatever the
// store: a document that is absent, made of what is no value, larger than MaxSize or nested deeper than MaxDepth, and an
// _id that is missing, an array, or an object with a field that begins with "$". MongoDB
// takes such names elsewhere in a document that is inserted, from version 5.0 on.
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

// CheckExtent returns InvalidArgument for a document of more than so many bytes, which are
// MaxSize, less what a store adds to the document, or of more than MaxDepth levels.
func CheckExtent(o Object, most int) error {
	if o.node != nil && o.node.depth > MaxDepth {
		return boterr.Invalid("", "the document is nested deeper than %d levels", MaxDepth)
	}
	if size := o.Size(); size > most {
		return boterr.Invalid("", "the document has %d bytes, at most %d are allowed; split it or store less in it", size, most)
	}
	return nil
}

// Check returns InvalidArgument for a negative skip or limit.
func (o FindOptions) Check() error {
	if o.Skip < 0 {
		return boterr.Invalid("skip", "must not be negative, got %d", o.Skip)
	}
	if o.Limit < 0 {
		return boterr.Invalid("limit", "must not be negative, got %d", o.Limit)
	}
	return nil
}

// Check returns InvalidArgument for a change that could not be made to any document, and for
// options that contradict it or each other.
func (o UpdateOptions) Check(change Change) error {
	if err := change.check(); err != nil {
		return err
	}
	switch {
	case o.Multi && change.Update.IsReplacement():
		return boterr.Invalid("multi", "a replacement changes one document only; use operators such as $set for many")
	case o.Multi && o.Sort != nil:
		return boterr.Invalid("sort", "there is no first document where all are changed")
	default:
		return nil
	}
}

// Check returns InvalidArgument for a change that could not be made to any document, and for
// options that contradict each other.
func (o FindAndModifyOptions) Check(change Change) error {
	if err := change.check(); err != nil {
		return err
	}
	if o.New && o.Projection.IsPositional() {
		return boterr.Invalid("projection", "a path that ends in $ needs the document as it was before the change")
	}
	return nil
}

// check refuses a change that could not be made to any document.
func (c Change) check() error {
	if c.Update == nil {
		return boterr.Invalid("update", "an update is required")
	}
	if err := c.Stamps.Set.Err(); err != nil {
		return boterr.In("stamps", err)
	}
	return boterr.In("onInsert", c.OnInsert.Err())
}

// Check returns InvalidArgument for what is no index, and Unsupported for a geo index that is
// unique. A key on the plane is the first and only geo key of an index.
func (i Index) Check() error {
	if len(i.Keys) == 0 {
		return boterr.Invalid("keys", "an index has at least one key")
	}
	for at, key := range i.Keys {
		field := "keys[" + strconv.Itoa(at) + "]"
		isSecond := slices.ContainsFunc(i.Keys[:at], func(before IndexKey) bool { return before.Path == key.Path })
		switch {
		case slices.Contains(strings.Split(key.Path, "."), ""):
			return boterr.Invalid(field+".path", "the path %q has an empty part", key.Path)
		case isSecond:
			return boterr.Invalid(field+".path", "the path %q comes twice", key.Path)
		case !slices.Contains(indexKinds, key.Kind):
			return boterr.Invalid(field+".kind", "%q is no kind of key; the kinds are %q", key.Kind, indexKinds)
		case i.Unique && key.Kind.IsGeo():
			return boterr.New(boterr.Unsupported, field+".kind", "a geo index cannot be unique")
		case at > 0 && key.Kind.IsGeo() && (key.Kind == Geo2D || i.Keys[0].Kind == Geo2D):
			return boterr.Invalid(field+".kind", "a key of the kind %q is the first and only geo key of an index", Geo2D)
		}
	}
	return nil
}

// indexKinds are the kinds of keys.
var indexKinds = []IndexKind{Ascending, Descending, Geo2D, Geo2DSphere}

// IsGeo reports whether keys of this kind hold places.
func (k IndexKind) IsGeo() bool { return k == Geo2D || k == Geo2DSphere }
