package mongo

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query"
)

// query returns a filter as the server reads it.
func queryOf(filter *query.Filter) (bson.Raw, error) {
	source, err := queried(filter)
	if err != nil {
		return nil, err
	}
	return raw(source)
}

// queried returns a filter as it was written, but for an $expr that asks for the whole
// document.
func queried(filter *query.Filter) (document.Object, error) {
	if filter == nil || filter.Source().IsZero() {
		return document.O(), nil
	}
	source, err := withoutHidden(filter.Source())
	return source, boterr.In("filter", err)
}

// withoutHidden refuses a filter that names the hidden field, and hides it from one that
// compares the whole document.
func withoutHidden(source document.Object) (document.Object, error) {
	for key, operand := range source.All() {
		switch {
		case isHidden(key):
			return source, reserved(key)
		case key == "$and", key == "$or", key == "$nor":
			parts, _ := operand.(document.Array)
			items := make([]any, 0, parts.Len())
			for _, part := range parts.All() {
				o, _ := part.(document.Object)
				item, err := withoutHidden(o)
				if err != nil {
					return source, boterr.In(key, err)
				}
				items = append(items, item)
			}
			source = source.With(key, document.A(items...))
		case key == "$expr":
			expression, err := seenWhole(operand)
			if err != nil {
				return source, boterr.In(key, err)
			}
			source = source.With(key, expression)
		}
	}
	return source, source.Err()
}

// seenWhole returns an expression in which the whole document is one without the hidden
// field.
func seenWhole(expression any) (any, error) {
	switch v := expression.(type) {
	case string:
		return variable(v)
	case document.Array:
		items := make([]any, 0, v.Len())
		for _, item := range v.All() {
			seen, err := seenWhole(item)
			if err != nil {
				return nil, err
			}
			items = append(items, seen)
		}
		return document.A(items...), nil
	case document.Object:
		if v.Has("$literal") {
			return v, nil
		}
		pairs := make([]any, 0, 2*v.Len())
		for key, value := range v.All() {
			seen, err := seenWhole(value)
			if err != nil {
				return nil, boterr.In(key, err)
			}
			pairs = append(pairs, key, seen)
		}
		return document.O(pairs...), nil
	default:
		return v, nil
	}
}

// variable is seenWhole for a text, which may be a path or a variable.
func variable(text string) (any, error) {
	if text == "$$ROOT" || text == "$$CURRENT" {
		return document.O("$unsetField", document.O("field", hiddenField, "input", text)), nil
	}
	path := strings.TrimPrefix(strings.TrimPrefix(text, "$$ROOT."), "$$CURRENT.")
	if path = strings.TrimPrefix(path, "$"); len(path) < len(text) && isHidden(path) {
		return nil, reserved(path)
	}
	return text, nil
}

// isHidden reports whether a path leads to the hidden field or into it.
func isHidden(path string) bool {
	return path == hiddenField || strings.HasPrefix(path, hiddenField+".")
}

// reserved is the error for a path that leads to the hidden field.
func reserved(path string) error {
	return boterr.Invalid(path, "the field %s is the store's own; use another name", hiddenField)
}

// isPinned reports whether a filter fixes the _id, so that it can match one document only.
func isPinned(filter *query.Filter) bool {
	if filter == nil || filter.Near() != nil {
		return false
	}
	_, ok := filter.Equality(document.IDField)
	return ok
}

// sorting returns the order in which the server looks: that of a sort, and of insertion
// where that ties. A filter that matches one document at most needs none, and one with a
// $near brings its own.
func sorting(filter *query.Filter, sort *query.Sort) (bson.D, error) {
	if isPinned(filter) {
		return nil, nil
	}
	if sort == nil && filter.Near() != nil {
		return nil, nil
	}
	var order bson.D
	for path, direction := range sort.Source().All() {
		if isHidden(path) {
			return nil, boterr.In("sort", reserved(path))
		}
		order = append(order, bson.E{Key: path, Value: direction})
		if path == document.IDField {
			return order, nil // No two documents tie.
		}
	}
	return append(order, bson.E{Key: orderPath, Value: 1}), nil
}
