package query

import (
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// operation changes the value at one path.
type operation interface {
	// apply returns the new value, which is missing where there is to be none.
	// value is missing where there is none.
	apply(value any, run *updateRun) (any, error)
	// needsPath reports whether a path on which there can be no field, such as one through a
	// string, is an error. It is for operations that make a missing field, and for some others.
	needsPath(run *updateRun) bool
}

// operationCompiler checks an operator's argument for one path.
type operationCompiler func(path string, argument any) (operation, error)

// updateOperators are the operators of updates.
var updateOperators = map[string]operationCompiler{
	"$set":         compileSet,
	"$setOnInsert": compileSetOnInsert,
	"$unset":       compileUnset,
	"$inc":         compileArithmetic("$inc", addNumbers),
	"$mul":         compileArithmetic("$mul", multiplyNumbers),
	"$min":         compileExtreme(-1),
	"$max":         compileExtreme(1),
	"$rename":      compileRename,
	"$currentDate": compileCurrentDate,
	"$bit":         compileBit,
	"$push":        compilePush,
	"$addToSet":    compileAddToSet,
	"$pull":        compilePull,
	"$pullAll":     compilePullAll,
	"$pop":         compilePop,
}

// pathRequired is embedded in operations that need a path on which there can be a field.
type pathRequired struct{}

func (pathRequired) needsPath(*updateRun) bool { return true }

// pathOptional is embedded in operations that leave a missing field missing, whatever the
// path.
type pathOptional struct{}

func (pathOptional) needsPath(*updateRun) bool { return false }

// set is $set.
type set struct {
	pathRequired
	value any
}

func compileSet(_ string, argument any) (operation, error) { return set{value: argument}, nil }

func (s set) apply(any, *updateRun) (any, error) { return s.value, nil }

// setOnInsert is $setOnInsert.
type setOnInsert struct{ value any }

func compileSetOnInsert(_ string, argument any) (operation, error) {
	return setOnInsert{value: argument}, nil
}

func (s setOnInsert) apply(value any, run *updateRun) (any, error) {
	if run.inserting {
		return s.value, nil
	}
	return value, nil
}

func (s setOnInsert) needsPath(run *updateRun) bool { return run.inserting }

// unset is $unset.
type unset struct{ pathOptional }

func compileUnset(string, any) (operation, error) { return unset{}, nil }

func (unset) apply(any, *updateRun) (any, error) { return document.Missing, nil }

// renameTo is the target of $rename; its source is an unset.
type renameTo struct{ from, to string }

func compileRename(path string, argument any) (operation, error) {
	to, ok := argument.(string)
	if !ok {
		return nil, document.WrongType("string", argument)
	}
	if err := document.CheckPath(to); err != nil {
		return nil, err
	}
	if to == document.IDField {
		return nil, boterr.Invalid("", "the field _id is fixed and cannot be changed")
	}
	for _, name := range []string{path, to} {
		if slices.ContainsFunc(strings.Split(name, "."), selectsElements) {
			return nil, boterr.Invalid("", "$rename cannot be used on array elements: %s", name)
		}
	}
	return &renameTo{from: path, to: to}, nil
}

func (r *renameTo) apply(value any, run *updateRun) (any, error) {
	moved, err := r.source(run.document)
	if err != nil || moved == document.Missing {
		return value, err
	}
	return moved, r.checkTarget(run.document)
}

// needsPath reports whether there is something to be moved, or a path that is refused.
func (r *renameTo) needsPath(run *updateRun) bool {
	moved, err := r.source(run.document)
	return err != nil || moved != document.Missing
}

// source returns the value that is moved, missing where there is none. It refuses a value
// in an array, and a path on which no document can have a field.
func (r *renameTo) source(o document.Object) (any, error) {
	var current any = o
	inArray := false
	for part := range strings.SplitSeq(r.from, ".") {
		switch c := current.(type) {
		case document.Object:
			current = c.Value(part)
		case document.Array:
			index, ok := document.ParseIndex(part)
			if !ok {
				return document.Missing, noRename(c, r.from)
			}
			if inArray, current = true, any(document.Missing); index < c.Len() {
				current = c.At(index)
			}
		default:
			return document.Missing, noRename(c, r.from)
		}
		if current == document.Missing {
			return document.Missing, nil
		}
	}
	if inArray {
		return document.Missing, noRename(document.Array{}, r.from)
	}
	return current, nil
}

// checkTarget refuses a target in an array.
func (r *renameTo) checkTarget(o document.Object) error {
	var current any = o
	for part := range strings.SplitSeq(r.to, ".") {
		if _, isArray := current.(document.Array); isArray {
			return noRename(current, r.to)
		}
		if o, ok := current.(document.Object); ok {
			current = o.Value(part)
		} else {
			current = nil
		}
	}
	return nil
}

// noRename is the error for a path of $rename through a value.
func noRename(through any, path string) error {
	return boterr.Invalid("", "$rename cannot go through a value of type %s: %s", document.TypeName(through), path)
}

// currentDate is $currentDate.
type currentDate struct{ pathRequired }

func compileCurrentDate(_ string, argument any) (operation, error) {
	if _, ok := argument.(bool); ok {
		return currentDate{}, nil
	}
	options, ok := argument.(document.Object)
	if !ok || options.Len() != 1 {
		return nil, boterr.Invalid("", `must be true or {"$type": "date"}, got %s`, document.Excerpt(argument))
	}
	if name, _ := options.Field("$type"); name != "date" {
		return nil, boterr.Invalid("", `the type must be "date", got %s; a "timestamp" is internal to MongoDB`, document.Excerpt(name))
	}
	return currentDate{}, nil
}

func (currentDate) apply(_ any, run *updateRun) (any, error) { return document.ValueOf(run.now) }

// dollarField is an operation at a path whose first name begins with $. An upsert may
// insert such a field, as Insert may; in a document that is there it can be removed, and
// not be changed.
type dollarField struct{ operation }

func (d dollarField) apply(value any, run *updateRun) (any, error) {
	next, err := d.operation.apply(value, run)
	if err == nil && !run.inserting && next != document.Missing && !document.Identical(value, next) {
		return nil, boterr.Invalid("", "a field whose name begins with $ can be inserted and removed, and not be changed")
	}
	return next, err
}
