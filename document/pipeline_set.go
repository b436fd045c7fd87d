package document

import (
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// computedFields are the fields that $set computes, at one level of the document.
type computedFields struct {
	names  []string
	fields []computedField
	// at are the places of the names, while the fields are compiled.
	at map[string]int
}

// computedField is a value, or where that is nil further fields inside.
type computedField struct {
	value  expression
	fields *computedFields
}

func newComputedFields() *computedFields { return &computedFields{at: map[string]int{}} }

// compileSetStage compiles $set and $addFields.
func compileSetStage(operand any) (stage, error) {
	source, ok := operand.(Object)
	if !ok {
		return nil, wrongType("object", operand)
	}
	if source.Len() == 0 {
		return nil, boterr.Invalid("", "must name at least one field")
	}
	t := newComputedFields()
	err := t.addAll(source)
	return t, err
}

// addAll adds the fields of an object, by their paths.
func (t *computedFields) addAll(source Object) error {
	for path, value := range source.All() {
		if err := t.addAt(path, value); err != nil {
			return boterr.In(path, err)
		}
	}
	return nil
}

// addAt adds the value at a path: further fields where it is an object that is no
// expression.
func (t *computedFields) addAt(path string, value any) error {
	if err := checkExpressionPath(path); err != nil {
		return err
	}
	inner, ok := value.(Object)
	if !ok || isOperatorObject(inner) {
		compiled, err := compileExpression(value)
		if err != nil {
			return err
		}
		return t.add(path, compiled)
	}
	if inner.Len() == 0 {
		return boterr.Invalid("", "an empty object says nothing about the fields inside; for one as a value use $literal")
	}
	level, err := t.inside(path)
	if err != nil {
		return err
	}
	return level.addAll(inner)
}

// add adds a computed value at a path.
func (t *computedFields) add(path string, value expression) error {
	name := path
	if last := strings.LastIndexByte(path, '.'); last >= 0 {
		var err error
		if t, err = t.inside(path[:last]); err != nil {
			return err
		}
		name = path[last+1:]
	}
	if _, ok := t.at[name]; ok {
		return conflictAt(path)
	}
	t.append(name, computedField{value: value})
	return nil
}

func (t *computedFields) append(name string, field computedField) {
	t.at[name] = len(t.names)
	t.names = append(t.names, name)
	t.fields = append(t.fields, field)
}

// inside returns the level at a path, made where there is none.
func (t *computedFields) inside(path string) (*computedFields, error) {
	for name := range strings.SplitSeq(path, ".") {
		at, ok := t.at[name]
		if !ok {
			at = len(t.names)
			t.append(name, computedField{fields: newComputedFields()})
		}
		if t = t.fields[at].fields; t == nil {
			return nil, conflictAt(path)
		}
	}
	return t, nil
}

func (t *computedFields) apply(run *expressionRun) (any, error) { return t.object(run, run.root) }

// object sets the fields in an object. All expressions see the document as it was
// before.
func (t *computedFields) object(run *expressionRun, o Object) (Object, error) {
	if len(t.names) > fewFields {
		return t.manyFields(run, o)
	}
	for i, name := range t.names {
		old := fieldOrMissing(o, name)
		next, err := t.fields[i].of(run, old)
		if err != nil {
			return Object{}, boterr.In(name, err)
		}
		if !identical(old, next) {
			o = o.withOrWithout(name, next)
		}
	}
	return o, nil
}

// manyFields is object in time that grows with the fields of both, and not with their
// product.
func (t *computedFields) manyFields(run *expressionRun, o Object) (Object, error) {
	b := newObjectBuilder(o.Len() + len(t.names))
	for name, value := range o.All() {
		b.set(name, value)
	}
	for i, name := range t.names {
		old := any(missing)
		if at := b.position(name); at >= 0 {
			old = b.values[at]
		}
		next, err := t.fields[i].of(run, old)
		if err != nil {
			return Object{}, boterr.In(name, err)
		}
		if old != missing || next != missing {
			b.set(name, next)
		}
	}
	return b.withoutMissing(), nil
}

// of returns the new value of a field.
func (f *computedField) of(run *expressionRun, old any) (any, error) {
	if f.value != nil {
		return f.value.evaluate(run)
	}
	return f.fields.value(run, old)
}

// value sets the fields in a value: in an array in each of its elements, and in the
// place of what is no object in a new one.
func (t *computedFields) value(run *expressionRun, value any) (any, error) {
	switch v := value.(type) {
	case Object:
		o, err := t.object(run, v)
		if err != nil {
			return nil, err
		}
		return run.limits.object(o)
	case Array:
		if err := run.limits.items(v.Len()); err != nil {
			return nil, err
		}
		items := make([]any, 0, v.Len())
		for i, item := range v.items() {
			next, err := t.value(run, item)
			if err != nil {
				return nil, boterr.In(indexName(i), err)
			}
			items = append(items, next)
		}
		return run.limits.array(items)
	default:
		return t.value(run, O())
	}
}

// removedFields are the fields that $unset removes, at one level of the document.
type removedFields struct {
	// inside are the fields of which only a part is removed; nil for one that is
	// removed whole.
	inside map[string]*removedFields
}

// compileUnsetStage compiles $unset, of one path or of several.
func compileUnsetStage(operand any) (stage, error) {
	paths, ok := operand.(Array)
	if !ok {
		paths = A(operand)
	}
	if paths.Len() == 0 {
		return nil, boterr.Invalid("", "must name at least one field")
	}
	t := &removedFields{inside: map[string]*removedFields{}}
	for i, item := range paths.All() {
		path, isString := item.(string)
		var err error
		if !isString {
			err = wrongType("string", item)
		} else if err = checkExpressionPath(path); err == nil {
			err = t.add(path)
		}
		if err != nil && ok {
			err = boterr.In(indexField(i), err)
		}
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}

// add adds a path.
func (t *removedFields) add(path string) error {
	name, rest, nested := strings.Cut(path, ".")
	for ; nested; name, rest, nested = strings.Cut(rest, ".") {
		next, known := t.inside[name]
		if known && next == nil {
			return conflictAt(path)
		}
		if !known {
			next = &removedFields{inside: map[string]*removedFields{}}
			t.inside[name] = next
		}
		t = next
	}
	if _, known := t.inside[name]; known {
		return conflictAt(path)
	}
	t.inside[name] = nil
	return nil
}

func (t *removedFields) apply(run *expressionRun) (any, error) { return t.object(run.root), nil }

// object returns an object without the fields.
func (t *removedFields) object(o Object) Object {
	changed := false
	b := newObjectBuilder(o.Len())
	for name, value := range o.All() {
		inner, named := t.inside[name]
		if named && inner == nil {
			changed = true
			continue
		}
		next := value
		if named {
			next = inner.value(value)
			changed = changed || !identical(value, next)
		}
		b.set(name, next)
	}
	if !changed {
		return o
	}
	return b.object()
}

// value removes the fields from a value: from each element of an array.
func (t *removedFields) value(value any) any {
	switch v := value.(type) {
	case Object:
		return t.object(v)
	case Array:
		items := make([]any, 0, v.Len())
		for _, item := range v.items() {
			items = append(items, t.value(item))
		}
		return arrayOf(items)
	default:
		return value
	}
}
