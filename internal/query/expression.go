package query

import (
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// expression is a compiled aggregation expression. It is immutable and safe for
// concurrent use.
type expression interface {
	// evaluate returns the value for the document of a run, or document.Missing.
	evaluate(run *expressionRun) (any, error)
}

// expressionRun is one evaluation of an expression over one document. reset prepares it for another document.
// It must not be used by several goroutines at once. The zero value is ready to use.
type expressionRun struct {
	root document.Object
	now  time.Time
	// variables are the values of $let, $map and others, indexed by slot.
	variables []any
	// stack holds the arguments of the active calls.
	stack []any
	// pattern is the most recently compiled pattern.
	pattern struct {
		source   patternSource
		compiled *pattern
	}
	// zones are loaded time zones by name.
	zones map[string]*time.Location
	// The work and the size of values have limits.
	limits workLimits
}

// reset prepares the run for another document and releases the previous one.
func (run *expressionRun) reset() {
	clear(run.variables)
	clear(run.stack)
	run.stack = run.stack[:0]
	run.root, run.now = document.Object{}, time.Time{}
	run.limits = workLimits{}
}

func (run *expressionRun) bind(slot int, value any) {
	for len(run.variables) <= slot {
		run.variables = append(run.variables, document.Missing)
	}
	run.variables[slot] = value
}

type constant struct{ value any }

func (c constant) evaluate(*expressionRun) (any, error) { return c.value, nil }

func compileExpression(source any) (expression, error) {
	return expressionCompiler{costs: new(costs)}.expression(source)
}

// expressionCompiler compiles expressions in a scope of variables.
type expressionCompiler struct {
	scope *scope
	// slots is the number of variables in use.
	slots int
	// timeless is true if $$NOW is not available, as in a projection.
	timeless bool
	// usesNow, if not nil, is set to true if $$NOW is used.
	usesNow *bool
	// costs are the costs of the whole source.
	costs *costs
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
		return nil, boterr.Invalid(name, "an expression has one operator, but there are %s and %q", name, source.NameAt(1))
	}
	e, err := c.operator(name, operand)
	if err != nil {
		return nil, boterr.PrefixField(name, err)
	}
	return e, nil
}

func (c expressionCompiler) operator(name string, operand any) (expression, error) {
	if results, ok := comparisons[name]; ok {
		return c.comparison(results, operand)
	}
	if compile := specialForm(name); compile != nil {
		return compile(c, operand)
	}
	if f, ok := findFunction(name); ok {
		return c.call(name, f, operand)
	}
	if advice, ok := unsupportedExpressions[name]; ok {
		return nil, boterr.Invalid("", "%s is not supported%s", name, advice)
	}
	return nil, boterr.Invalid("", "unrecognized expression %q", name)
}

// specialForm returns the compiler of an operator that does not evaluate all its arguments in advance, because it may
// skip some or binds variables. It returns nil if name is not such an operator.
func specialForm(name string) func(c expressionCompiler, operand any) (expression, error) {
	for _, form := range [...]struct {
		name    string
		compile func(c expressionCompiler, operand any) (expression, error)
	}{
		{"$and", expressionCompiler.and},
		{"$or", expressionCompiler.or},
		{"$cond", expressionCompiler.conditional},
		{"$ifNull", expressionCompiler.ifNull},
		{"$switch", expressionCompiler.switchOver},
		{"$let", expressionCompiler.let},
		{"$map", expressionCompiler.mapOver},
		{"$filter", expressionCompiler.filterOver},
		{"$reduce", expressionCompiler.reduceOver},
		{"$literal", literal},
		{"$const", literal},
		{"$convert", expressionCompiler.convert},
		{"$zip", expressionCompiler.zip},
		{"$sortArray", expressionCompiler.sortArray},
		{"$getField", expressionCompiler.getField},
	} {
		if form.name == name {
			return form.compile
		}
	}
	return nil
}

func literal(_ expressionCompiler, operand any) (expression, error) { return constant{operand}, nil }

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
	return c.folded(e, e.values...)
}

// objectOf creates an object. Fields with missing values are left out.
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

func (c expressionCompiler) array(source document.Array) (expression, error) {
	items, err := c.expressions(source)
	if err != nil {
		return nil, err
	}
	return c.folded(arrayOfExpressions(items), items...)
}

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

// arrayOfExpressions creates an array. Missing values become null.
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
	// maxFolded is the size up to which a constant is always kept.
	maxFolded = 4096
	// maxFoldedPart is the maximum ratio of the size of a constant above maxFolded to the size of its parts.
	maxFoldedPart = 16
	// maxFoldedWork bounds the work for a constant, without the work for its parts. A costlier constant is
	// computed each time.
	maxFoldedWork = 1 << 14
	// maxFoldingWork bounds the work for all constants of a source.
	maxFoldingWork = 1 << 24
)

// folded returns the constant value of an expression whose parts are constants, or its error. It does not keep a
// constant that is much larger than its parts, such as from a $range, because a compiled filter may live long.
func (c expressionCompiler) folded(e expression, parts ...expression) (expression, error) {
	most := maxFolded
	for _, part := range parts {
		known, ok := part.(constant)
		if !ok {
			return e, nil
		}
		most = addWork(most, maxFoldedPart*(1+min(document.SizeOf(known.value), document.MaxSize)))
	}
	if c.costs.folding > maxFoldingWork {
		return e, nil
	}
	before := maxWork - min(maxWork, maxFoldedWork+most)
	run := &expressionRun{limits: workLimits{done: before}}
	value, err := e.evaluate(run)
	c.costs.folding += run.limits.done - before
	switch {
	case run.limits.done > maxWork, err == nil && document.SizeOf(value) > most:
		return e, nil
	case err != nil:
		return nil, withoutOperator(err)
	}
	return constant{value}, nil
}

// withoutOperator removes the operator from the field of an evaluation error. The caller of the compiler adds
// it again.
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

func isNullish(value any) bool { return value == nil || value == document.Missing }

func orNull(value any) any {
	if value == document.Missing {
		return nil
	}
	return value
}

// isTruthy returns a value as a boolean in expressions: false, 0, null and missing are false.
func isTruthy(value any) bool { return value != document.Missing && isTrue(value) }

// function is an operator whose result only depends on the values of its arguments.
type function struct {
	// least and most bound the number of arguments in an array; a most of 0 allows any number. A single argument
	// needs no array around it.
	least, most int
	// names are the argument names in the object form; the first least of them are required. If names is set and most
	// is 0, the arguments must be an object.
	names []string
	// nullFirst is true if the first null or missing argument determines the result: it is null, and later arguments
	// are not evaluated.
	nullFirst bool
	// nulls is the number of leading arguments that make the result null if one of them is null or missing.
	nulls int
	// takes are the types of the first arguments, and all is the type of every argument. nil means any type.
	takes []argumentType
	all   argumentType
	// prepare, if not nil, checks or changes the compiled arguments.
	prepare func(c expressionCompiler, arguments []expression) error
	// compute returns the result. The arguments have the right types. Its error names neither the operator nor the
	// argument.
	compute func(run *expressionRun, arguments []any) (any, error)
}

// absent is the value of an optional argument that is not given.
var absent = absentArgument{}

type absentArgument struct{}

type call struct {
	name      string
	function  function
	arguments []expression
}

// call compiles the arguments of a function and lets it prepare them. It evaluates calls of constants at once.
func (c expressionCompiler) call(name string, f function, operand any) (expression, error) {
	arguments, err := c.argumentsOf(f, operand)
	if err != nil {
		return nil, err
	}
	if f.prepare != nil {
		if err := f.prepare(c, arguments); err != nil {
			return nil, err
		}
	}
	return c.folded(&call{name: name, function: f, arguments: arguments}, arguments...)
}

// argumentsOf compiles the arguments in either form: an array or an object.
func (c expressionCompiler) argumentsOf(f function, operand any) ([]expression, error) {
	if f.names != nil {
		if o, ok := operand.(document.Object); f.most == 0 || ok && !isOperatorObject(o) {
			return c.named(operand, f.names, f.least)
		}
	}
	arguments, err := c.positional(operand, f.least, f.most)
	for len(arguments) < len(f.names) {
		arguments = append(arguments, constant{absent})
	}
	return arguments, err
}

// positional compiles an array of arguments, or a single argument without an array.
func (c expressionCompiler) positional(operand any, least, most int) ([]expression, error) {
	list, ok := operand.(document.Array)
	if !ok {
		list = document.A(operand)
	}
	count := list.Len()
	switch {
	case least == most && most > 0 && count != least:
		return nil, boterr.Invalid("", "takes %d arguments, got %d", least, count)
	case count < least:
		return nil, boterr.Invalid("", "takes at least %d arguments, got %d", least, count)
	case most > 0 && count > most:
		return nil, boterr.Invalid("", "takes at most %d arguments, got %d", most, count)
	}
	if !ok {
		e, err := c.expression(operand)
		return []expression{e}, err
	}
	return c.expressions(list)
}

// named compiles an object of arguments, and returns them in the order of names. An argument that is not given
// is absent.
func (c expressionCompiler) named(operand any, names []string, required int) ([]expression, error) {
	source, err := namedArguments(operand, names, required)
	if err != nil {
		return nil, err
	}
	arguments := make([]expression, len(names))
	for i, name := range names {
		arguments[i] = constant{absent}
		if given, ok := source[name]; ok {
			if arguments[i], err = c.expression(given); err != nil {
				return nil, boterr.PrefixField(name, err)
			}
		}
	}
	return arguments, nil
}

// namedArguments returns the arguments in an object by their names. The first ones are required.
func namedArguments(operand any, names []string, required int) (map[string]any, error) {
	named, ok := operand.(document.Object)
	if !ok {
		return nil, document.WrongType("object", operand)
	}
	arguments := make(map[string]any, named.Len())
	for name, source := range named.All() {
		if !slices.Contains(names, name) {
			return nil, boterr.Invalid(name, "there is no such argument; the arguments are %q", names)
		}
		arguments[name] = source
	}
	for _, name := range names[:required] {
		if _, ok := arguments[name]; !ok {
			return nil, boterr.Invalid(name, "the argument is required")
		}
	}
	return arguments, nil
}

func (c *call) evaluate(run *expressionRun) (any, error) {
	base := len(run.stack)
	for _, argument := range c.arguments {
		value, err := argument.evaluate(run)
		if err != nil {
			return nil, err
		}
		if c.function.nullFirst && isNullish(value) {
			_, err := c.compute(run, base) // Earlier arguments of a wrong type are reported.
			return nil, err
		}
		run.stack = append(run.stack, value)
	}
	return c.compute(run, base)
}

// compute calls the function with the arguments from base on, and removes them from the stack.
func (c *call) compute(run *expressionRun, base int) (any, error) {
	var result any
	isNull, err := c.function.check(run.stack[base:])
	if err == nil && !isNull {
		result, err = c.function.compute(run, run.stack[base:])
	}
	run.stack = run.stack[:base]
	if err != nil {
		return nil, boterr.PrefixField(c.name, err)
	}
	return result, nil
}

func findFunction(name string) (function, bool) {
	for _, family := range functionFamilies {
		if f, ok := family[name]; ok {
			return f, true
		}
	}
	return function{}, false
}

var functionFamilies = []map[string]function{
	arithmeticFunctions, roundingFunctions, trigonometricFunctions, bitFunctions, accumulatingFunctions,
	booleanFunctions, stringFunctions, substringFunctions, patternFunctions, arrayFunctions, setFunctions, objectFunctions,
	typeFunctions, dateFunctions, dateMathFunctions, dateTextFunctions,
}

// unsupportedExpressions maps the MongoDB operators that this package lacks to alternatives, or to "".
var unsupportedExpressions = map[string]string{
	"$function":           ": it runs JavaScript",
	"$accumulator":        ": it runs JavaScript",
	"$where":              ": it runs JavaScript",
	"$rand":               ": a result must not depend on chance; put the number itself there",
	"$sampleRate":         ": a result must not depend on chance",
	"$createObjectId":     ": a result must not depend on chance",
	"$meta":               "",
	"$toDecimal":          ": there are no decimal numbers; use $toDouble",
	"$toObjectId":         ": there are no object ids; they are strings",
	"$toUUID":             ": there is no binary data; UUIDs are strings",
	"$toHashedIndexKey":   "",
	"$toArray":            "",
	"$toObject":           "",
	"$hash":               "",
	"$hexHash":            "",
	"$bsonSize":           "",
	"$subtype":            "",
	"$tsSecond":           ": there are no timestamps; use dates",
	"$tsIncrement":        ": there are no timestamps; use dates",
	"$median":             "",
	"$percentile":         "",
	"$sigmoid":            "",
	"$encStrStartsWith":   "",
	"$encStrEndsWith":     "",
	"$encStrContains":     "",
	"$encStrNormalizedEq": "",
}

// maxWork is the maximum work of an expression on one document, in bytes written or compared.
const maxWork = 64 << 20

// workLimits limits the work of an expression on one document, in total and for the size of each created value. A
// value may contain another one many times, so its size can be much larger than its memory.
type workLimits struct {
	done int
	// call is the call that evaluates the expression, or nil at compile time.
	call *Evaluation
}

// spend counts work and returns an error if it is too much.
func (l *workLimits) spend(work int) error {
	l.done += min(work, maxWork+1)
	if l.done > maxWork {
		return boterr.Invalid("", "the expression does too much for one document: it writes or reads "+
			"more than %d MiB", maxWork>>20)
	}
	if l.call != nil && !l.call.budget.spend(work) {
		return l.call.budget.failure
	}
	return nil
}

func (l *workLimits) steps(n int) error { return l.spend(n * stepWork) }

func (l *workLimits) comparing(a, b any) error {
	if work := comparisonWork(a, b); work > 0 {
		return l.spend(work)
	}
	return nil
}

// ordering charges for sorting values that were already visited. It only charges the call, because sorting a long
// array would exceed the limit for one document.
func (l *workLimits) ordering(work int) error {
	if l.call == nil {
		return l.spend(work)
	}
	return l.call.charge(work)
}

// text returns an error if a string would be too long. It must be called before the string is created.
func (l *workLimits) text(length int) error {
	if length > document.MaxSize {
		return tooLarge()
	}
	return l.spend(length)
}

// items returns an error if an array would be too long. It must be called before the array is created.
func (l *workLimits) items(n int) error {
	const least = 4 // the minimum size of an element
	if n > document.MaxSize/least {
		return tooLarge()
	}
	return l.steps(n)
}

// array returns items as an array. It returns an error if the array is too large or nested too deeply.
func (l *workLimits) array(items []any) (any, error) {
	a := document.ArrayOf(items)
	return l.made(a, a.Err(), arrayWork+len(items)*stepWork)
}

// object returns o. It returns an error if o is too large or nested too deeply.
func (l *workLimits) object(o document.Object) (any, error) {
	return l.made(o, o.Err(), objectWork+o.Len()*stepWork)
}

func (l *workLimits) made(value any, err error, work int) (any, error) {
	switch {
	case err != nil:
		return nil, err
	case document.SizeOf(value) > document.MaxSize:
		return nil, tooLarge()
	default:
		return value, l.spend(work)
	}
}

func tooLarge() error {
	return boterr.Invalid("", "the value is larger than %d MiB", document.MaxSize>>20)
}

// accumulatingFunctions are the operators that combine the values of all arguments, or the elements of a
// single array.
var accumulatingFunctions = map[string]function{
	"$sum":        {compute: overAll(sumOf)},
	"$avg":        {compute: overAll(averageOf)},
	"$min":        {compute: overAll(extremeOf(-1))},
	"$max":        {compute: overAll(extremeOf(1))},
	"$stdDevPop":  {compute: overAll(deviationOf(0))},
	"$stdDevSamp": {compute: overAll(deviationOf(1))},
}

// overAll makes a function accept a single array in place of several values.
func overAll(compute func(run *expressionRun, values []any) (any, error)) func(*expressionRun, []any) (any, error) {
	return func(run *expressionRun, arguments []any) (any, error) {
		if len(arguments) == 1 {
			if array, ok := arguments[0].(document.Array); ok {
				arguments = array.Items()
			}
		}
		if err := run.limits.steps(len(arguments)); err != nil {
			return nil, err
		}
		return compute(run, arguments)
	}
}

func sumOf(_ *expressionRun, values []any) (any, error) {
	var sum summation
	for _, value := range values {
		sum.add(value)
	}
	return sum.total(), nil
}

// averageOf returns the average of the numbers among values, or null if there are none.
func averageOf(_ *expressionRun, values []any) (any, error) {
	var sum summation
	for _, value := range values {
		sum.add(value)
	}
	if sum.count == 0 {
		return nil, nil
	}
	return sum.float() / float64(sum.count), nil
}

// extremeOf returns the least value for the sign -1, and the greatest value for 1. Null and missing values do not
// count.
func extremeOf(sign int) func(*expressionRun, []any) (any, error) {
	return func(run *expressionRun, values []any) (any, error) {
		var best any
		for _, value := range values {
			if isNullish(value) {
				continue
			}
			if err := run.limits.comparing(value, best); err != nil {
				return nil, err
			}
			if best == nil || document.Compare(value, best)*sign > 0 {
				best = value
			}
		}
		return best, nil
	}
}

// deviationOf returns the standard deviation of the numbers among values. lost is subtracted from their number: it is
// 1 for a sample, which needs at least two numbers.
func deviationOf(lost int) func(*expressionRun, []any) (any, error) {
	return func(_ *expressionRun, values []any) (any, error) {
		var mean, squares float64
		count := 0
		for _, value := range values {
			f, ok := document.FloatNumber(value)
			if !ok {
				continue
			}
			count++
			delta := f - mean
			mean += delta / float64(count)
			squares += delta * (f - mean)
		}
		if count <= lost {
			return nil, nil
		}
		return math.Sqrt(squares / float64(count-lost)), nil
	}
}

// summation adds numbers without losing small ones among large ones: integers exactly, doubles as a sum and a
// rest.
type summation struct {
	// high and low are the 128-bit sum of the integers.
	high int64
	low  uint64
	// The sum of the doubles is sum plus rest. plain is the ordinary sum, which is the result if it is infinite or
	// NaN.
	sum, rest, plain float64
	hasDouble        bool
	count            int64
}

// add adds a value if it is a number.
func (s *summation) add(value any) {
	switch n := value.(type) {
	case int64:
		low, carry := bits.Add64(s.low, uint64(n), 0)
		s.low = low
		s.high += n>>63 + int64(carry)
	case float64:
		s.hasDouble = true
		s.addDouble(n)
	default:
		return
	}
	s.count++
}

func (s *summation) addDouble(f float64) {
	s.plain += f
	total := s.sum + f
	part := total - s.sum
	s.rest += (s.sum - (total - part)) + (f - part)
	s.sum = total
}

// total returns the sum. It is an integer if only integers were added and the sum fits into an int64; otherwise it is
// a double.
func (s *summation) total() any {
	if !s.hasDouble && s.high == int64(s.low)>>63 {
		return int64(s.low)
	}
	return s.float()
}

func (s *summation) float() float64 {
	whole := *s
	const upper = 1 << 32
	whole.addDouble(float64(s.high) * upper * upper)
	whole.addDouble(float64(s.low>>32) * upper)
	whole.addDouble(float64(s.low & (upper - 1)))
	total := whole.sum + whole.rest
	if math.IsNaN(total) {
		return whole.plain
	}
	return total
}
