package query

import (
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// expression is a compiled aggregation expression. It is immutable and safe for
// concurrent use.
type expression interface {
	// evaluate returns the value over the document of a run: missing where there is
	// none.
	evaluate(run *expressionRun) (any, error)
}

// expressionRun is one evaluation of an expression over one document. It serves one
// goroutine, and another document after reset. The zero one is ready.
type expressionRun struct {
	// root is the document: $$ROOT.
	root document.Object
	// now is $$NOW.
	now time.Time
	// variables are the values of $let, $map and others, by their slots.
	variables []any
	// stack holds the arguments of the calls that are under way.
	stack []any
	// pattern is the pattern that was compiled last.
	pattern struct {
		source   patternSource
		compiled *pattern
	}
	// limits bounds the work and the size of values.
	limits workLimits
}

// reset prepares the run for another document, and lets go of the one before.
func (run *expressionRun) reset() {
	clear(run.variables)
	clear(run.stack)
	run.stack = run.stack[:0]
	run.root, run.now = document.Object{}, time.Time{}
	run.limits = workLimits{}
}

// bind sets a variable.
func (run *expressionRun) bind(slot int, value any) {
	for len(run.variables) <= slot {
		run.variables = append(run.variables, document.Missing)
	}
	run.variables[slot] = value
}

// constant is a value that no document changes.
type constant struct{ value any }

func (c constant) evaluate(*expressionRun) (any, error) { return c.value, nil }

// compileExpression compiles an expression that may use $$NOW.
func compileExpression(source any) (expression, error) {
	return expressionCompiler{instructions: new(int)}.expression(source)
}

// expressionCompiler compiles expressions where certain variables are known.
type expressionCompiler struct {
	scope *scope
	// slots is the number of variables that are in use.
	slots int
	// timeless tells that there is no clock, as there is none for a projection.
	timeless bool
	// usesNow, where given, is set where $$NOW is used.
	usesNow *bool
	// instructions counts those of the patterns.
	instructions *int
}

// expression compiles a path, a variable, an operator, an object or array of
// expressions, or a constant.
func (c expressionCompiler) expression(source any) (expression, error) {
	switch v := source.(type) {
	case string:
		if isOperator(v) {
			return c.path(v)
		}
	case document.Object:
		return c.object(v)
	case document.Array:
		return c.array(v)
	}
	return constant{source}, nil
}

// object compiles {$operator: arguments} or an object of expressions.
func (c expressionCompiler) object(source document.Object) (expression, error) {
	if !isOperatorObject(source) {
		return c.fields(source)
	}
	name, operand := source.NameAt(0), source.At(0)
	if source.Len() > 1 {
		return nil, boterr.Invalid(name, "an expression has one operator, and beside %s stands %q", name, source.NameAt(1))
	}
	e, err := c.operator(name, operand)
	if err != nil {
		return nil, boterr.PrefixField(name, err)
	}
	return e, nil
}

// operator compiles an operator with its arguments.
func (c expressionCompiler) operator(name string, operand any) (expression, error) {
	if e, ok, err := c.specialForm(name, operand); ok || err != nil {
		return e, err
	}
	if f, ok := findFunction(name); ok {
		return c.call(name, f, operand)
	}
	if advice, ok := unsupportedExpressions[name]; ok {
		return nil, boterr.Invalid("", "%s is not supported%s", name, advice)
	}
	return nil, boterr.Invalid("", "unrecognized expression %q", name)
}

// specialForm compiles an operator that does not evaluate all its arguments first, such as one that
// skips some or binds variables. ok tells that name is such an operator.
func (c expressionCompiler) specialForm(name string, operand any) (e expression, ok bool, err error) {
	compile, ok := c.forms(name)
	if !ok {
		return nil, false, nil
	}
	e, err = compile(operand)
	return e, true, err
}

// forms returns the compiler of an operator of form.
func (c expressionCompiler) forms(name string) (func(operand any) (expression, error), bool) {
	for _, family := range []func(string) func(any) (expression, error){
		c.comparisonForm, c.branchForm, c.variableForm, c.valueForm,
	} {
		if compile := family(name); compile != nil {
			return compile, true
		}
	}
	return nil, false
}

func (c expressionCompiler) comparisonForm(name string) func(operand any) (expression, error) {
	switch name {
	case "$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$cmp":
		return func(operand any) (expression, error) { return c.comparison(name, operand) }
	case "$regexMatch", "$regexFind", "$regexFindAll":
		return func(operand any) (expression, error) { return c.regex(name, operand) }
	default:
		return nil
	}
}

func (c expressionCompiler) branchForm(name string) func(operand any) (expression, error) {
	switch name {
	case "$and":
		return c.and
	case "$or":
		return c.or
	case "$cond":
		return c.conditional
	case "$ifNull":
		return c.ifNull
	case "$switch":
		return c.switchOver
	default:
		return nil
	}
}

func (c expressionCompiler) variableForm(name string) func(operand any) (expression, error) {
	switch name {
	case "$let":
		return c.let
	case "$map":
		return c.mapOver
	case "$filter":
		return c.filterOver
	case "$reduce":
		return c.reduceOver
	default:
		return nil
	}
}

func (c expressionCompiler) valueForm(name string) func(operand any) (expression, error) {
	switch name {
	case "$literal", "$const":
		return func(operand any) (expression, error) { return constant{operand}, nil }
	case "$convert":
		return c.convert
	case "$zip":
		return c.zip
	case "$sortArray":
		return c.sortArray
	case "$getField":
		return c.getField
	case "$setField":
		return c.setField
	case "$unsetField":
		return c.unsetField
	default:
		return nil
	}
}

// fields compiles an object of expressions.
func (c expressionCompiler) fields(source document.Object) (expression, error) {
	e := &objectOf{names: source.Keys(), values: make([]expression, 0, source.Len())}
	for name, value := range source.All() {
		if err := checkFieldName(name); err != nil {
			return nil, boterr.PrefixField(name, err)
		}
		compiled, err := c.expression(value)
		if err != nil {
			return nil, boterr.PrefixField(name, err)
		}
		e.values = append(e.values, compiled)
	}
	return folded(e, e.values...)
}

// objectOf makes an object. A field whose value is missing is left out.
type objectOf struct {
	names  []string
	values []expression
}

func (e *objectOf) evaluate(run *expressionRun) (any, error) {
	b := document.NewBuilder(len(e.names))
	for i, value := range e.values {
		v, err := value.evaluate(run)
		if err != nil {
			return nil, err
		}
		if v != document.Missing {
			b.Set(e.names[i], v)
		}
	}
	return run.limits.object(b.Object())
}

// array compiles an array of expressions.
func (c expressionCompiler) array(source document.Array) (expression, error) {
	items, err := c.expressions(source)
	if err != nil {
		return nil, err
	}
	return folded(arrayOfExpressions(items), items...)
}

// expressions compiles each element of an array.
func (c expressionCompiler) expressions(source document.Array) ([]expression, error) {
	items := make([]expression, 0, source.Len())
	for i, item := range source.Items() {
		e, err := c.expression(item)
		if err != nil {
			return nil, boterr.PrefixField(boterr.Index(i), err)
		}
		items = append(items, e)
	}
	return items, nil
}

// arrayOfExpressions makes an array. What is missing becomes null.
type arrayOfExpressions []expression

func (e arrayOfExpressions) evaluate(run *expressionRun) (any, error) {
	items := make([]any, 0, len(e))
	for _, item := range e {
		v, err := item.evaluate(run)
		if err != nil {
			return nil, err
		}
		items = append(items, orNull(v))
	}
	return run.limits.array(items)
}

const (
	// maxFolded is the size of a constant that is kept whatever it is made of.
	maxFolded = 4096
	// maxFoldedPart is how many times larger than its parts a larger constant may be; a list of
	// single bits makes an array so much larger.
	maxFoldedPart = 16
	// maxFoldedWork is the most work for a constant, without that for its parts. A constant that
	// takes more is computed when it is needed.
	maxFoldedWork = 1 << 14
)

// folded folds an expression whose parts are all constants into a constant, or returns the error
// that it would always give. A constant that is much larger than its parts, such as that of a
// $range, is not kept, since a compiled filter may stay long.
func folded(e expression, parts ...expression) (expression, error) {
	most := maxFolded
	for _, part := range parts {
		c, ok := part.(constant)
		if !ok {
			return e, nil
		}
		most = addWork(most, maxFoldedPart*(1+min(document.SizeOf(c.value), document.MaxSize)))
	}
	run := &expressionRun{limits: workLimits{done: maxWork - min(maxWork, maxFoldedWork+most)}}
	value, err := e.evaluate(run)
	switch {
	case run.limits.done > maxWork, err == nil && document.SizeOf(value) > most:
		return e, nil
	case err != nil:
		return nil, withoutOperator(err)
	}
	return constant{value}, nil
}

// withoutOperator cuts the operator off the field of an error that its evaluation gave,
// since whoever compiles it adds where it stands.
func withoutOperator(err error) error {
	e, ok := boterr.AsError(err)
	if !ok || !isOperator(e.Field) {
		return err
	}
	cut := *e
	cut.Field = ""
	if end := strings.IndexAny(e.Field, ".["); end >= 0 {
		cut.Field = strings.TrimPrefix(e.Field[end:], ".")
	}
	return &cut
}

// isNullish reports whether a value is null or missing.
func isNullish(value any) bool { return value == nil || value == document.Missing }

// orNull returns a value, null for missing.
func orNull(value any) any {
	if value == document.Missing {
		return nil
	}
	return value
}

// isTruthy reads a value as expressions do: false, 0, null and missing are false.
func isTruthy(value any) bool { return value != document.Missing && isTrue(value) }
