package query

import (
	"maps"
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
	// tree holds the operations by their paths; nil for a replacement.
	tree *updateNode
	// usesPosition tells that a path holds "$".
	usesPosition bool
	// shapes are those that the update made of documents.
	shapes document.EditMemory
}

// CompileUpdate compiles an update document and the array filters of its "$[name]"
// paths. A document whose first key is no operator, or that has no keys, is a
// replacement.
//
// What MongoDB refuses is InvalidArgument: an unknown operator, an operand of the
// wrong type, operators beside plain fields, two operators on one path, an array
// filter that is missing or unused. Its Field is the path in the update document.
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

func compileReplacement(source document.Object, arrayFilters []document.Object) (*Update, error) {
	for key := range source.All() {
		if isOperator(key) {
			return nil, boterr.Invalid(key, "an operator cannot stand beside plain fields")
		}
	}
	if len(arrayFilters) > 0 {
		return nil, boterr.Invalid("arrayFilters", "a replacement has no use for array filters")
	}
	return &Update{source: source}, nil
}

// Source returns the update document.
func (u *Update) Source() document.Object { return u.source }

// IsReplacement reports whether the update replaces the whole document by another one.
func (u *Update) IsReplacement() bool { return u.tree == nil }

// alwaysModifies reports whether the update counts as a change even where it leaves a
// document as it was: a replacement without _id, as in MongoDB, which compares the
// replacement as it was given with what is stored.
func (u *Update) alwaysModifies() bool {
	if !u.IsReplacement() {
		return false
	}
	_, ok := u.source.Field(document.IDField)
	return !ok
}

// work is that of doing once what the update says.
func (u *Update) work() int {
	if u == nil {
		return 0
	}
	return sourceWork(u.source.Size())
}

// editsFields reports whether the update changes a few fields of a document by operators.
func (u *Update) editsFields() bool {
	return u.tree != nil && len(u.tree.children) <= fewFields
}

// updateRun is what the operations of one update of one document share.
type updateRun struct {
	// call is that in which the document is updated.
	call *Evaluation
	// document is the document as it was before.
	document document.Object
	// position is the array element that "$" stands for.
	position arrayPosition
	// inserting tells that the document is one that an upsert inserts.
	inserting bool
	// now is the time that $currentDate writes.
	now time.Time
	// grown is the number of bytes that the operations added so far.
	grown int
}

// spend counts work, and refuses what is too much.
func (run *updateRun) spend(work int) error {
	run.call.budget.spend(work)
	return run.call.budget.failure
}

// steps counts the work of looking at n elements.
func (run *updateRun) steps(n int) error { return run.spend(n * stepWork) }

// nullItemSize is about the size of a null in an array: its type and its index.
const nullItemSize = 8

// grow counts bytes that an operation adds. It refuses what goes far beyond the size of
// a document, before there is no memory left for it; what another operation may still
// remove is let through.
func (run *updateRun) grow(bytes int) error {
	const atMost = 4 * document.MaxSize
	run.grown = addWork(run.grown, bytes)
	if run.document.Size()+run.grown > atMost {
		return boterr.Invalid("", "makes the document larger than %d bytes", document.MaxSize)
	}
	return nil
}

// apply returns the document that the update makes of run.document.
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

// updateCompiler puts the operations of an update document into its tree.
type updateCompiler struct {
	update  *Update
	filters arrayFilterSet
	// room is what is left of the nodes that lie in one piece of memory with the update.
	room []updateNode
}

// newUpdateCompiler begins an update. Most have one path of one or two parts.
func newUpdateCompiler(source document.Object, filters arrayFilterSet) updateCompiler {
	made := &struct {
		update Update
		nodes  [3]updateNode
	}{}
	made.update.source, made.update.tree = source, &made.nodes[0]
	return updateCompiler{update: &made.update, filters: filters, room: made.nodes[1:]}
}

// child returns the child of a node for a selector, made where there is none.
func (c *updateCompiler) child(of *updateNode, s selector) *updateNode {
	if known := of.find(s.name); known != nil {
		return known
	}
	made := c.newNode()
	made.selector = s
	of.add(made)
	return made
}

func (c *updateCompiler) newNode() *updateNode {
	if len(c.room) == 0 {
		return &updateNode{}
	}
	node := &c.room[0]
	c.room = c.room[1:]
	return node
}

// operator compiles one operator with its paths.
func (c *updateCompiler) operator(name string, operand any) error {
	if !isOperator(name) {
		return boterr.Invalid("", "a plain field cannot stand beside operators")
	}
	compile, ok := updateOperators[name]
	if !ok {
		return boterr.Invalid("", "%s is no update operator, or is not supported%s", name,
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

// path compiles an operator's argument for one path.
func (c *updateCompiler) path(path string, argument any, compile operationCompiler) error {
	operation, err := compile(path, argument)
	if err != nil {
		return err
	}
	if rename, ok := operation.(*renameTo); ok {
		if err := c.add(path, unset{}); err != nil {
			return err
		}
		path = rename.to
	}
	return c.add(path, operation)
}

// add puts an operation at its path.
func (c *updateCompiler) add(path string, operation operation) error {
	if err := document.CheckPath(path); err != nil {
		return err
	}
	if first, _, _ := strings.Cut(path, "."); selectsElements(first) {
		return boterr.Invalid("", "the path cannot begin with %s, which stands for elements of an array", first)
	}
	if isOperator(path) {
		operation = dollarField{operation}
	}
	if strings.Count("."+path+".", ".$.") > 1 {
		return boterr.Invalid("", "the path %s holds $ more than once", path)
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
			return conflictAt(path) // One of them wants an array, the other names fields or elements.
		}
		node = c.child(node, selector)
	}
	if node.operation != nil || len(node.children) > 0 {
		return conflictAt(path)
	}
	node.operation = operation
	return nil
}

// conflictAt is the error for two operators that change the same part of a
// document.
func conflictAt(path string) error {
	return boterr.Invalid("", "conflicts with another operator on %s, its parent or its child", path)
}

// selector compiles one part of a path.
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
