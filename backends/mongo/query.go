package mongo

import (
	"slices"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/query"
)

// query returns a filter as the server reads it.
func queryOf(filter *query.Filter) (bson.Raw, error) {
	source, err := queried(filter)
	if err != nil {
		return nil, err
	}
	return rawConditions(source)
}

// rawConditions returns the conditions of filters together, as the server reads them.
func rawConditions(filters ...document.Object) (_ bson.Raw, err error) {
	size := 16
	for _, filter := range filters {
		size += filter.Size()
	}
	start, b := bsoncore.AppendDocumentStart(make([]byte, 0, size))
	for _, filter := range filters {
		if b, err = appendConditions(b, filter); err != nil {
			return nil, err
		}
	}
	return ended(b, start)
}

// appendConditions appends the conditions of a filter, or of a part of one. They stand as they were written, but
// for the patterns in lists: the server takes {$regex, $options} on a field alone, and in a list
// a regular expression of BSON.
func appendConditions(b []byte, conditions document.Object) (_ []byte, err error) {
	for key, operand := range conditions.All() {
		if b, err = appendCondition(b, key, operand); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func appendCondition(b []byte, key string, operand any) ([]byte, error) {
	switch v := operand.(type) {
	case document.Array:
		switch key {
		case "$and", "$or", "$nor", "$in", "$nin", "$all":
			return appendListed(b, key, v)
		}
	case document.Object:
		if key == "$not" || key == "$elemMatch" || !strings.HasPrefix(key, "$") && isOperators(v) {
			start, b := bsoncore.AppendDocumentElementStart(b, key)
			b, err := appendConditions(b, v)
			if err != nil {
				return nil, err
			}
			return bsoncore.AppendDocumentEnd(b, start)
		}
	}
	return appendValue(b, key, operand)
}

// appendListed appends a list of clauses, or one of values and patterns. No value in a list has operators.
func appendListed(b []byte, key string, list document.Array) (_ []byte, err error) {
	isClauses := key == "$and" || key == "$or" || key == "$nor"
	start, b := bsoncore.AppendArrayElementStart(b, key)
	for i, item := range list.All() {
		o, ok := item.(document.Object)
		pattern, isPattern := o.Value("$regex").(string)
		switch place := strconv.Itoa(i); {
		case ok && !isClauses && isPattern && isOperators(o):
			b = bsoncore.AppendRegexElement(b, place, pattern, regexOptions(o))
		case ok && (isClauses || isOperators(o)):
			inner, inside := bsoncore.AppendDocumentElementStart(b, place)
			if b, err = appendConditions(inside, o); err == nil {
				b, err = bsoncore.AppendDocumentEnd(b, inner)
			}
		default:
			b, err = appendValue(b, place, item)
		}
		if err != nil {
			return nil, boterr.PrefixField(key, err)
		}
	}
	return bsoncore.AppendArrayEnd(b, start)
}

// regexOptions returns the options of a pattern as BSON wants them, in the order of the alphabet.
func regexOptions(pattern document.Object) string {
	options, _ := pattern.Value("$options").(string)
	letters := []byte(options)
	slices.Sort(letters)
	return string(slices.Compact(letters))
}

// isOperators reports whether an object is a set of operators and no value, which its first name decides.
func isOperators(o document.Object) bool { return o.Len() > 0 && strings.HasPrefix(o.NameAt(0), "$") }

// queried returns a filter as it was written, but for an $expr that asks for the whole
// document.
func queried(filter *query.Filter) (document.Object, error) {
	if filter == nil || filter.Source().IsZero() {
		return document.O(), nil
	}
	source, err := withoutHidden(filter.Source())
	return source, boterr.PrefixField("filter", err)
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
					return source, boterr.PrefixField(key, err)
				}
				items = append(items, item)
			}
			source = source.With(key, document.A(items...))
		case key == "$expr":
			expression, err := seenWhole(operand)
			if err != nil {
				return source, boterr.PrefixField(key, err)
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
				return nil, boterr.PrefixField(key, err)
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
			return nil, boterr.PrefixField("sort", reserved(path))
		}
		order = append(order, bson.E{Key: path, Value: direction})
		if path == document.IDField {
			return order, nil // No two documents tie.
		}
	}
	return append(order, bson.E{Key: orderPath, Value: 1}), nil
}
