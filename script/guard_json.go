package script

import (
	"slices"
	"strconv"

	"github.com/dop251/goja"

	"github.com/botctx/go-sdk/document"
)

// guardJSON bounds JSON.parse and JSON.stringify, which walk by themselves through what they are given.
func (r *run) guardJSON() {
	owner := r.pathOf("JSON")
	parse, _ := goja.AssertFunction(owner.Get("parse"))
	write, _ := goja.AssertFunction(owner.Get("stringify"))
	r.method(owner, "parse", func(call goja.FunctionCall) goja.Value {
		r.enterStep()
		r.checkNesting(call.Argument(0))
		return r.orThrow(parse(call.This, call.Arguments...))
	})
	r.method(owner, "stringify", func(call goja.FunctionCall) goja.Value {
		r.enterStep()
		counted := &countedJSON{run: r, replacer: call.Argument(1)}
		return r.orThrow(write(call.This, call.Argument(0), r.vm.ToValue(counted.replace), call.Argument(2)))
	})
}

// checkNesting refuses JSON that is nested too deep.
func (r *run) checkNesting(given goja.Value) {
	text, isText := given.(goja.String)
	if !isText {
		return
	}
	r.within(float64(text.Length()))
	depth, isQuoted := 0, false
	for i := 0; i < text.Length(); i++ {
		switch c := text.CharAt(i); {
		case c == '\\' && isQuoted:
			i++
		case c == '"':
			isQuoted = !isQuoted
		case isQuoted:
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		}
		if depth > mostJoined {
			r.tooLargef("JSON may be nested %d levels deep", mostJoined)
		}
	}
}

// countedJSON is one call of JSON.stringify, as the replacer that is called with each value.
type countedJSON struct {
	run      *run
	replacer goja.Value
	// size is that of what was written so far, about.
	size float64
	// holders are the objects that lead to where it is.
	holders []*goja.Object
	allowed map[string]bool
}

// replace is the replacer: it counts, and does what the script's own replacer says.
func (c *countedJSON) replace(call goja.FunctionCall) goja.Value {
	name, value := call.Argument(0), call.Argument(1)
	c.run.stopIfInterrupted()
	c.enter(call.This)
	c.size += textLength(value) + textLength(name) + 4
	c.run.within(c.size)
	if function, isFunction := goja.AssertFunction(c.replacer); isFunction {
		replaced := c.run.orThrow(function(call.This, name, value))
		c.size += textLength(replaced)
		return replaced
	}
	if !c.isAllowed(call.This, name) {
		return goja.Undefined()
	}
	return value
}

// enter notes the object whose field is written.
func (c *countedJSON) enter(holder goja.Value) {
	object, isObject := holder.(*goja.Object)
	if !isObject {
		return
	}
	for i, holder := range slices.Backward(c.holders) {
		if holder == object {
			c.holders = c.holders[:i+1]
			return
		}
	}
	if c.holders = append(c.holders, object); len(c.holders) > document.MaxNesting*5 {
		c.run.tooLargef("what is written as JSON may be nested %d levels deep", document.MaxNesting*5)
	}
}

// isAllowed reports whether a replacer that is a list of names has the name of a field.
func (c *countedJSON) isAllowed(holder, name goja.Value) bool {
	list, isList := isPlainArray(c.replacer)
	if !isList || name.String() == "" {
		return true
	}
	if _, isArray := isPlainArray(holder); isArray {
		return true
	}
	if c.allowed == nil {
		c.allowed = map[string]bool{}
		for i := range int(list.Get("length").ToInteger()) {
			c.allowed[list.Get(strconv.Itoa(i)).String()] = true
		}
	}
	return c.allowed[name.String()]
}
