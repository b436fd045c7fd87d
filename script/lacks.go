package script

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/dop251/goja"
)

// lacksSource makes what the engine below lacks of the language.
//
//go:embed lacks.js
var lacksSource string

// lacksProgram is lacksSource, compiled.
var lacksProgram = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile(ownFiles+"lacks.js", lacksSource, true)
})

// lacking are the functions that the engine below lacks, by the names that a source says which needs them.
var lacking = []struct{ names, paths []string }{
	{[]string{"withResolvers", "try"}, []string{"Promise.withResolvers", "Promise.try"}},
	{[]string{"groupBy"}, []string{"Object.groupBy", "Map.groupBy"}},
	{[]string{"fromAsync"}, []string{"Array.fromAsync"}},
	{[]string{"Iterator", "toArray", "take", "drop", nameIterator}, iteratorMethods()},
}

// iteratorMethods are the paths of the helpers of iterators.
func iteratorMethods() []string {
	paths := []string{"Iterator.from"}
	for name := range strings.FieldsSeq("map filter flatMap take drop toArray forEach some every find reduce") {
		paths = append(paths, "Iterator.prototype."+name)
	}
	return paths
}

// needsOfLacks are what the engine below lacks, each for who says its name.
func needsOfLacks() []need {
	needs := []need{{names: []string{"asyncIterator"}, set: (*run).installAsyncIterator}}
	for _, lack := range lacking {
		needs = append(needs, need{names: lack.names, set: func(r *run) { r.installLacks(lack.paths) }})
	}
	return needs
}

// installAsyncIterator gives scripts Symbol.asyncIterator.
func (r *run) installAsyncIterator() {
	owner := r.pathOf("Symbol")
	if owner.Get("asyncIterator") == nil {
		_ = owner.DefineDataProperty("asyncIterator", goja.NewSymbol("Symbol.asyncIterator"), goja.FLAG_FALSE, goja.FLAG_FALSE, goja.FLAG_FALSE)
	}
}

// installLacks gives scripts functions of lacks.js.
func (r *run) installLacks(paths []string) {
	r.installAsyncIterator()
	made := r.lacks()
	for _, path := range paths {
		dot := strings.LastIndexByte(path, '.')
		owner, name := path[:dot], path[dot+1:]
		if strings.HasPrefix(owner, "Iterator") && !slices.Contains(r.vm.GlobalObject().GetOwnPropertyNames(), "Iterator") {
			r.globalValue("Iterator", made.Get("Iterator"))
		}
		at := r.pathOf(owner)
		if at.Get(name) == nil {
			_ = at.DefineDataProperty(name, made.Get(path), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
		}
	}
}

// lacks returns the functions of lacks.js, of this runtime.
func (r *run) lacks() *goja.Object {
	if r.lacksMade != nil {
		return r.lacksMade
	}
	made, err := r.vm.RunProgram(lacksProgram())
	if err != nil {
		panic(err)
	}
	call, _ := goja.AssertFunction(made)
	r.lacksMade = r.orThrow(call(goja.Undefined())).ToObject(r.vm)
	return r.lacksMade
}
