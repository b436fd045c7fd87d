// Package replies checks that responses and connectors' answers can be written as JSON.
package replies

import (
	"math"
	"strconv"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// maxDepth is the maximum nesting of responses and replies. Results of a call, a node and a run of nodes contain them
// and need the remaining levels.
const maxDepth = document.MaxDepth - 8

// Writable returns a reply without the fields that JSON cannot represent. A reply with such fields must not fail a
// sent message, because the caller would send it again.
func Writable(reply document.Object) document.Object {
	if reply.IsZero() || reply.Err() != nil {
		return document.O()
	}
	for field, value := range reply.All() {
		if Check(value, 1) != nil {
			reply = reply.Without(field)
		}
	}
	return reply
}

// Check returns an error with a path if JSON cannot represent a part of value in a result. depth is the nesting of
// value itself.
func Check(value any, depth int) error {
	switch v := value.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return boterr.Invalid("", "is %v, which JSON cannot represent; give a finite number", v)
		}
	case document.Array:
		if depth >= maxDepth {
			return errTooDeep()
		}
		for i, item := range v.All() {
			if err := Check(item, depth+1); err != nil {
				return boterr.PrefixField("["+strconv.Itoa(i)+"]", err)
			}
		}
	case document.Object:
		if depth >= maxDepth {
			return errTooDeep()
		}
		for field, inner := range v.All() {
			if err := Check(inner, depth+1); err != nil {
				return boterr.PrefixField(field, err)
			}
		}
	}
	return nil
}

func errTooDeep() error {
	return boterr.Invalid("", "is nested deeper than the %d levels that a message may have", maxDepth)
}

// WrongOutcomes returns the error for a batch without one outcome per message.
func WrongOutcomes(outcomes, messages int) error {
	return boterr.New(boterr.Internal, "", "the connector returned %d outcomes for %d messages; it must return one for each, or none",
		outcomes, messages)
}
