package memstore

import (
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// checkDocument refuses what cannot be inserted. Names of fields that begin with
// "$" are refused inside the _id only: MongoDB takes them elsewhere, from version
// 5.0 on, in a document that is inserted.
func checkDocument(o document.Object) error {
	if err := o.Err(); err != nil {
		return err
	}
	if o.IsZero() {
		return boterr.Invalid("", "the document is absent")
	}
	if err := checkSize(o); err != nil {
		return err
	}
	id, ok := o.Field(document.IDField)
	if !ok {
		return boterr.Invalid(document.IDField, "the document has no _id")
	}
	switch id := id.(type) {
	case document.Array:
		return boterr.Invalid(document.IDField, "an array cannot be an _id")
	case document.Object:
		for name := range id.All() {
			if strings.HasPrefix(name, "$") {
				return boterr.Invalid(document.IDField+"."+name, "a field of an _id cannot begin with $")
			}
		}
	}
	return nil
}

// checkSize refuses a document that is too large.
func checkSize(o document.Object) error {
	if size := o.Size(); size > document.MaxSize {
		return boterr.Invalid("", "the document has %d bytes, at most %d are allowed; split it or store less in it",
			size, document.MaxSize)
	}
	return nil
}

// checkChange refuses a change that could not be made to any document.
func checkChange(change document.Change) error {
	if change.Update == nil {
		return boterr.Invalid("update", "an update is required")
	}
	if err := change.Stamps.Set.Err(); err != nil {
		return boterr.In("stamps", err)
	}
	return boterr.In("onInsert", change.OnInsert.Err())
}

// checkUpdate refuses options that contradict the change or each other.
func checkUpdate(change document.Change, options document.UpdateOptions) error {
	if err := checkChange(change); err != nil {
		return err
	}
	switch {
	case options.Multi && change.Update.IsReplacement():
		return boterr.Invalid("multi", "a replacement changes one document only; use operators such as $set for many")
	case options.Multi && options.Sort != nil:
		return boterr.Invalid("sort", "there is no first document where all are changed")
	default:
		return nil
	}
}

// checkFindAndModify refuses options that contradict each other.
func checkFindAndModify(change document.Change, options document.FindAndModifyOptions) error {
	if err := checkChange(change); err != nil {
		return err
	}
	if options.New && options.Projection.IsPositional() {
		return boterr.Invalid("projection", "a path that ends in $ needs the document as it was before the change")
	}
	return nil
}

// checkFind refuses a negative skip or limit.
func checkFind(options document.FindOptions) error {
	if options.Skip < 0 {
		return boterr.Invalid("skip", "must not be negative, got %d", options.Skip)
	}
	if options.Limit < 0 {
		return boterr.Invalid("limit", "must not be negative, got %d", options.Limit)
	}
	return nil
}

// checkIndex refuses what is no index.
func checkIndex(spec document.Index) error {
	if len(spec.Keys) == 0 {
		return boterr.Invalid("keys", "an index has at least one key")
	}
	var seen []string
	for i, key := range spec.Keys {
		field := keyField(i)
		switch {
		case slices.Contains(strings.Split(key.Path, "."), ""):
			return boterr.Invalid(field+".path", "the path %q has an empty part", key.Path)
		case slices.Contains(seen, key.Path):
			return boterr.Invalid(field+".path", "the path %q comes twice", key.Path)
		case !slices.Contains(indexKinds, key.Kind):
			return boterr.Invalid(field+".kind", "%q is no kind of key; the kinds are %q", key.Kind, indexKinds)
		case spec.Unique && isGeo(key.Kind):
			return boterr.New(boterr.Unsupported, field+".kind", "a geo index cannot be unique")
		}
		seen = append(seen, key.Path)
	}
	return checkGeoKeys(spec.Keys)
}

// keyField is the field of an index's key in errors.
func keyField(i int) string { return "keys[" + strconv.Itoa(i) + "]" }

// indexKinds are the kinds of keys.
var indexKinds = []document.IndexKind{document.Ascending, document.Descending, document.Geo2D, document.Geo2DSphere}

func isGeo(kind document.IndexKind) bool {
	return kind == document.Geo2D || kind == document.Geo2DSphere
}

// shown returns a value as JSON for an error's text, cut where it is long.
func shown(value any) string {
	const longest = 120
	text, err := document.AppendJSON(nil, value)
	if err != nil {
		return "that has no JSON form"
	}
	if len(text) > longest {
		return strings.ToValidUTF8(string(text[:longest]), "") + "..."
	}
	return string(text)
}
