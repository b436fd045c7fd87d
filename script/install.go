package script

import (
	"github.com/dop251/goja"
)

// feature is a part of the global scope that is made for scripts which say its name.
type feature struct {
	names   []string
	install func(r *run)
}

// features are the parts of the global scope.
func features() []feature {
	return []feature{
		{[]string{"console"}, (*run).installConsole},
		{[]string{"setTimeout", "setInterval", "clearTimeout", "clearInterval", "setImmediate", "queueMicrotask"}, (*run).installTimers},
		{[]string{"require"}, (*run).installRequire},
		{[]string{"global"}, (*run).installGlobal},
	}
}

// install makes what a source may use, and guards the functions of the language that it may reach.
func (r *run) install(used uses) {
	for _, feature := range features() {
		if name := feature.names[0]; !r.installed[name] && used.has(feature.names...) {
			r.installed[name] = true
			feature.install(r)
		}
	}
	r.guard(used)
}

// isGlobalHelper reports whether a helper on `this` is a part of the global scope.
func isGlobalHelper(name string) bool { return name == "fetch" }

// installGlobals makes a part of the global scope that is asked for on `this`.
func (r *run) installGlobals(name string) { r.install(uses{names: map[string]bool{name: true}}) }

// installRequire gives scripts require, as in a file at the root of the modules.
func (r *run) installRequire() {
	_ = r.vm.GlobalObject().DefineDataProperty("require", r.requireFrom("."), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// installGlobal names the global scope as scripts for Node name it.
func (r *run) installGlobal() {
	global := r.vm.GlobalObject()
	_ = global.DefineDataProperty("global", global, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}
