package query

import (
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// scope is a variable and those that were known before it.
type scope struct {
	outer *scope
	name  string
	slot  int
}

// with returns the compiler for where another variable is known, and its slot.
func (c expressionCompiler) with(name string) (expressionCompiler, int) {
	slot := c.slots
	c.slots++
	c.scope = &scope{outer: c.scope, name: name, slot: slot}
	return c, slot
}

// find returns the slot of a variable.
func (s *scope) find(name string) (int, bool) {
	for ; s != nil; s = s.outer {
		if s.name == name {
			return s.slot, true
		}
	}
	return 0, false
}

// path compiles "$field.path" and "$$variable.path".
func (c expressionCompiler) path(text string) (expression, error) {
	if variable, ok := strings.CutPrefix(text, "$$"); ok {
		return c.variable(variable)
	}
	path := text[1:]
	if err := checkExpressionPath(path); err != nil {
		return nil, err
	}
	if slot, ok := c.scope.find("CURRENT"); ok {
		return &valueAt{of: variable(slot), path: compilePath(path)}, nil
	}
	return fieldAt(compilePath(path)), nil
}

// variable compiles what stands behind "$$".
func (c expressionCompiler) variable(text string) (expression, error) {
	name, path, nested := strings.Cut(text, ".")
	if err := checkVariableName(name); err != nil {
		return nil, err
	}
	if nested {
		if err := checkExpressionPath(path); err != nil {
			return nil, err
		}
	}
	e, err := c.variableNamed(name)
	switch {
	case err != nil:
		return nil, err
	case !nested:
		return e, nil
	case e == wholeRoot{}:
		return fieldAt(compilePath(path)), nil
	default:
		return &valueAt{of: e, path: compilePath(path)}, nil
	}
}

// variableNamed compiles a variable.
func (c expressionCompiler) variableNamed(name string) (expression, error) {
	if slot, ok := c.scope.find(name); ok {
		return variable(slot), nil
	}
	switch name {
	case "ROOT", "CURRENT":
		return wholeRoot{}, nil
	case "REMOVE":
		return constant{document.Missing}, nil
	case "NOW":
		if c.timeless {
			return nil, boterr.Invalid("", "$$NOW is not supported here: put the time itself there")
		}
		if c.usesNow != nil {
			*c.usesNow = true
		}
		return currentTime{}, nil
	case "CLUSTER_TIME", "USER_ROLES", "SEARCH_META":
		return nil, boterr.Invalid("", "$$%s is not supported", name)
	default:
		return nil, boterr.Invalid("", "there is no variable $$%s", name)
	}
}

// wholeRoot is $$ROOT.
type wholeRoot struct{}

func (wholeRoot) evaluate(run *expressionRun) (any, error) { return run.root, nil }

// currentTime is $$NOW.
type currentTime struct{}

func (currentTime) evaluate(run *expressionRun) (any, error) { return document.ValueOf(run.now) }

// variable is a variable by its slot.
type variable int

func (v variable) evaluate(run *expressionRun) (any, error) { return run.variables[v], nil }

// fieldPathOfRoot is a path from the document.
type fieldPathOfRoot struct{ path *fieldPath }

func fieldAt(path *fieldPath) expression { return &fieldPathOfRoot{path} }

func (e *fieldPathOfRoot) evaluate(run *expressionRun) (any, error) {
	return run.at(e.path, 0, run.root)
}

// valueAt is a path from the value of another expression.
type valueAt struct {
	of   expression
	path *fieldPath
}

func (e *valueAt) evaluate(run *expressionRun) (any, error) {
	value, err := e.of.evaluate(run)
	if err != nil {
		return nil, err
	}
	return run.at(e.path, 0, value)
}

// at returns the value to which a path leads from part i on, as expressions see it: an
// array on the way becomes the array of what the path leads to from each of its objects.
// A number in the path is the name of a field.
func (run *expressionRun) at(path *fieldPath, i int, value any) (any, error) {
	for ; i < len(path.parts); i++ {
		switch v := value.(type) {
		case document.Object:
			value = path.parts[i].of(v)
		case document.Array:
			return run.atEach(path, i, v)
		default:
			return document.Missing, nil
		}
	}
	return value, nil
}

// atEach goes on with part i from each object of an array.
func (run *expressionRun) atEach(path *fieldPath, i int, array document.Array) (any, error) {
	if err := run.limits.items(array.Len()); err != nil {
		return nil, err
	}
	items := make([]any, 0, array.Len())
	for _, item := range array.Items() {
		o, ok := item.(document.Object)
		if !ok {
			continue
		}
		value, err := run.at(path, i, o)
		if err != nil {
			return nil, err
		}
		if value != document.Missing {
			items = append(items, value)
		}
	}
	return run.limits.array(items)
}

// checkExpressionPath refuses a path that cannot stand in an expression.
func checkExpressionPath(path string) error {
	if err := document.CheckPath(path); err != nil {
		return err
	}
	for part := range strings.SplitSeq(path, ".") {
		if err := checkFieldName(part); err != nil {
			return err
		}
	}
	return nil
}

// checkFieldName refuses a name that cannot stand in an expression.
func checkFieldName(name string) error {
	switch {
	case name == "":
		return boterr.Invalid("", "the name of a field is empty")
	case isOperator(name):
		return boterr.Invalid("", "the name %q of a field begins with $; use $getField or $setField", name)
	case strings.ContainsRune(name, '.'):
		return boterr.Invalid("", "the name %q of a field holds a dot; use $getField or $setField", name)
	case strings.ContainsRune(name, 0):
		return boterr.Invalid("", "the name %q of a field holds a NUL byte", name)
	default:
		return nil
	}
}

// checkVariableName refuses what cannot be the name of a variable.
func checkVariableName(name string) error {
	if name == "" {
		return boterr.Invalid("", "the name of a variable is empty")
	}
	for i, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
		if !letter && (i == 0 || r != '_' && (r < '0' || r > '9')) {
			return boterr.Invalid("", "%q is no name of a variable: a letter, then letters, digits and _", name)
		}
	}
	return nil
}

// checkNewVariable refuses what cannot be the name of a variable that an expression
// defines: those that begin with an upper-case letter belong to MongoDB.
func checkNewVariable(name string) error {
	if err := checkVariableName(name); err != nil {
		return err
	}
	if name != "CURRENT" && name[0] >= 'A' && name[0] <= 'Z' {
		return boterr.Invalid("", "the variable %q must begin with a lower-case letter", name)
	}
	return nil
}
