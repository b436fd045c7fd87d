// Package replies checks that responses and connectors' answers can be written as JSON.
package replies

import (
	"math"
	"strconv"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// maxDepth is the maximum nesting of responses and replies. It leaves room for the results of calls,
// nodes and runs that contain them.
const maxDepth = document.MaxDepth - 8

// Writable returns a reply without the fields that JSON cannot represent. An unusual reply must not
// turn a sent message into a failure, because the caller would send the message again.
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

// Check returns InvalidArgument, with a path, if value contains something that JSON cannot represent:
// a number that is not finite, or too many levels. depth is the number of levels around value.
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
	return boterr.Invalid("", "is nested deeper than the %d levels that a message may have; flatten it", maxDepth)
}

// WrongOutcomes returns the error for a batch without one outcome per message.
func WrongOutcomes(outcomes, messages int) error {
	return boterr.New(boterr.Internal, "", "the connector returned %d outcomes for %d messages; it must return one for each, or none",
		outcomes, messages)
}
