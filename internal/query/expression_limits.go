package query

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// maxWork is the most that an expression may do for one document, in bytes written or
// compared.
const maxWork = 64 << 20

// workLimits bounds what an expression does for one document: what it does in all, and the
// size of each value that it makes. A value may hold another one many times, so that its
// size can be far above the memory that it takes.
type workLimits struct {
	done int
	// call is that in which the expression is evaluated, nil where it is compiled.
	call *Evaluation
}

// spend counts work, and refuses what is too much.
func (l *workLimits) spend(work int) error {
	l.done += min(work, maxWork+1)
	if l.done > maxWork {
		return boterr.Invalid("", "the expression does too much for one document: it makes or looks through "+
			"more than %d MiB", maxWork>>20)
	}
	if l.call != nil && !l.call.budget.spend(work) {
		return l.call.budget.failure
	}
	return nil
}

// steps counts the work of looking at n elements.
func (l *workLimits) steps(n int) error { return l.spend(n * stepWork) }

// comparing counts the work of comparing two values.
func (l *workLimits) comparing(a, b any) error {
	if work := comparisonWork(a, b); work > 0 {
		return l.spend(work)
	}
	return nil
}

// ordering counts the work of sorting values that are counted already as looked at. It counts for
// the call: for one document, sorting a long array would be too much.
func (l *workLimits) ordering(work int) error {
	if l.call == nil {
		return l.spend(work)
	}
	return l.call.charge(work)
}

// text refuses a string that is too long. It is to be asked before the string is made.
func (l *workLimits) text(length int) error {
	if length > document.MaxSize {
		return tooLarge()
	}
	return l.spend(length)
}

// items refuses an array that is too long. It is to be asked before the array is made.
func (l *workLimits) items(n int) error {
	const least = 4 // No element takes fewer bytes.
	if n > document.MaxSize/least {
		return tooLarge()
	}
	return l.steps(n)
}

// array returns the array of items, unless it is too large or nested too deeply.
func (l *workLimits) array(items []any) (any, error) {
	a := document.ArrayOf(items)
	switch {
	case a.Err() != nil:
		return nil, a.Err()
	case a.Size() > document.MaxSize:
		return nil, tooLarge()
	default:
		return a, l.spend(arrayWork + len(items)*stepWork)
	}
}

// object returns an object, unless it is too large or nested too deeply.
func (l *workLimits) object(o document.Object) (any, error) {
	switch {
	case o.Err() != nil:
		return nil, o.Err()
	case o.Size() > document.MaxSize:
		return nil, tooLarge()
	default:
		return o, l.spend(objectWork + o.Len()*stepWork)
	}
}

func tooLarge() error {
	return boterr.Invalid("", "the value is larger than %d MiB", document.MaxSize>>20)
}
