package document

import (
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// operation changes the value at one path.
type operation interface {
	// apply returns the new value, which is missing where there is to be none.
	// value is missing where there is none.
	apply(value any, run *updateRun) (any, error)
	// creates reports whether the operation makes the field where it is missing,
	// so that a path which cannot be made is an error.
	creates(run *updateRun) bool
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

// making is embedded in operations that make a missing field.
type making struct{}

func (making) creates(*updateRun) bool { return true }

// removing is embedded in operations that leave a missing field missing.
type removing struct{}

func (removing) creates(*updateRun) bool { return false }

// set is $set.
type set struct {
	making
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

func (s setOnInsert) creates(run *updateRun) bool { return run.inserting }

// unset is $unset.
type unset struct{ removing }

func compileUnset(string, any) (operation, error) { return unset{}, nil }

func (unset) apply(any, *updateRun) (any, error) { return missing, nil }

// renameTo is the target of $rename; its source is an unset.
type renameTo struct{ from, to string }

func compileRename(path string, argument any) (operation, error) {
	to, ok := argument.(string)
	if !ok {
		return nil, wrongType("string", argument)
	}
	if err := CheckPath(to); err != nil {
		return nil, err
	}
	if to == IDField {
		return nil, boterr.Invalid("", "the field _id is fixed and cannot be changed")
	}
	for _, name := range []string{path, to} {
		if strings.HasPrefix(name, "$") || strings.Contains(name, ".$") {
			return nil, boterr.Invalid("", "$rename cannot be used on array elements: %s", name)
		}
	}
	return &renameTo{from: path, to: to}, nil
}

func (r *renameTo) apply(value any, run *updateRun) (any, error) {
	for _, path := range []string{r.from, r.to} {
		if err := checkRenamePath(run.document, path); err != nil {
			return nil, err
		}
	}
	if moved, ok := run.document.Lookup(r.from); ok {
		return moved, nil
	}
	return value, nil
}

func (r *renameTo) creates(run *updateRun) bool { return run.document.Has(r.from) }

// checkRenamePath refuses a path that leads through an array or a value without
// fields.
func checkRenamePath(o Object, path string) error {
	var current any = o
	for part := range strings.SplitSeq(path, ".") {
		if _, ok := current.(Object); !ok {
			return boterr.Invalid("", "$rename cannot go through a value of type %s: %s", TypeName(current), path)
		}
		var ok bool
		if current, ok = child(current, part); !ok {
			return nil
		}
	}
	return nil
}

// currentDate is $currentDate.
type currentDate struct{ making }

func compileCurrentDate(_ string, argument any) (operation, error) {
	if _, ok := argument.(bool); ok {
		return currentDate{}, nil
	}
	options, ok := argument.(Object)
	if !ok || options.Len() != 1 {
		return nil, boterr.Invalid("", `must be true or {"$type": "date"}, got %s`, textOf(argument))
	}
	if name, _ := options.Field("$type"); name != "date" {
		return nil, boterr.Invalid("", `the type must be "date", got %s; a "timestamp" is internal to MongoDB`, textOf(name))
	}
	return currentDate{}, nil
}

func (currentDate) apply(_ any, run *updateRun) (any, error) { return ValueOf(run.now) }
