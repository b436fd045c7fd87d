package query

import (
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// itemsOf returns the elements of an array that an operator changes, or none if the field is missing.
func itemsOf(operator string, value any) ([]any, error) {
	if value == document.Missing {
		return nil, nil
	}
	array, ok := value.(document.Array)
	if !ok {
		return nil, boterr.Invalid("", "%s needs an array, the field holds a %s", operator, document.TypeName(value))
	}
	return array.Items(), nil
}

// shortened returns the elements of an array that an operator keeps. If the operator removes others, shortened copies
// the kept ones: otherwise the removed ones would stay in memory with them.
func shortened(kept, all []any) document.Array {
	if len(kept) < len(all) {
		kept = slices.Clone(kept)
	}
	return document.ArrayOf(kept)
}

type push struct {
	pathRequired
	values   []any
	position *int64
	slice    *int64
	// sort is nil if the elements keep their order.
	sort *itemOrder
}

// compilePush compiles $push. An argument without $each is a value, even if its keys are names of modifiers.
func compilePush(_ string, argument any) (operation, error) {
	modifiers, _ := argument.(document.Object)
	if _, ok := modifiers.Field("$each"); !ok {
		return &push{values: []any{argument}}, nil
	}
	p := &push{}
	for name, operand := range modifiers.All() {
		if err := p.modifier(name, operand); err != nil {
			return nil, boterr.PrefixField(name, err)
		}
	}
	return p, nil
}

func (p *push) modifier(name string, operand any) error {
	var err error
	switch name {
	case "$each":
		p.values, err = listOperand(operand)
	case "$position":
		p.position, err = wholeOperand(operand)
	case "$slice":
		p.slice, err = wholeOperand(operand)
	case "$sort":
		p.sort = &itemOrder{}
		*p.sort, err = compileItemOrder(operand)
	default:
		err = boterr.Invalid("", "%s is not a modifier of $push", name)
	}
	return err
}

func listOperand(operand any) ([]any, error) {
	list, ok := operand.(document.Array)
	if !ok {
		return nil, document.WrongType("array", operand)
	}
	return list.Items(), nil
}

func wholeOperand(operand any) (*int64, error) {
	n, ok := document.WholeNumber(operand)
	if !ok {
		return nil, boterr.Invalid("", "must be a whole number, got %s", document.Excerpt(operand))
	}
	return &n, nil
}

func (p *push) apply(value, _ any, run *updateRun) (any, error) {
	items, err := itemsOf("$push", value)
	if err != nil {
		return nil, err
	}
	if err := run.steps(len(items) + len(p.values)); err != nil {
		return nil, err
	}
	items = slices.Insert(slices.Clone(items), p.insertAt(len(items)), p.values...)
	if p.sort != nil {
		if items, err = p.sort.sorted(items, run.spend); err != nil {
			return nil, err
		}
	}
	if p.slice == nil {
		return document.ArrayOf(items), nil
	}
	return shortened(firstOrLast(items, *p.slice), items), nil
}

// insertAt returns the index at which the values are inserted. A negative position counts from the end.
func (p *push) insertAt(length int) int {
	switch end := int64(length); {
	case p.position == nil || *p.position > end:
		return length
	case *p.position >= 0:
		return int(*p.position)
	case *p.position < -end:
		return 0
	default:
		return int(end + *p.position)
	}
}

// firstOrLast returns the first n elements, or the last ones if n is negative.
func firstOrLast(items []any, n int64) []any {
	if n < 0 {
		return sliced(items, n, int64(len(items)))
	}
	return sliced(items, 0, n)
}

// sliced returns at most limit elements after the first skip elements. A negative skip counts from the end.
func sliced(items []any, skip, limit int64) []any {
	length := int64(len(items))
	if skip < 0 {
		skip = max(0, length+skip)
	}
	skip = min(skip, length)
	return items[skip : skip+min(limit, length-skip)]
}

type addToSet struct {
	pathRequired
	values []any
}

// compileAddToSet compiles $addToSet. As in MongoDB, an argument is a value unless its first key is $each.
func compileAddToSet(_ string, argument any) (operation, error) {
	modifiers, _ := argument.(document.Object)
	if modifiers.Len() == 0 || modifiers.NameAt(0) != "$each" {
		return &addToSet{values: []any{argument}}, nil
	}
	if modifiers.Len() > 1 {
		return nil, boterr.Invalid("", "$addToSet takes a value or $each alone, got %s", document.Excerpt(argument))
	}
	values, err := listOperand(modifiers.At(0))
	if err != nil {
		return nil, boterr.PrefixField("$each", err)
	}
	return &addToSet{values: values}, nil
}

func (s *addToSet) apply(value, _ any, run *updateRun) (any, error) {
	items, err := itemsOf("$addToSet", value)
	if err != nil {
		return nil, err
	}
	if err := run.spend(settingWork(items, s.values)); err != nil {
		return nil, err
	}
	items = slices.Clip(items)
	if len(items)+len(s.values) <= fewValues {
		for _, v := range s.values {
			if !containsEqual(items, v) {
				items = append(items, v)
			}
		}
		return document.ArrayOf(items), nil
	}
	keys := keysOf(items)
	for _, v := range s.values {
		if keys.add(v) {
			items = append(items, v)
		}
	}
	return document.ArrayOf(items), nil
}

func containsEqual(items []any, value any) bool {
	return slices.ContainsFunc(items, func(item any) bool { return document.Equal(item, value) })
}

// pull implements $pull and $pullAll: it removes the elements that meet a condition.
type pull struct {
	pathOptional
	operator string
	meets    func(item any, e *Evaluation) bool
}

func compilePull(_ string, argument any) (operation, error) {
	condition, ok := argument.(document.Object)
	if !ok {
		return &pull{operator: "$pull", meets: equalCondition(argument).test}, nil
	}
	if special := specialOperator(condition); special != "" {
		return nil, boterr.Invalid(special, "%s is not allowed in $pull", special)
	}
	c := filterCompiler{costs: new(costs)}
	if isOperatorObject(condition) && !isLogical(condition.NameAt(0)) {
		m, err := c.field("", condition)
		if err != nil {
			return nil, err
		}
		named := newNamedItem("")
		return &pull{operator: "$pull", meets: func(item any, e *Evaluation) bool { return named.meets(m, item, e) }}, nil
	}
	query, err := c.query(condition)
	if err != nil {
		return nil, err
	}
	return &pull{operator: "$pull", meets: func(item any, e *Evaluation) bool {
		o, ok := item.(document.Object)
		return ok && query.match(o, e)
	}}, nil
}

func compilePullAll(_ string, argument any) (operation, error) {
	values, err := listOperand(argument)
	if err != nil {
		return nil, err
	}
	return &pull{operator: "$pullAll", meets: oneOfCondition(values).test}, nil
}

func (p *pull) apply(value, _ any, run *updateRun) (any, error) {
	if value == document.Missing {
		return document.Missing, nil
	}
	items, err := itemsOf(p.operator, value)
	if err != nil {
		return nil, err
	}
	if err := run.steps(len(items)); err != nil {
		return nil, err
	}
	kept := slices.DeleteFunc(slices.Clone(items), func(item any) bool { return p.meets(item, run.call) })
	return shortened(kept, items), run.call.budget.failure
}

// pop implements $pop. It creates no field, but refuses an impossible path, as MongoDB does.
type pop struct {
	pathRequired
	first bool
}

func compilePop(_ string, argument any) (operation, error) {
	end, ok := document.WholeNumber(argument)
	if !ok || end != 1 && end != -1 {
		return nil, boterr.Invalid("", "must be 1 for the last or -1 for the first element, got %s", document.Excerpt(argument))
	}
	return pop{first: end == -1}, nil
}

func (p pop) apply(value, _ any, run *updateRun) (any, error) {
	if value == document.Missing {
		return document.Missing, nil
	}
	items, err := itemsOf("$pop", value)
	if err != nil || len(items) == 0 {
		return value, err
	}
	if err := run.steps(len(items)); err != nil {
		return nil, err
	}
	if p.first {
		return shortened(items[1:], items), nil
	}
	return shortened(items[:len(items)-1], items), nil
}
