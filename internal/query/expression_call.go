package query

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// function is an operator that is computed from the values of all its arguments.
type function struct {
	// least and most are how many arguments it takes in a row; a most of 0 is any
	// number. A single one may stand without the array around it.
	least, most int
	// names are its arguments where they stand in an object; the first least of them
	// are required. Where most is 0, too, they can stand in no other form.
	names []string
	// nullFirst tells that the first argument that is null or missing decides: the
	// result is null, and what follows is not evaluated.
	nullFirst bool
	// prepare, where given, checks and changes the compiled arguments.
	prepare func(arguments []expression) error
	// compute returns the result. Its error names neither operator nor argument.
	compute func(run *expressionRun, arguments []any) (any, error)
}

// absent stands for an optional argument that was not given.
var absent = absentArgument{}

type absentArgument struct{}

// call is a function with its arguments.
type call struct {
	name      string
	function  function
	arguments []expression
}

// call compiles the arguments of a function.
func (c expressionCompiler) call(name string, f function, operand any) (expression, error) {
	arguments, err := c.argumentsOf(f, operand)
	if err != nil {
		return nil, err
	}
	if f.prepare != nil {
		if err := f.prepare(arguments); err != nil {
			return nil, err
		}
	}
	return folded(&call{name: name, function: f, arguments: arguments}, arguments...)
}

// argumentsOf compiles the arguments in whichever form they stand.
func (c expressionCompiler) argumentsOf(f function, operand any) ([]expression, error) {
	if f.names != nil {
		named, ok := operand.(document.Object)
		if ok && (f.most == 0 || !isOperatorObject(named)) {
			return c.named(named, f.names, f.least)
		}
		if f.most == 0 {
			return nil, document.WrongType("object", operand)
		}
	}
	arguments, err := c.positional(operand, f.least, f.most)
	for len(arguments) < len(f.names) {
		arguments = append(arguments, constant{absent})
	}
	return arguments, err
}

// positional compiles arguments in a row.
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

// named compiles arguments that stand in an object, in the order of names. One that
// is not given is absent.
func (c expressionCompiler) named(operand document.Object, names []string, required int) ([]expression, error) {
	arguments := make([]expression, len(names))
	for i := range arguments {
		arguments[i] = constant{absent}
	}
	for name, source := range operand.All() {
		i := indexOfName(names, name)
		if i < 0 {
			return nil, boterr.Invalid(name, "there is no such argument; the arguments are %q", names)
		}
		e, err := c.expression(source)
		if err != nil {
			return nil, boterr.PrefixField(name, err)
		}
		arguments[i] = e
	}
	for _, name := range names[:required] {
		if _, ok := operand.Field(name); !ok {
			return nil, boterr.Invalid(name, "the argument is required")
		}
	}
	return arguments, nil
}

func indexOfName(names []string, name string) int {
	for i, known := range names {
		if known == name {
			return i
		}
	}
	return -1
}

func (c *call) evaluate(run *expressionRun) (any, error) {
	base := len(run.stack)
	for _, argument := range c.arguments {
		value, err := argument.evaluate(run)
		if err != nil {
			return nil, err
		}
		if c.function.nullFirst && isNullish(value) {
			_, err := c.compute(run, base) // An error in what stands before is one.
			return nil, err
		}
		run.stack = append(run.stack, value)
	}
	return c.compute(run, base)
}

// compute takes the arguments off the stack.
func (c *call) compute(run *expressionRun, base int) (any, error) {
	result, err := c.function.compute(run, run.stack[base:])
	run.stack = run.stack[:base]
	if err != nil {
		return nil, boterr.PrefixField(c.name, err)
	}
	return result, nil
}

// findFunction returns the function of a name.
func findFunction(name string) (function, bool) {
	for _, family := range functionFamilies {
		if f, ok := family[name]; ok {
			return f, true
		}
	}
	return function{}, false
}

// functionFamilies are the operators that are functions.
var functionFamilies = []map[string]function{
	arithmeticFunctions, roundingFunctions, trigonometricFunctions, bitFunctions, accumulatingFunctions,
	booleanFunctions, stringFunctions, substringFunctions, arrayFunctions, setFunctions, objectFunctions,
	typeFunctions, dateFunctions, dateMathFunctions, dateTextFunctions,
}

// unsupportedExpressions are operators that MongoDB has and this package has not, with
// what to do instead where there is something.
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
