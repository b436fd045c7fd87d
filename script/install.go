package script

import (
	"slices"

	"github.com/dop251/goja"
)

// need is a part of the global scope that is made for sources which say one of its names: something
// that the engine below lacks, or a guard.
type need struct {
	names []string
	set   func(r *run)
	// isGuard tells that it is for who puts one of its names together as well, see named.
	isGuard bool
	// isSaid tells that it is for who says one of its names alone, and not for who says the global scope's own.
	isSaid bool
}

// allNeeds returns all of them, in the order in which they are set.
func allNeeds() []need {
	return slices.Concat(needsOfLacks(), needsOfAccessors(), needsOfGuards(), []need{
		{names: []string{"console"}, set: (*run).installConsole},
		{names: timerNames, set: (*run).installTimers},
		{names: []string{"require"}, set: (*run).installRequire},
		{names: []string{"global"}, set: (*run).installGlobal},
		{names: []string{"URL", "URLSearchParams"}, set: (*run).installURL},
		{names: []string{"structuredClone", "atob", "btoa"}, set: (*run).installEncoding},
		{names: fetchNames, set: (*run).installFetch},
	})
}

// needsOf returns the indexes of what a source needs.
func (c *compiler) needsOf(used uses) []int {
	var found []int
	for i, one := range c.needs {
		if used.global && !one.isSaid || used.says(one.names...) {
			found = append(found, i)
		}
	}
	return found
}

// guardsByName are the indexes of the guards that a name needs which is put together.
func guardsByName(needs []need) map[string][]int {
	found := map[string][]int{}
	for i, one := range needs {
		if !one.isGuard {
			continue
		}
		for _, name := range one.names {
			found[name] = append(found[name], i)
		}
	}
	return found
}

// named makes the guards that a name needs which the script has put together, and returns the name.
func (r *run) named(name goja.Value) goja.Value {
	if object, isObject := name.(*goja.Object); isObject { // It is made a text of here, and not once more.
		name = object.ToString()
	}
	switch said := name.(type) {
	case goja.String:
		if said.Length() <= longestName {
			r.install(r.engine.guards[said.String()])
		}
	case *goja.Symbol:
		if isOfPatterns(said) {
			r.install(r.engine.guards[namesOfSymbols[0]])
		}
	}
	return name
}

// longestName is more than the length of the longest name of a function of the language.
const longestName = 40

// install makes what a source needs and what is not there yet.
func (r *run) install(indexes []int) {
	if r.installed == nil {
		r.installed = make([]bool, len(r.engine.needs))
	}
	for _, i := range indexes {
		if !r.installed[i] {
			r.installed[i] = true
			r.engine.needs[i].set(r)
		}
	}
}

// globalNames are the parts of the global scope that `this` has, too.
var globalNames = []string{"fetch"}

// globalHelper returns a part of the global scope that is asked for on `this`.
func (r *run) globalHelper(name string) goja.Value {
	r.install(r.engine.needsOf(uses{names: map[string]bool{name: true}}))
	return r.vm.GlobalObject().Get(name)
}

// globalFunction sets a function of the global scope.
func (r *run) globalFunction(name string, function func(goja.FunctionCall) goja.Value) {
	r.globalValue(name, r.vm.ToValue(function))
}

// globalValue sets a value of the global scope.
func (r *run) globalValue(name string, value goja.Value) {
	_ = r.vm.GlobalObject().DefineDataProperty(name, value, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// installRequire gives scripts require, as in a file at the root of the modules.
func (r *run) installRequire() { r.globalValue("require", r.requireFrom(".")) }

// installGlobal names the global scope as scripts for Node name it.
func (r *run) installGlobal() { r.globalValue("global", r.vm.GlobalObject()) }
