package script

import (
	"strings"
	"time"

	"github.com/dop251/goja"
)

// matchers are the methods that try regular expressions.
var matchers = []string{"exec", "match", "matchAll", "replace", "replaceAll", "search", "split", "test"}

// matched calls a method that tries a regular expression.
func (r *run) matched(method goja.Callable, call goja.FunctionCall) goja.Value {
	begun := time.Now() //nolint:forbidigo // How long it takes in fact, which no clock that is handed in tells.
	result := r.orThrow(method(call.This, call.Arguments...))
	r.checkMatch(begun)
	return result
}

// checkMatch throws where a function has taken so long that a match in it may have been cut off, which looks
// as if nothing were found.
func (r *run) checkMatch(begun time.Time) {
	if time.Since(begun) >= longMatch { //nolint:forbidigo // As where it began.
		r.tooLargef("a regular expression was tried for %v: one without look-around, back-references and repetitions "+
			"of repetitions takes no time", longMatch)
	}
}

// longMatch is how long a match takes that may have been cut off: the clock of the engine of patterns is behind
// where the machine is busy.
const longMatch = longestMatch / 2

// symbolMethod is a method of regular expressions that has a symbol for its name.
type symbolMethod struct {
	symbol *goja.Symbol
	// check takes the call as the method of texts has it: the text calls, and the pattern is the first argument.
	check func(r *run, call goja.FunctionCall)
}

var symbolMethods = []symbolMethod{
	{goja.SymMatch, (*run).checkText},
	{goja.SymMatchAll, (*run).checkText},
	{goja.SymSearch, (*run).checkText},
	{goja.SymSplit, (*run).checkSplit},
	{goja.SymReplace, (*run).checkReplace},
}

// namesOfSymbols are the names by which a method is had by its symbol and not as o[symbol], see named.
var namesOfSymbols = []string{"Reflect", "getOwnPropertyDescriptor", "getOwnPropertyDescriptors"}

// isOfPatterns reports whether a symbol is the name of one of symbolMethods.
func isOfPatterns(symbol *goja.Symbol) bool {
	for _, method := range symbolMethods {
		if method.symbol == symbol {
			return true
		}
	}
	return false
}

// guardPatterns puts a function before each method of regular expressions that has a symbol for its name.
// Methods of texts call them, and have a function before them already: so this is for scripts alone that
// ask for one by its symbol.
func (r *run) guardPatterns() {
	owner := r.pathOf("RegExp.prototype")
	for _, method := range symbolMethods {
		if original, isFunction := goja.AssertFunction(owner.GetSymbol(method.symbol)); isFunction {
			standIn := r.vm.ToValue(func(call goja.FunctionCall) goja.Value {
				r.enterStep()
				call.Arguments = append([]goja.Value{textOf(call.Argument(0))}, call.Arguments[min(1, len(call.Arguments)):]...)
				asOfText := append([]goja.Value{call.This}, call.Arguments[1:]...)
				method.check(r, goja.FunctionCall{This: call.Arguments[0], Arguments: asOfText})
				return r.matched(original, call)
			})
			_ = owner.DefineDataPropertySymbol(method.symbol, standIn, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		}
	}
}

// textOf returns the text that an object is made, so that it is known before, and any other value as it is.
func textOf(value goja.Value) goja.Value {
	if object, isObject := value.(*goja.Object); isObject {
		return object.ToString()
	}
	return value
}

// checkTried refuses to try a pattern on a text that is too long.
func (r *run) checkTried(call goja.FunctionCall) {
	if len(call.Arguments) > 0 {
		call.Arguments[0] = textOf(call.Arguments[0])
	}
	r.within(textLength(call.Argument(0)))
	if p, isPattern := patternOf(call.This); isPattern {
		if text, isText := call.Argument(0).(goja.String); isText {
			r.trySingle(p, text, len(p.source)*text.Length())
		}
	}
}

// checkText refuses to look for a pattern in a text for too long.
func (r *run) checkText(call goja.FunctionCall) {
	r.checkVisited(call)
	r.tryAll(call.Argument(0), call.This, false)
}

// checkVisited refuses to visit a text that is too long, by a pattern that is.
func (r *run) checkVisited(call goja.FunctionCall) {
	r.within(textLength(call.This))
	r.checkPattern(call.Argument(0))
}

// checkSplit refuses to split what may become too many texts.
func (r *run) checkSplit(call goja.FunctionCall) {
	r.checkVisited(call)
	r.tryAll(call.Argument(0), call.This, true)
	if separator := textLength(call.Argument(0)); separator == 0 {
		r.withinList(textLength(call.This))
	}
}

// longestPattern is the number of characters that a regular expression may have.
const longestPattern = 10_000

// checkPattern refuses a text that would be too long as a regular expression.
func (r *run) checkPattern(pattern goja.Value) {
	if text, isText := pattern.(goja.String); isText && text.Length() > longestPattern {
		r.tooLargef("a regular expression may have %d characters", longestPattern)
	}
}

// checkReplace refuses a replacement whose result would be too long.
func (r *run) checkReplace(call goja.FunctionCall) {
	r.checkText(call)
	replacement, isText := r.replacementOf(call).(goja.String)
	text := textLength(call.This)
	if !isText || text == 0 {
		return
	}
	each := float64(replacement.Length())
	if references := strings.Count(replacement.String(), "$"); references > 0 {
		each += float64(references) * text
	}
	if (text+1)*each+text <= float64(r.engine.options.MaxLength) {
		return
	}
	r.within(r.matches(call)*each + text)
}

// replacementOf returns what matches are replaced by: a function, or a text, which an object is made here.
func (r *run) replacementOf(call goja.FunctionCall) goja.Value {
	given := call.Argument(1)
	if _, isFunction := goja.AssertFunction(given); isFunction || len(call.Arguments) < 2 {
		return given
	}
	call.Arguments[1] = textOf(given)
	return call.Arguments[1]
}

// matches returns how often a pattern is found, at most.
func (r *run) matches(call goja.FunctionCall) float64 {
	if _, isObject := call.Argument(0).(*goja.Object); !isObject {
		return float64(strings.Count(call.This.String(), call.Argument(0).String()))
	}
	text, isText := call.This.(goja.String)
	p, isPattern := patternOf(call.Argument(0))
	switch {
	case !isText || !isPattern || !p.isStandard: // What it finds is its own affair.
		return textLength(call.This) + 1
	case !p.global:
		return 1
	default:
		return r.trying(p, text).count()
	}
}
