package query

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// filterCompiler compiles query documents.
type filterCompiler struct {
	// expr says whether $expr can stand where the compiler is, nil that it cannot.
	expr *exprUse
	// slot takes a $near, nil where none can stand.
	slot *nearSlot
	// instructions counts those of the filter's patterns, nil where there is no filter.
	instructions *int
}

// query compiles a query document: fields with conditions, and logical operators.
func (c filterCompiler) query(query document.Object) (matcher, error) {
	all := make(allOf, 0, query.Len())
	for key, operand := range query.All() {
		var m matcher
		var err error
		if isOperator(key) {
			m, err = c.logical(key, operand)
		} else {
			m, err = c.field(key, operand)
		}
		if err != nil {
			return nil, err
		}
		if m != nil {
			all = append(all, m)
		}
	}
	if len(all) == 1 {
		return all[0], nil
	}
	exprLast(all)
	return all, nil
}

// logical compiles an operator that stands in the place of a field.
func (c filterCompiler) logical(operator string, operand any) (matcher, error) {
	switch operator {
	case "$comment":
		return nil, nil //nolint:nilnil // A comment is no condition.
	case "$expr":
		return c.exprCondition(operand)
	case "$and", "$or", "$nor":
	default:
		return nil, unknownOperator(operator)
	}
	inner := c
	if list, ok := operand.(document.Array); operator == "$nor" || operator == "$or" && ok && list.Len() != 1 {
		inner = c.withoutNear()
	}
	clauses, err := inner.clauses(operand)
	if err != nil {
		return nil, boterr.PrefixField(operator, err)
	}
	switch operator {
	case "$and":
		return allOf(clauses), nil
	case "$or":
		return newAnyOf(clauses), nil
	default:
		return noneOf(clauses), nil
	}
}

// clauses compiles the query documents of a logical operator.
func (c filterCompiler) clauses(operand any) ([]matcher, error) {
	list, ok := operand.(document.Array)
	if !ok || list.Len() == 0 {
		return nil, boterr.Invalid("", "must be an array of at least one query, got %s", document.Excerpt(operand))
	}
	clauses := make([]matcher, 0, list.Len())
	for i, item := range list.All() {
		query, ok := item.(document.Object)
		if !ok {
			return nil, boterr.PrefixField(boterr.Index(i), document.WrongType("object", item))
		}
		m, err := c.query(query)
		if err != nil {
			return nil, boterr.PrefixField(boterr.Index(i), err)
		}
		clauses = append(clauses, m)
	}
	return clauses, nil
}

// field compiles the condition on a field.
func (c filterCompiler) field(path string, operand any) (matcher, error) {
	if err := document.CheckReadPath(path); err != nil {
		return nil, err
	}
	if operators, ok := nearOperators(operand); ok {
		m, err := c.near(path, operators)
		return m, boterr.PrefixField(path, err)
	}
	conditions, err := c.withoutNear().conditions(operand)
	if err != nil {
		return nil, boterr.PrefixField(path, err)
	}
	return conditionGroup(conditions).at(compilePath(path)), nil
}

// conditions compiles what stands beside a field's name: a value to be equal to,
// or operators.
func (c filterCompiler) conditions(operand any) ([]fieldCondition, error) {
	operators, ok := operand.(document.Object)
	if !ok || !isOperatorObject(operators) {
		return []fieldCondition{{test: equalCondition(operand)}}, nil
	}
	conditions := make([]fieldCondition, 0, operators.Len())
	for operator, operand := range operators.All() {
		condition, err := c.operator(operator, operand, operators)
		if err != nil {
			return nil, boterr.PrefixField(operator, err)
		}
		conditions = append(conditions, condition...)
	}
	return conditions, nil
}

// fieldCondition is a condition on the values at a path, which is also one on a
// single array element where $elemMatch holds it.
type fieldCondition struct {
	// test and mode are a condition on one of the values.
	test candidateTest
	mode leafMode
	// all, where test is nil, are conditions that must all be met.
	all []fieldCondition
	// negated turns the condition round.
	negated bool
}

func conditionGroup(conditions []fieldCondition) fieldCondition {
	if len(conditions) == 1 {
		return conditions[0]
	}
	return fieldCondition{all: conditions}
}

// at returns the condition on the values at a path.
func (f fieldCondition) at(path *fieldPath) matcher {
	var m matcher
	switch test := f.test.(type) {
	case nil:
		all := make(allOf, 0, len(f.all))
		for _, condition := range f.all {
			all = append(all, condition.at(path))
		}
		m = all
	case elementFinder:
		m = &elementMatcher{path: path, finder: test}
	case *everyValue:
		m = &everyValueMatcher{path: path, values: test}
	default:
		m = &pathMatcher{path: path, mode: f.mode, test: test}
	}
	if f.negated {
		return noneOf{m}
	}
	return m
}

// onElement returns the condition on one array element.
func (f fieldCondition) onElement() candidateTest {
	test := f.test
	if test == nil {
		all := make(every, 0, len(f.all))
		for _, condition := range f.all {
			all = append(all, condition.onElement())
		}
		test = all
	}
	if f.negated {
		return not{test}
	}
	return test
}

// equalCondition is $eq, in its fastest form.
func equalCondition(operand any) candidateTest {
	if s, ok := operand.(string); ok {
		return equalToString(s)
	}
	return equalTo{operand}
}
