package query

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// updateNode is a node of the tree of paths that an update changes. A leaf holds an operation with its operand, an inner node
// the next parts of the paths.
type updateNode struct {
	selector  selector
	operation operation
	operand   any
	// children, once sorted, are in the order in which MongoDB adds new fields.
	children []*updateNode
	// first is the storage of children while there is only one child.
	first [1]*updateNode
	// byName holds the children by name if there are many.
	byName map[string]*updateNode
}

type selectorKind int32

const (
	selectName     selectorKind = iota // a field, or an element by its index
	selectPosition                     // $: the element through which the filter matched
	selectAll                          // $[]: every element
	selectFiltered                     // $[name]: every element that an array filter matches
)

type selector struct {
	kind selectorKind
	// below is the number of nodes below the selector's node. sort sets it.
	below  int32
	name   string
	index  int
	filter *arrayFilter
}

// resolved returns the selector with "$" replaced by the element through which the filter matched.
func (s selector) resolved(run *updateRun) (selector, error) {
	if s.kind != selectPosition {
		return s, nil
	}
	if !run.position.found {
		return s, boterr.Invalid("", "the path contains $, but the filter has no condition that matched an array element")
	}
	index := int(run.position.index)
	return selector{kind: selectName, name: strconv.Itoa(index), index: index}, nil
}

// selects reports whether the selector selects an element of an array.
func (s selector) selects(index int, item any, run *updateRun) bool {
	switch s.kind {
	case selectAll:
		return true
	case selectFiltered:
		return s.filter.match(item, run.call)
	default:
		return index == s.index
	}
}

// compareSelectors orders indexes by number, and after them all other names by bytes.
func compareSelectors(a, b selector) int {
	switch aIsIndex, bIsIndex := a.isIndex(), b.isIndex(); {
	case aIsIndex && bIsIndex:
		return cmp.Compare(a.index, b.index)
	case aIsIndex:
		return -1
	case bIsIndex:
		return 1
	default:
		return strings.Compare(a.name, b.name)
	}
}

func (s selector) isIndex() bool { return s.kind == selectName && s.index >= 0 }

func (s selector) isArraySelector() bool { return s.kind == selectAll || s.kind == selectFiltered }

// add adds a child. No other child may have the same part of the path.
func (n *updateNode) add(child *updateNode) {
	if n.children == nil {
		n.children = n.first[:0]
	}
	n.children = append(n.children, child)
	switch {
	case n.byName != nil:
		n.byName[child.selector.name] = child
	case len(n.children) > fewValues:
		n.byName = make(map[string]*updateNode, len(n.children))
		for _, child := range n.children {
			n.byName[child.selector.name] = child
		}
	}
}

func (n *updateNode) find(name string) *updateNode {
	if n.byName != nil {
		return n.byName[name]
	}
	for _, child := range n.children {
		if child.selector.name == name {
			return child
		}
	}
	return nil
}

func (n *updateNode) sort() {
	slices.SortFunc(n.children, func(a, b *updateNode) int { return compareSelectors(a.selector, b.selector) })
	n.byName = nil
	for _, child := range n.children {
		child.sort()
		n.selector.below += 1 + child.selector.below
	}
}

// apply returns the value after the node's changes. The value may be missing before or after.
func (n *updateNode) apply(value any, run *updateRun) (any, error) {
	if n.operation != nil {
		next, err := n.operation.apply(value, n.operand, run)
		if err != nil {
			return nil, err
		}
		return next, run.grow(document.SizeOf(next) - document.SizeOf(value))
	}
	switch v := value.(type) {
	case document.Object:
		return n.applyToFields(v, run)
	case document.Array:
		return n.applyToItems(v, run)
	case document.MissingValue:
		return n.applyToMissing(run)
	default:
		return value, n.refuse(value, run)
	}
}

func (n *updateNode) applyToFields(o document.Object, run *updateRun) (any, error) {
	edit := document.NewEdit(o, run.call.shapes)
	if err := n.editFields(&edit, run); err != nil {
		return nil, err
	}
	return edit.Object(), nil
}

func (n *updateNode) editFields(edit *document.Edit, run *updateRun) error {
	if err := run.steps(edit.Before().Len()); err != nil {
		return err
	}
	for _, child := range n.children {
		s, err := child.selector.resolved(run)
		if err != nil {
			return err
		}
		if s.kind != selectName {
			return notAnArray(s, edit.Before())
		}
		next, err := child.applyToField(edit.Value(s.name), run)
		if err != nil {
			return boterr.PrefixField(s.name, err)
		}
		edit.Set(s.name, next)
	}
	return nil
}

// fieldWork is the work of changing a field, in nanoseconds, including its share of garbage collection.
const fieldWork = 128

// applyToField is apply for a field of an object. It counts the length of the name if the field is new.
func (n *updateNode) applyToField(value any, run *updateRun) (any, error) {
	if err := run.spend(fieldWork); err != nil {
		return nil, err
	}
	next, err := n.apply(value, run)
	if err != nil || value != document.Missing || next == document.Missing {
		return next, err
	}
	return next, run.grow(len(n.selector.name))
}

// applyToMissing creates an object if a child creates a field in it.
func (n *updateNode) applyToMissing(run *updateRun) (any, error) {
	if len(n.children) > 0 && n.children[0].selector.isArraySelector() { // If one child is an array selector, all are.
		return nil, noArrayAt(n.children[0].selector)
	}
	next, err := n.applyToFields(document.O(), run)
	if err != nil {
		return nil, err
	}
	if next.(document.Object).Len() == 0 {
		return document.Missing, nil
	}
	return next, nil
}

func (n *updateNode) applyToItems(array document.Array, run *updateRun) (any, error) {
	if err := run.steps(array.Len() + int(n.selector.below)); err != nil {
		return nil, err
	}
	items := slices.Clone(array.Items())
	touched := map[int][]*updateNode{}
	for _, child := range n.children {
		s, err := child.selector.resolved(run)
		if err != nil {
			return nil, err
		}
		if s.kind == selectName && s.index < 0 {
			if err := child.refuseInArray(s, run); err != nil {
				return nil, err
			}
			continue
		}
		if s.kind == selectName && s.index >= len(items) {
			if items, err = child.extend(items, s, run); err != nil {
				return nil, err
			}
			continue
		}
		if err := child.applyToSelected(items, array.Items(), touched, s, run); err != nil {
			return nil, err
		}
	}
	return document.ArrayOf(items), nil
}

// refuseInArray returns the error for a name that is not an array index. Operators that only remove values
// ignore such a name.
func (n *updateNode) refuseInArray(s selector, run *updateRun) error {
	if n.needsPath(run) {
		return boterr.Invalid(s.name, "cannot create the field %q in an array", s.name)
	}
	if n.selectsElements() {
		return noArrayAt(s)
	}
	return nil
}

func (n *updateNode) applyToSelected(items, before []any, touched map[int][]*updateNode, s selector, run *updateRun) error {
	first, last := 0, len(before)
	if s.kind == selectName {
		first, last = s.index, min(last, s.index+1)
	}
	if err := run.steps(last - first); err != nil {
		return err
	}
	for i := first; i < last; i++ {
		if !s.selects(i, before[i], run) {
			continue
		}
		if err := run.spend(touchedWork); err != nil {
			return err
		}
		if slices.ContainsFunc(touched[i], func(other *updateNode) bool { return n.overlaps(other, run) }) {
			return boterr.Invalid(strconv.Itoa(i), "two operators change the same part of this array element")
		}
		touched[i] = append(touched[i], n)
		next, err := n.apply(items[i], run)
		if err != nil {
			return boterr.PrefixField(strconv.Itoa(i), err)
		}
		if next == document.Missing {
			next = nil // An element that $unset removes becomes null.
		}
		items[i] = next
	}
	return nil
}

// touchedWork is the work of recording a changed element, including its share of garbage collection.
const touchedWork = 256

// overlaps reports whether two nodes for the same value change, or by their selectors may change, the same part
// of it. It is true once the budget is spent, which ends the update.
func (n *updateNode) overlaps(other *updateNode, run *updateRun) bool {
	if n.operation != nil || other.operation != nil || run.steps(1+len(n.children)*len(other.children)) != nil {
		return true
	}
	for _, child := range n.children {
		for _, another := range other.children {
			same := child.selector.name == another.selector.name ||
				child.selector.kind != selectName || another.selector.kind != selectName
			if same && child.overlaps(another, run) {
				return true
			}
		}
	}
	return false
}

// extend applies the node to an element beyond the end of an array.
func (n *updateNode) extend(items []any, s selector, run *updateRun) ([]any, error) {
	next, err := n.apply(document.Missing, run)
	if err != nil {
		return nil, boterr.PrefixField(s.name, err)
	}
	if next == document.Missing {
		return items, nil
	}
	if s.index > document.MaxArrayIndex {
		return nil, boterr.Invalid(s.name, "the index is above %d", document.MaxArrayIndex)
	}
	missing := s.index - len(items)
	if err := run.grow(missing * nullItemSize); err != nil {
		return nil, err
	}
	return append(append(items, make([]any, missing)...), next), nil
}

// refuse returns the error for a path that leads into a value without fields. Operators that only remove values
// ignore such a path.
func (n *updateNode) refuse(value any, run *updateRun) error {
	if err := run.steps(int(n.selector.below)); err != nil {
		return err
	}
	for _, child := range n.children {
		if child.selector.isArraySelector() {
			return notAnArray(child.selector, value)
		}
		if child.needsPath(run) {
			return boterr.Invalid(child.selector.name, "cannot create the field %q in a value of type %s",
				child.selector.name, document.TypeName(value))
		}
		if child.selectsElements() {
			return noArrayAt(child.selector)
		}
	}
	return nil
}

// selectsElements reports whether a path below the node has $[] or $[name]. These need an array, whatever the
// operator is.
func (n *updateNode) selectsElements() bool {
	return slices.ContainsFunc(n.children, func(child *updateNode) bool {
		return child.selector.isArraySelector() || child.selectsElements()
	})
}

// needsPath reports whether an operation below the node refuses a path on which no field can exist.
func (n *updateNode) needsPath(run *updateRun) bool {
	if n.operation != nil {
		return n.operation.needsPath(run)
	}
	return slices.ContainsFunc(n.children, func(child *updateNode) bool { return child.needsPath(run) })
}

func notAnArray(s selector, value any) error {
	return boterr.Invalid(s.name, "%s needs an array, got %s", s.name, document.TypeName(value))
}

func noArrayAt(s selector) error {
	return boterr.Invalid(s.name, "the value must be an array, because the path selects its elements")
}
