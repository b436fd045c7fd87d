package store

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/store/query"
)

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

// Check returns InvalidArgument for a change that is impossible for every document, and for options that
// contradict the change or each other.
func (o UpdateOptions) Check(change query.Change) error {
	if err := change.Check(); err != nil {
		return err
	}
	switch {
	case o.Multi && change.Update.IsReplacement():
		return boterr.Invalid("multi", "a replacement changes one document only; use operators such as $set for many")
	case o.Multi && o.Sort != nil:
		return boterr.Invalid("sort", "multi changes all documents, so there is no first one; leave out the sort")
	default:
		return nil
	}
}

// Check returns InvalidArgument for a change that is impossible for every document, and for options that
// contradict each other.
func (o FindAndModifyOptions) Check(change query.Change) error {
	if err := change.Check(); err != nil {
		return err
	}
	if o.New && o.Projection.IsPositional() {
		return boterr.Invalid("projection", "a path that ends in $ needs the document before the change; set New to false")
	}
	return nil
}

// Check returns InvalidArgument for an invalid index, and Unsupported for a unique geo index. A 2d key must
// be the first and only geo key of an index.
func (i Index) Check() error {
	if len(i.Keys) == 0 {
		return boterr.Invalid("keys", "an index has at least one key")
	}
	for at, key := range i.Keys {
		field := "keys" + boterr.Index(at)
		isSecond := slices.ContainsFunc(i.Keys[:at], func(before IndexKey) bool { return before.Path == key.Path })
		switch {
		case slices.Contains(strings.Split(key.Path, "."), ""):
			return boterr.Invalid(field+".path", "the path %q has an empty part", key.Path)
		case !utf8.ValidString(key.Path):
			return boterr.Invalid(field+".path", "the path %q is not UTF-8", key.Path)
		case strings.ContainsRune(key.Path, 0) || slices.ContainsFunc(strings.Split(key.Path, "."), isOperator):
			return boterr.Invalid(field+".path", "the path %q contains a NUL byte, or a part that begins with $", key.Path)
		case isSecond:
			return boterr.Invalid(field+".path", "the path %q appears twice", key.Path)
		case !slices.Contains(indexKinds, key.Kind):
			return boterr.Invalid(field+".kind", "%q is not a kind of key; the kinds are %q", key.Kind, indexKinds)
		case i.Unique && key.Kind.IsGeo():
			return boterr.New(boterr.Unsupported, field+".kind", "a geo index cannot be unique")
		case at > 0 && key.Kind.IsGeo() && (key.Kind == query.Geo2D || i.Keys[0].Kind == query.Geo2D):
			return boterr.Invalid(field+".kind", "a key of the kind %q must be the first and only geo key of an index", query.Geo2D)
		}
	}
	return nil
}

// isOperator reports whether a part of a path begins with $, and is not a field of a reference to a document,
// such as $id.
func isOperator(part string) bool {
	return strings.HasPrefix(part, "$") && part != "$id" && part != "$ref" && part != "$db"
}

var indexKinds = []query.IndexKind{query.Ascending, query.Descending, query.Geo2D, query.Geo2DSphere}
