package query

import (
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Update is a compiled update: operators such as $set, or a replacement.
// It is safe for concurrent use.
type Update struct {
	source document.Object
	// tree holds the operations by path. It is nil for a replacement.
	tree *updateNode
	// usesPosition is true if a path has "$".
	usesPosition bool
}

// CompileUpdate compiles an update document and the array filters of its "$[name]" paths. A document is a replacement
// if it has no keys or its first key is not an operator.
//
// Everything that MongoDB refuses is InvalidArgument: an unknown operator, an operand of the wrong type,
// operators together with plain fields, two operators on one path, an array filter that is missing or unused.
// The Field of the error is the path in the update document.
func CompileUpdate(source document.Object, arrayFilters ...document.Object) (*Update, error) {
	if err := checkSource(source); err != nil {
		return nil, err
	}
	if !isOperatorObject(source) {
		return compileReplacement(source, arrayFilters)
	}
	filters, err := compileArrayFilters(arrayFilters)
	if err != nil {
		return nil, err
	}
	c := newUpdateCompiler(source, filters)
	for operator, operand := range source.All() {
		if err := c.operator(operator, operand); err != nil {
			return nil, boterr.PrefixField(operator, err)
		}
	}
	c.update.tree.sort()
	return c.update, c.filters.checkUsed()
}

// MustUpdate compiles an update that is known to be valid.
func MustUpdate(pairs ...any) *Update { return Must(CompileUpdate(document.O(pairs...))) }

// Must returns what was compiled, or panics with the error.
func Must[T any](compiled T, err error) T {
	if err != nil {
		panic(err)
	}
	return compiled
}

func compileReplacement(source document.Object, arrayFilters []document.Object) (*Update, error) {
	for key := range source.All() {
		if isOperator(key) {
			return nil, boterr.Invalid(key, "an operator cannot be used with plain fields")
		}
	}
	if len(arrayFilters) > 0 {
		return nil, boterr.Invalid("arrayFilters", "array filters cannot be used with a replacement")
	}
	return &Update{source: source}, nil
}

// isMissing reports whether there is no update. The zero Update is none: it would remove all fields.
func (u *Update) isMissing() bool { return u.Source().IsZero() }

// Source returns the update document.
func (u *Update) Source() document.Object {
	if u == nil {
		return document.Object{}
	}
	return u.source
}

// IsReplacement reports whether the update replaces the whole document.
func (u *Update) IsReplacement() bool { return u.tree == nil }

func (u *Update) work() int {
	if u == nil {
		return 0
	}
	return sourceWork(u.source.Size())
}

// updateRun is the application of one update to one document.
type updateRun struct {
	// call is the evaluation of the current call.
	call *Evaluation
	// document is the version before the update.
	document document.Object
	// position is the array element for "$".
	position arrayPosition
	// inserting is true if an upsert inserts the document.
	inserting bool
	// now is the time for $currentDate.
	now time.Time
	// grown is the number of bytes that operations have added so far.
	grown int
}

// spend counts work, and returns an error once the budget is spent.
func (run *updateRun) spend(work int) error {
	return run.call.charge(work)
}

func (run *updateRun) steps(n int) error { return run.spend(n * stepWork) }

// nullItemSize is about the size of a null in an array: type and index.
const nullItemSize = 8

// grow counts bytes that an operation adds. It refuses results that far exceed the size of a document before
// they exhaust memory. It tolerates a smaller excess, which a later operation may remove.
func (run *updateRun) grow(bytes int) error {
	const atMost = 4 * document.MaxSize
	run.grown = addWork(run.grown, bytes)
	if run.document.Size()+run.grown > atMost {
		return boterr.Invalid("", "makes the document larger than %d bytes", document.MaxSize)
	}
	return nil
}

func (u *Update) apply(run *updateRun) (document.Object, error) {
	if u.tree == nil {
		return u.source, nil
	}
	next, err := u.tree.apply(run.document, run)
	if err != nil {
		return document.Object{}, err
	}
	o := next.(document.Object)
	return o, o.Err()
}

// updateCompiler builds the tree of an update document's operations.
type updateCompiler struct {
	update  *Update
	filters arrayFilterSet
	// room holds the nodes of the update's allocation that are not in use yet.
	room []updateNode
}

// newUpdateCompiler returns a compiler with room for one path of one or two parts, as most updates have.
func newUpdateCompiler(source document.Object, filters arrayFilterSet) updateCompiler {
	made := &struct {
		update Update
		nodes  [3]updateNode
	}{}
	made.update.source, made.update.tree = source, &made.nodes[0]
	return updateCompiler{update: &made.update, filters: filters, room: made.nodes[1:]}
}

// child returns a node's child for a selector and creates it if necessary.
func (c *updateCompiler) child(of *updateNode, s selector) *updateNode {
	if known := of.find(s.name); known != nil {
		return known
	}
	if len(c.room) == 0 {
		c.room = make([]updateNode, 1)
	}
	made := &c.room[0]
	c.room = c.room[1:]
	made.selector = s
	of.add(made)
	return made
}

func (c *updateCompiler) operator(name string, operand any) error {
	if !isOperator(name) {
		return boterr.Invalid("", "a plain field cannot be used with operators; put it into $set")
	}
	compile, ok := updateOperators[name]
	if !ok {
		return boterr.Invalid("", "%s is not an update operator, or is not supported%s", name,
			perhaps(name, slices.Sorted(maps.Keys(updateOperators))))
	}
	paths, ok := operand.(document.Object)
	if !ok {
		return document.WrongType("object", operand)
	}
	for path, argument := range paths.All() {
		if err := c.path(path, argument, compile); err != nil {
			return boterr.PrefixField(path, err)
		}
	}
	return nil
}

func (c *updateCompiler) path(path string, argument any, compile operationCompiler) error {
	operation, err := compile(path, argument)
	if err != nil {
		return err
	}
	if rename, ok := operation.(*renameTo); ok {
		if err := c.add(path, unset{}, nil); err != nil {
			return err
		}
		path = rename.to
	}
	return c.add(path, operation, argument)
}

func (c *updateCompiler) add(path string, operation operation, operand any) error {
	if err := document.CheckPath(path); err != nil {
		return err
	}
	if first, _, _ := strings.Cut(path, "."); selectsElements(first) {
		return boterr.Invalid("", "the path cannot begin with %s, which selects elements of an array", first)
	}
	if isOperator(path) {
		operation = dollarField{operation}
	}
	if strings.Count("."+path+".", ".$.") > 1 {
		return boterr.Invalid("", "the path %s contains $ more than once", path)
	}
	node := c.update.tree
	for part := range strings.SplitSeq(path, ".") {
		if node.operation != nil {
			return conflictAt(path)
		}
		selector, err := c.selector(part)
		if err != nil {
			return err
		}
		if len(node.children) > 0 && node.children[0].selector.isArraySelector() != selector.isArraySelector() {
			return conflictAt(path) // One operator needs an array, the other names fields or elements.
		}
		node = c.child(node, selector)
	}
	if node.operation != nil || len(node.children) > 0 {
		return conflictAt(path)
	}
	node.operation, node.operand = operation, operand
	return nil
}

func conflictAt(path string) error {
	return boterr.Invalid("", "conflicts with another operator on %s, its parent or its child", path)
}

func (c *updateCompiler) selector(part string) (selector, error) {
	switch {
	case part == "$":
		c.update.usesPosition = true
		return selector{kind: selectPosition, name: part}, nil
	case part == "$[]":
		return selector{kind: selectAll, name: part}, nil
	case strings.HasPrefix(part, "$[") && strings.HasSuffix(part, "]"):
		filter, err := c.filters.use(part[2 : len(part)-1])
		return selector{kind: selectFiltered, name: part, filter: filter}, err
	default:
		index, ok := document.ParseIndex(part)
		if !ok {
			index = -1
		}
		return selector{kind: selectName, name: part, index: index}, nil
	}
}

// selectsElements reports whether a part of a path is $, $[] or $[name].
func selectsElements(part string) bool { return part == "$" || strings.HasPrefix(part, "$[") }

type operation interface {
	// apply returns the new value, or missing to remove the field. value may be missing. operand is the operator's argument.
	apply(value, operand any, run *updateRun) (any, error)
	// needsPath reports whether an impossible path, such as a path through a string, is an error. This is true for
	// operations that create a missing field, and for $pop.
	needsPath(run *updateRun) bool
}

// operationCompiler checks an operator's argument for one path.
type operationCompiler func(path string, argument any) (operation, error)

var updateOperators = map[string]operationCompiler{
	"$set":         anyOperand(set{}),
	"$setOnInsert": anyOperand(setOnInsert{}),
	"$unset":       anyOperand(unset{}),
	"$inc":         (&arithmetic{operator: "$inc", compute: addNumbers}).compile,
	"$mul":         (&arithmetic{operator: "$mul", compute: multiplyNumbers}).compile,
	"$min":         anyOperand(extreme{sign: -1}),
	"$max":         anyOperand(extreme{sign: 1}),
	"$rename":      compileRename,
	"$currentDate": compileCurrentDate,
	"$bit":         compileBit,
	"$push":        compilePush,
	"$addToSet":    compileAddToSet,
	"$pull":        compilePull,
	"$pullAll":     compilePullAll,
	"$pop":         compilePop,
}

// pathRequired is embedded in operations that refuse a path on which no field can exist.
type pathRequired struct{}

func (pathRequired) needsPath(*updateRun) bool { return true }

// pathOptional is embedded in operations that ignore a missing field, whatever the path.
type pathOptional struct{}

func (pathOptional) needsPath(*updateRun) bool { return false }

func anyOperand(o operation) operationCompiler {
	return func(string, any) (operation, error) { return o, nil }
}

type set struct{ pathRequired }

func (set) apply(_, operand any, _ *updateRun) (any, error) { return operand, nil }

type setOnInsert struct{}

func (setOnInsert) apply(value, operand any, run *updateRun) (any, error) {
	if run.inserting {
		return operand, nil
	}
	return value, nil
}

func (setOnInsert) needsPath(run *updateRun) bool { return run.inserting }

type unset struct{ pathOptional }

func (unset) apply(any, any, *updateRun) (any, error) { return document.Missing, nil }

// renameTo is the operation of $rename at the target's path. At the source's path, the operation is unset.
type renameTo struct{ from, to string }

func compileRename(path string, argument any) (operation, error) {
	to, ok := argument.(string)
	if !ok {
		return nil, document.WrongType("string", argument)
	}
	if to == document.IDField {
		return nil, boterr.Invalid("", "the field _id is fixed and cannot be changed")
	}
	for _, name := range []string{path, to} {
		if slices.ContainsFunc(strings.Split(name, "."), selectsElements) {
			return nil, boterr.Invalid("", "$rename cannot be used on array elements: %s", name)
		}
	}
	return &renameTo{from: path, to: to}, nil
}

func (r *renameTo) apply(value, _ any, run *updateRun) (any, error) {
	moved, err := r.source(run.document)
	if err != nil || moved == document.Missing {
		return value, err
	}
	return moved, r.checkTarget(run.document)
}

// needsPath reports whether there is a value to move, or the path of the source is invalid.
func (r *renameTo) needsPath(run *updateRun) bool {
	moved, err := r.source(run.document)
	return err != nil || moved != document.Missing
}

// source returns the value to move, or missing if there is none. It refuses a value in an array, and a path on
// which no field can exist.
func (r *renameTo) source(o document.Object) (any, error) {
	var current any = o
	inArray := false
	for part := range strings.SplitSeq(r.from, ".") {
		switch c := current.(type) {
		case document.Object:
			current = c.Value(part)
		case document.Array:
			index, ok := document.ParseIndex(part)
			if !ok {
				return document.Missing, noRename(c, r.from)
			}
			if inArray, current = true, any(document.Missing); index < c.Len() {
				current = c.At(index)
			}
		default:
			return document.Missing, noRename(c, r.from)
		}
		if current == document.Missing {
			return document.Missing, nil
		}
	}
	if inArray {
		return document.Missing, noRename(document.Array{}, r.from)
	}
	return current, nil
}

func (r *renameTo) checkTarget(o document.Object) error {
	var current any = o
	for part := range strings.SplitSeq(r.to, ".") {
		if _, isArray := current.(document.Array); isArray {
			return noRename(current, r.to)
		}
		if o, ok := current.(document.Object); ok {
			current = o.Value(part)
		} else {
			current = nil
		}
	}
	return nil
}

func noRename(through any, path string) error {
	return boterr.Invalid("", "$rename cannot go through a value of type %s: %s", document.TypeName(through), path)
}

type currentDate struct{ pathRequired }

func compileCurrentDate(_ string, argument any) (operation, error) {
	if _, ok := argument.(bool); ok {
		return currentDate{}, nil
	}
	options, ok := argument.(document.Object)
	if !ok || options.Len() != 1 {
		return nil, boterr.Invalid("", `must be true or {"$type": "date"}, got %s`, document.Excerpt(argument))
	}
	if name, _ := options.Field("$type"); name != "date" {
		return nil, boterr.Invalid("", `the type must be "date", got %s; "timestamp" is internal to MongoDB`, document.Excerpt(name))
	}
	return currentDate{}, nil
}

func (currentDate) apply(_, _ any, run *updateRun) (any, error) { return document.ValueOf(run.now) }

// dollarField is an operation at a path whose first name starts with $. An upsert may insert such a field, as Insert
// may. In an existing document, it can be removed but not changed.
type dollarField struct{ operation }

func (d dollarField) apply(value, operand any, run *updateRun) (any, error) {
	next, err := d.operation.apply(value, operand, run)
	if err == nil && !run.inserting && next != document.Missing && !document.Identical(value, next) {
		return nil, boterr.Invalid("", "a field whose name begins with $ can be inserted and removed, but not changed")
	}
	return next, err
}

// arithmetic implements $inc and $mul.
type arithmetic struct {
	pathRequired
	operator string
	// compute returns false if the result overflows int64.
	compute func(a, b any) (any, bool)
}

func (a *arithmetic) compile(_ string, argument any) (operation, error) {
	if _, ok := document.FloatNumber(argument); !ok {
		return nil, document.WrongType("number", argument)
	}
	return a, nil
}

func (a *arithmetic) apply(value, operand any, _ *updateRun) (any, error) {
	if value == document.Missing {
		value = int64(0)
		if _, ok := operand.(float64); ok {
			value = 0.0
		}
	}
	if _, ok := document.FloatNumber(value); !ok {
		return nil, boterr.Invalid("", "%s needs a number, the field holds a %s", a.operator, document.TypeName(value))
	}
	result, ok := a.compute(value, operand)
	if !ok || isFinite(value) && isFinite(operand) && !isFinite(result) {
		return nil, boterr.Invalid("", "%s of %s to %s is beyond the range of numbers",
			a.operator, document.Excerpt(operand), document.Excerpt(value))
	}
	return result, nil
}

func isFinite(value any) bool {
	f, ok := document.FloatNumber(value)
	return ok && !math.IsNaN(f) && !math.IsInf(f, 0)
}

// addNumbers adds as MongoDB does: integers stay integers. It returns false if they overflow.
func addNumbers(a, b any) (any, bool) {
	i, ok1 := a.(int64)
	j, ok2 := b.(int64)
	if ok1 && ok2 {
		sum := i + j
		return sum, (sum > i) == (j > 0)
	}
	f, _ := document.FloatNumber(a)
	g, _ := document.FloatNumber(b)
	return f + g, true
}

// multiplyNumbers multiplies as MongoDB does: integers stay integers. It returns false if they overflow.
func multiplyNumbers(a, b any) (any, bool) {
	i, ok1 := a.(int64)
	j, ok2 := b.(int64)
	if ok1 && ok2 {
		return multiplyIntegers(i, j)
	}
	f, _ := document.FloatNumber(a)
	g, _ := document.FloatNumber(b)
	return f * g, true
}

func multiplyIntegers(i, j int64) (any, bool) {
	high, low := bits.Mul64(magnitude(i), magnitude(j))
	negative := (i < 0) != (j < 0)
	switch {
	case high != 0:
		return nil, false
	case negative && low <= 1<<63:
		return -int64(low), true
	case !negative && low <= math.MaxInt64:
		return int64(low), true
	default:
		return nil, false
	}
}

// magnitude returns the absolute value, which for the least int64 does not fit an int64.
func magnitude(i int64) uint64 {
	if i < 0 {
		return -uint64(i)
	}
	return uint64(i)
}

// extreme implements $min and $max.
type extreme struct {
	pathRequired
	// sign is -1 for the lesser value, 1 for the greater.
	sign int
}

func (e extreme) apply(value, operand any, run *updateRun) (any, error) {
	if !run.call.comparing(operand, value) {
		return nil, run.call.budget.failure
	}
	if value == document.Missing || document.Compare(operand, value)*e.sign > 0 {
		return operand, nil
	}
	return value, nil
}

// bitwise implements $bit: and, or and xor in the given order.
type bitwise struct {
	pathRequired
	steps []bitStep
}

type bitStep struct {
	name string
	mask int64
}

func compileBit(_ string, argument any) (operation, error) {
	operations, ok := argument.(document.Object)
	if !ok || operations.Len() == 0 {
		return nil, boterr.Invalid("", "must be an object of and, or, xor, got %s", document.Excerpt(argument))
	}
	b := &bitwise{}
	for name, operand := range operations.All() {
		mask, ok := operand.(int64)
		if !ok {
			return nil, boterr.PrefixField(name, document.WrongType("long", operand))
		}
		if name != "and" && name != "or" && name != "xor" {
			return nil, boterr.Invalid(name, "must be one of and, or, xor")
		}
		b.steps = append(b.steps, bitStep{name: name, mask: mask})
	}
	return b, nil
}

func (b *bitwise) apply(value, _ any, run *updateRun) (any, error) {
	if err := run.steps(len(b.steps)); err != nil {
		return nil, err
	}
	if value == document.Missing {
		value = int64(0)
	}
	n, ok := value.(int64)
	if !ok {
		return nil, boterr.Invalid("", "$bit needs an integer, the field holds a %s", document.TypeName(value))
	}
	for _, step := range b.steps {
		switch step.name {
		case "and":
			n &= step.mask
		case "or":
			n |= step.mask
		default:
			n ^= step.mask
		}
	}
	return n, nil
}
