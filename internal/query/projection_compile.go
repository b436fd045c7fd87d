package query

import (
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// projectionKind determines what happens to the fields that a projection does not name.
type projectionKind int

const (
	undecided projectionKind = iota
	inclusion                // removes the fields that are not named
	exclusion                // keeps the fields that are not named
)

func (n *projectionNode) put(name string, field *projectedField) {
	field.name = name
	n.fields = append(n.fields, field)
	if n.byName == nil {
		n.byName = map[string]*projectedField{}
	}
	n.byName[name] = field
}

// inside returns the level at a path and creates it if necessary.
func (n *projectionNode) inside(path []string) (*projectionNode, error) {
	for _, name := range path {
		next := n.byName[name]
		if next == nil {
			next = &projectedField{inner: &projectionNode{}}
			n.put(name, next)
		}
		if next.inner == nil {
			return nil, collision(name)
		}
		n = next.inner
	}
	return n, nil
}

func (n *projectionNode) add(path []string, field projectedField) error {
	last := len(path) - 1
	level, err := n.inside(path[:last])
	if err != nil {
		return err
	}
	if level.byName[path[last]] != nil {
		return collision(path[last])
	}
	level.put(path[last], &field)
	return nil
}

type projectionCompiler struct {
	root        *projectionNode
	kind        projectionKind
	expressions expressionCompiler
	// namesID is true if the projection names the _id or a path in it. includesID and excludesID are true if it
	// includes or excludes the whole _id.
	namesID, includesID, excludesID bool
	hasElemMatch                    bool
	slices                          []fieldSlice
	positional                      []string
}

func (c *projectionCompiler) compile(source document.Object) error {
	if err := c.fields(c.root, source, nil); err != nil {
		return err
	}
	c.chooseKind()
	c.placeID()
	c.root.decide(c.kind == inclusion)
	return nil
}

// fields reads the fields of a projection or of an object nested in it. parent is the object's path from the root.
func (c *projectionCompiler) fields(level *projectionNode, source document.Object, parent []string) error {
	for name, operand := range source.All() {
		if err := c.field(level, name, operand, parent); err != nil {
			return boterr.PrefixField(name, err)
		}
	}
	return nil
}

func (c *projectionCompiler) field(level *projectionNode, name string, operand any, parent []string) error {
	if len(parent) == 0 && (name == document.IDField || strings.HasPrefix(name, document.IDField+".")) {
		c.namesID = true
	}
	text, positional := strings.CutSuffix(name, ".$")
	path, err := projectionPath(text, parent)
	if err != nil {
		return err
	}
	if positional {
		return c.position(level, path, operand, parent)
	}
	switch v := operand.(type) {
	case bool, int64, float64:
		kind := exclusion
		if isTrue(operand) {
			kind = inclusion
		}
		return c.choose(level, path, kind, parent)
	case document.Object:
		return c.object(level, path, v, parent)
	default:
		return c.compute(level, path, operand)
	}
}

// projectionPath splits a path, and refuses names that a projection cannot have.
func projectionPath(text string, parent []string) ([]string, error) {
	if err := document.CheckPath(text); err != nil {
		return nil, err
	}
	path := strings.Split(text, ".")
	for _, part := range path {
		if part == "$" {
			return nil, boterr.Invalid("", "$ is allowed only at the end of a path")
		}
		if isOperator(part) {
			return nil, boterr.Invalid("", "a field of a projection cannot begin with $")
		}
	}
	if len(parent)+len(path) > document.MaxNesting {
		return nil, boterr.Invalid("", "the path has more than %d parts", document.MaxNesting)
	}
	return path, nil
}

// collision is the error for two equal paths, or for a path that leads through another.
func collision(name string) error {
	return boterr.Invalid("", "collides with another path of the projection at %q", name)
}

// choose includes or excludes a field.
func (c *projectionCompiler) choose(level *projectionNode, path []string, kind projectionKind, parent []string) error {
	what, decidesID := "an exclusion", &c.excludesID
	if kind == inclusion {
		what, decidesID = "an inclusion", &c.includesID
	}
	if len(parent) == 0 && len(path) == 1 && path[0] == document.IDField {
		*decidesID = true
	} else if err := c.mustBe(kind, what); err != nil {
		return err
	}
	return level.add(path, projectedField{})
}

// mustBe sets the kind of the projection, or returns an error if it already has another kind.
func (c *projectionCompiler) mustBe(kind projectionKind, what string) error {
	if c.kind != undecided && c.kind != kind {
		return boterr.Invalid("", "%s is not allowed here: except for _id, a projection either includes fields or excludes them", what)
	}
	c.kind = kind
	return nil
}

func (c *projectionCompiler) position(level *projectionNode, path []string, operand any, parent []string) error {
	_, isNumber := document.FloatNumber(operand)
	_, isBool := operand.(bool)
	switch {
	case !isNumber && !isBool:
		return boterr.Invalid("", "a path that ends in $ takes 1 or true, got %s", document.Excerpt(operand))
	case !isTrue(operand):
		return boterr.Invalid("", "a path that ends in $ cannot be excluded")
	case c.positional != nil:
		return boterr.Invalid("", "only one path can end in $")
	case c.hasElemMatch:
		return boterr.Invalid("", "a path that ends in $ cannot be used with $elemMatch")
	}
	if err := c.mustBe(inclusion, "a path that ends in $"); err != nil {
		return err
	}
	c.positional = slices.Concat(parent, path)
	return level.add(path, projectedField{kept: true})
}

func (c *projectionCompiler) object(level *projectionNode, path []string, operand document.Object, parent []string) error {
	if operand.Len() == 0 {
		return boterr.Invalid("", "an empty object selects no fields")
	}
	if operand.Len() == 1 && isOperatorObject(operand) {
		return c.operator(level, path, operand, parent)
	}
	inner, err := level.inside(path)
	if err != nil {
		return err
	}
	return c.fields(inner, operand, slices.Concat(parent, path))
}

func (c *projectionCompiler) operator(level *projectionNode, path []string, object document.Object, parent []string) error {
	operator, operand := object.NameAt(0), object.At(0)
	switch operator {
	case "$slice":
		if cut, ok := sliceOperand(operand); ok {
			cut.path = slices.Concat(parent, path)
			c.slices = append(c.slices, cut)
			return level.add(path, projectedField{kept: true})
		}
		if !isSliceExpression(operand) {
			return boterr.Invalid(operator, "must be a number of elements or [skip, limit] with a limit above 0, got %s", document.Excerpt(operand))
		}
	case "$elemMatch":
		return boterr.PrefixField(operator, c.elemMatch(level, path, operand, parent))
	case "$meta":
		return boterr.Invalid(operator, "$meta is not supported, because there is no text search")
	}
	return c.compute(level, path, object)
}

func (c *projectionCompiler) elemMatch(level *projectionNode, path []string, operand any, parent []string) error {
	switch {
	case c.positional != nil:
		return boterr.Invalid("", "$elemMatch cannot be used with a path that ends in $")
	case len(path) > 1 || len(parent) > 0:
		return boterr.Invalid("", "$elemMatch needs a field at the top of the document")
	}
	if special := specialOperator(operand); special != "" {
		return boterr.Invalid("", "%s is not allowed in the $elemMatch of a projection", special)
	}
	conditions, err := filterCompiler{costs: c.expressions.costs}.elemMatchCondition(operand)
	if err != nil {
		return err
	}
	c.hasElemMatch = true
	return level.add(path, projectedField{computed: firstMatch{field: path[0], elements: conditions[0].test.(elemMatch)}})
}

func (c *projectionCompiler) compute(level *projectionNode, path []string, operand any) error {
	if err := c.mustBe(inclusion, "a computed field"); err != nil {
		return err
	}
	computed, err := c.expressions.expression(operand)
	if err != nil {
		return err
	}
	return level.add(path, projectedField{computed: computed})
}

// chooseKind chooses the kind of a projection if its fields do not determine it.
func (c *projectionCompiler) chooseKind() {
	switch {
	case c.kind != undecided:
	case c.includesID, len(c.slices) == 0 && c.hasElemMatch:
		c.kind = inclusion
	default:
		c.kind = exclusion
	}
}

// placeID adds the _id to an inclusion that does not name it, and removes redundant fields for it.
func (c *projectionCompiler) placeID() {
	switch {
	case c.kind == inclusion && !c.namesID:
		c.root.put(document.IDField, &projectedField{})
	case c.kind == inclusion && c.excludesID, c.kind == exclusion && c.includesID:
		delete(c.root.byName, document.IDField)
		c.root.fields = slices.DeleteFunc(c.root.fields, func(field *projectedField) bool { return field.name == document.IDField })
	}
}
