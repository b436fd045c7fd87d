package query

import (
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// objectFunctions are the operators that create and split objects.
var objectFunctions = map[string]function{
	"$mergeObjects":  {compute: merged},
	"$objectToArray": {least: 1, most: 1, nulls: 1, all: anObject, compute: pairsOf},
	"$arrayToObject": {least: 1, most: 1, nulls: 1, all: anArray, compute: objectOfPairs},
	"$setField":      {least: 3, names: []string{"field", "input", "value"}, prepare: prepareFieldName, compute: withField},
	"$unsetField":    {least: 2, names: []string{"field", "input"}, prepare: prepareFieldName, compute: withField},
}

// merged is $mergeObjects. Null and missing values do not count.
func merged(run *expressionRun, arguments []any) (any, error) {
	b := document.NewBuilder(0)
	for _, argument := range arguments {
		if isNullish(argument) {
			continue
		}
		o, ok := argument.(document.Object)
		if !ok {
			return nil, boterr.Invalid("", "needs objects, got %s", document.TypeName(argument))
		}
		if err := run.limits.spend(o.Len()*keyWork + o.Size()/bytesOfWork); err != nil {
			return nil, err
		}
		for name, value := range o.All() {
			b.Set(name, value)
		}
	}
	return run.limits.object(b.Object())
}

func pairsOf(run *expressionRun, arguments []any) (any, error) {
	o := arguments[0].(document.Object)
	if err := run.limits.spend(o.Len() * objectWork); err != nil {
		return nil, err
	}
	pairs := make([]any, 0, o.Len())
	for name, value := range o.All() {
		b := document.NewBuilder(2)
		b.Set("k", name)
		b.Set("v", value)
		pairs = append(pairs, b.Object())
	}
	return run.limits.array(pairs)
}

// objectOfPairs is $arrayToObject. The first pair decides whether all pairs are [key, value] or {k, v}.
func objectOfPairs(run *expressionRun, arguments []any) (any, error) {
	array := arguments[0].(document.Array)
	if err := run.limits.spend(array.Len() * keyWork); err != nil {
		return nil, err
	}
	pairIn := objectPair
	if _, ofArrays := array.At(0).(document.Array); ofArrays {
		pairIn = arrayPair
	}
	b := document.NewBuilder(array.Len())
	for i, item := range array.Items() {
		key, value, err := pairIn(item)
		if err != nil {
			return nil, boterr.PrefixField(boterr.Index(i), err)
		}
		if err := run.limits.spend(len(key) / bytesOfWork); err != nil {
			return nil, err
		}
		b.Set(key, value)
	}
	return run.limits.object(b.Object())
}

// arrayPair parses [key, value].
func arrayPair(item any) (string, any, error) {
	pair, _ := item.(document.Array)
	if pair.Len() != 2 {
		return "", nil, boterr.Invalid("", "must be an array of a key and a value, like the first one, got %s", document.Excerpt(item))
	}
	key, err := pairKey(pair.At(0))
	return key, pair.At(1), err
}

// objectPair parses {k: key, v: value}.
func objectPair(item any) (string, any, error) {
	pair, _ := item.(document.Object)
	k, ok1 := pair.Field("k")
	value, ok2 := pair.Field("v")
	if !ok1 || !ok2 || pair.Len() != 2 {
		return "", nil, boterr.Invalid("", "must be an object of only k and v, like the first one, got %s", document.Excerpt(item))
	}
	key, err := pairKey(k)
	return key, value, err
}

func pairKey(key any) (string, error) {
	name, ok := key.(string)
	switch {
	case !ok:
		return "", boterr.Invalid("", "the key must be a string, got %s", document.TypeName(key))
	case strings.ContainsRune(name, 0):
		return "", boterr.Invalid("", "the key %s contains a NUL byte", document.Excerpt(name))
	default:
		return name, nil
	}
}

// fieldOf is $getField. The name may contain dots and begin with a dollar sign.
type fieldOf struct{ name, input expression }

// getField compiles $getField, given as {field, input} or as the name alone.
func (c expressionCompiler) getField(operand any) (expression, error) {
	e := &fieldOf{input: wholeRoot{}}
	var err error
	named, ok := operand.(document.Object)
	if !ok || isOperatorObject(named) {
		if slot, bound := c.scope.find("CURRENT"); bound {
			e.input = variable(slot)
		}
		e.name, err = c.expression(operand)
	} else {
		var arguments []expression
		if arguments, err = c.named(operand, []string{"field", "input"}, 2); err == nil {
			e.name, e.input = arguments[0], arguments[1]
		}
	}
	if err != nil {
		return nil, err
	}
	if name, ok := e.name.(constant); ok && aString(name.value) != nil {
		return nil, boterr.PrefixField("field", aString(name.value))
	}
	return c.folded(e, e.name, e.input)
}

func (e *fieldOf) evaluate(run *expressionRun) (any, error) {
	name, err := e.name.evaluate(run)
	if err != nil {
		return nil, err
	}
	field, ok := name.(string)
	if !ok {
		return nil, boterr.PrefixField("$getField", aString(name))
	}
	input, err := e.input.evaluate(run)
	if err != nil || input == nil {
		return nil, err
	}
	o, ok := input.(document.Object)
	if !ok {
		return document.Missing, nil
	}
	return o.Value(field), run.limits.spend(len(field) / bytesOfWork)
}

// prepareFieldName checks the name of the field, which must be a constant.
func prepareFieldName(_ expressionCompiler, arguments []expression) error {
	name, ok := arguments[0].(constant)
	if !ok {
		return boterr.Invalid("field", "must be a constant; for a name that begins with $ use $literal")
	}
	return boterr.PrefixField("field", aString(name.value))
}

// withField is $setField, and $unsetField, which has no value.
func withField(run *expressionRun, arguments []any) (any, error) {
	if isNullish(arguments[1]) {
		return nil, nil
	}
	o, ok := arguments[1].(document.Object)
	if !ok {
		return nil, anObject(arguments[1])
	}
	value := any(document.Missing)
	if len(arguments) > 2 {
		value = arguments[2]
	}
	return run.limits.object(o.Put(arguments[0].(string), value))
}

type scope struct {
	outer *scope
	name  string
	slot  int
}

// with returns a compiler with an additional variable, and the variable's slot.
func (c expressionCompiler) with(name string) (expressionCompiler, int) {
	slot := c.slots
	c.slots++
	c.scope = &scope{outer: c.scope, name: name, slot: slot}
	return c, slot
}

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

// variable compiles the name after "$$".
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
			return nil, boterr.Invalid("", "$$NOW is not supported here; write the time itself")
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

type wholeRoot struct{}

func (wholeRoot) evaluate(run *expressionRun) (any, error) { return run.root, nil }

type currentTime struct{}

func (currentTime) evaluate(run *expressionRun) (any, error) { return document.ValueOf(run.now) }

type variable int

func (v variable) evaluate(run *expressionRun) (any, error) { return run.variables[v], nil }

type fieldPathOfRoot struct{ path *fieldPath }

func fieldAt(path *fieldPath) expression { return &fieldPathOfRoot{path} }

func (e *fieldPathOfRoot) evaluate(run *expressionRun) (any, error) {
	return run.at(e.path, 0, run.root)
}

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

// at follows a path from part i on, by the rules of expressions: an array on the path becomes the array of the
// values that the rest of the path selects in each of its objects. A number in the path is the name of a field.
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

func checkFieldName(name string) error {
	switch {
	case name == "":
		return boterr.Invalid("", "the name of a field is empty")
	case isOperator(name):
		return boterr.Invalid("", "the name %q of a field begins with $; use $getField or $setField", name)
	case strings.ContainsRune(name, '.'):
		return boterr.Invalid("", "the name %q of a field contains a dot; use $getField or $setField", name)
	case strings.ContainsRune(name, 0):
		return boterr.Invalid("", "the name %q of a field contains a NUL byte", name)
	default:
		return nil
	}
}

func checkVariableName(name string) error {
	if name == "" {
		return boterr.Invalid("", "the name of a variable is empty")
	}
	for i, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
		if !letter && (i == 0 || r != '_' && (r < '0' || r > '9')) {
			return boterr.Invalid("", "%q cannot be the name of a variable; use a letter followed by letters, digits and _", name)
		}
	}
	return nil
}

// checkNewVariable returns an error for a name that an expression cannot define as a variable. As in MongoDB,
// names that begin with an upper-case letter are reserved.
func checkNewVariable(name string) error {
	if err := checkVariableName(name); err != nil {
		return err
	}
	if name != "CURRENT" && name[0] >= 'A' && name[0] <= 'Z' {
		return boterr.Invalid("", "the variable %q must begin with a lower-case letter", name)
	}
	return nil
}
