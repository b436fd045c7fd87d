package query

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// itemOrder is an order of the elements of an array, as $push and $sortArray take it: by
// their fields, or by the elements themselves. Unlike in the sort of a find, an array at a
// path is compared as a whole.
type itemOrder struct {
	// keys are the fields; those of a whole element are one key without a path.
	keys []sortKey
}

// wholeOrder is the order of whole elements.
func wholeOrder(descending bool) itemOrder {
	return itemOrder{keys: []sortKey{{descending: descending}}}
}

// compileItemOrder compiles a direction, 1 or -1, for whole elements, or an object of fields.
func compileItemOrder(operand any) (itemOrder, error) {
	if fields, ok := operand.(document.Object); ok {
		order, err := CompileSort(fields)
		switch {
		case err != nil:
			return itemOrder{}, err
		case order == nil:
			return itemOrder{}, boterr.Invalid("", "must name at least one field")
		default:
			return itemOrder{keys: order.keys}, nil
		}
	}
	direction, ok := document.WholeNumber(operand)
	if !ok || direction != 1 && direction != -1 {
		return itemOrder{}, boterr.Invalid("", "must be 1, -1 or an object of fields, got %s", document.Excerpt(operand))
	}
	return wholeOrder(direction < 0), nil
}

// sorted returns items in order; those that are equal keep theirs. It counts what it does,
// and ends with the error of spend.
func (o itemOrder) sorted(items []any, spend func(work int) error) ([]any, error) {
	var failure error
	isPaid := func(work int) bool {
		if failure == nil {
			failure = spend(work)
		}
		return failure == nil
	}
	order := keyOrder{
		keys: len(o.keys),
		value: func(item, key int) any {
			if path := o.keys[key].path; path != nil && isPaid(conditionWork) {
				return fieldIn(items[item], path.text)
			}
			return items[item]
		},
		compare: func(a, b any, key int) int {
			if !isPaid(stepWork + comparisonWork(a, b)) {
				return 0
			}
			return o.keys[key].signed(document.Compare(a, b))
		},
	}
	places := order.of(len(items))
	if failure != nil {
		return nil, failure
	}
	return inOrder(items, places), nil
}

// fieldIn returns the value at a path in an element, null where there is none.
func fieldIn(item any, path string) any {
	o, _ := item.(document.Object)
	value, _ := o.Lookup(path)
	return value
}
