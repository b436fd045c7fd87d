package script

import (
	"slices"

	"github.com/dop251/goja"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
)

// bag is `this` of a script: the records and helpers of the context, the operations, and what scripts
// leave on it for those after them, which is botctx.Context.Values. Each is made when it is first asked
// for.
type bag struct {
	run    *run
	object *goja.Object
	// made are the values that the script has seen or set.
	made map[string]goja.Value
	// removed are those of Values that the script has deleted.
	removed map[string]bool
	records records
	// accessors are the getters and setters that the script has put there.
	accessors map[string]accessor
}

// newBag returns `this` of a run.
func newBag(r *run) *bag {
	b := &bag{run: r, made: map[string]goja.Value{}, removed: map[string]bool{}, records: newRecords()}
	b.object = r.vm.NewDynamicObject(b)
	return b
}

// Get implements goja.DynamicObject.
func (b *bag) Get(name string) goja.Value {
	if accessor, isThere := b.accessors[name]; isThere {
		return b.read(accessor)
	}
	if value, isMade := b.made[name]; isMade {
		return value
	}
	value := b.make(name)
	if value != nil {
		b.made[name] = value
	}
	return value
}

// make makes what is on `this` from the beginning, nil where there is nothing.
func (b *bag) make(name string) goja.Value {
	if record := b.records.of(name); record != nil {
		return record.load(b.run)
	}
	if b.removed[name] {
		return nil
	}
	if left, isLeft := b.run.bot.Values[name]; isLeft {
		return b.run.toScriptAny(left)
	}
	if isOperation(name) {
		return b.run.operation(botctx.Op(name))
	}
	if module, isHelper := b.run.engine.options.Helpers[name]; isHelper {
		return b.run.require("", module)
	}
	if slices.Contains(globalNames, name) {
		return b.run.globalHelper(name)
	}
	return nil
}

// Set implements goja.DynamicObject.
func (b *bag) Set(name string, value goja.Value) bool {
	if accessor, isThere := b.accessors[name]; isThere {
		return b.write(accessor, value)
	}
	b.made[name] = value
	delete(b.removed, name)
	return true
}

// Has implements goja.DynamicObject.
func (b *bag) Has(name string) bool {
	_, isAccessor := b.accessors[name]
	return isAccessor || b.Get(name) != nil
}

// Delete implements goja.DynamicObject.
func (b *bag) Delete(name string) bool {
	delete(b.accessors, name)
	if b.records.of(name) != nil {
		b.made[name] = goja.Undefined()
		return true
	}
	delete(b.made, name)
	b.removed[name] = true
	return true
}

// Keys implements goja.DynamicObject: the records and what scripts have left.
func (b *bag) Keys() []string {
	names := slices.Clone(recordNames)
	for name := range b.run.bot.Values {
		if !b.removed[name] && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for name := range b.made {
		if !isOperation(name) && !b.isHelper(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for name := range b.accessors {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names[len(recordNames):])
	return names
}

// isHelper reports whether a name is that of a helper.
func (b *bag) isHelper(name string) bool {
	_, isModule := b.run.engine.options.Helpers[name]
	return isModule || slices.Contains(globalNames, name)
}

// store puts what the script has changed where those after it find it: into the records of the
// context and into its Values.
func (r *run) store() error {
	for _, name := range recordNames {
		if err := r.storeRecord(name); err != nil {
			return err
		}
	}
	for name := range r.this.removed {
		delete(r.bot.Values, name)
	}
	for name, value := range r.this.made {
		if r.this.records.of(name) == nil && !isOperation(name) && !r.this.isHelper(name) {
			r.leaveValue(name, value)
		}
	}
	return nil
}

// leaveValue leaves a value for the scripts after this one, where it is one that documents have: a
// function works in its own script alone.
func (r *run) leaveValue(name string, value goja.Value) {
	before, err := document.ValueOf(r.bot.Values[name])
	if err != nil {
		before = nil
	}
	left, err := r.fromScript(value, before)
	if err != nil {
		r.engine.options.Console.DebugContext(r.ctx, "a value of a script stays in the script",
			"script", r.program.name, "value", name, "error", err)
		return
	}
	if left != document.Missing {
		r.bot.Values[name] = left
	}
}

// toScriptAny returns a value that Go code has left, undefined where it is none of documents.
func (r *run) toScriptAny(left any) goja.Value {
	value, err := document.ValueOf(left)
	if err != nil {
		return goja.Undefined()
	}
	return r.toScript(value)
}
