// Package replies checks that what is sent, and what connectors answer, can be written as JSON.
package replies

import (
	"math"
	"strconv"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// maxDepth is how deep responses and replies may be nested, so that the results that hold
// them can be written: those of a call, of a node, and of a run of nodes.
const maxDepth = document.MaxDepth - 8

// Writable returns a platform's reply without the fields that cannot be written as JSON. What
// became of the message is known, and an odd reply must not lose that: whoever is told of a
// failure sends the message again.
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

// Check refuses what cannot be written as JSON within a result, by its path in value,
// which is itself nested so deep.
func Check(value any, depth int) error {
	switch v := value.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return boterr.Invalid("", "is %v, which JSON cannot hold: give a finite number", v)
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

// WrongOutcomes is the error for a batch that does not have one outcome for each message.
func WrongOutcomes(outcomes, messages int) error {
	return boterr.New(boterr.Internal, "", "the connector told %d outcomes of %d messages: have it tell one for each, or none",
		outcomes, messages)
}
