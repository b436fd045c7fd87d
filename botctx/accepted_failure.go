package botctx

import (
	"errors"

	"github.com/botctx/go-sdk/boterr"
)

// forInbox gives the failure of a run the code by which the inbox tries again what may go well later, and
// nothing else, where the code of the failure tells something else to bot logic. What is behind it stays.
func forInbox(err error) error {
	if circle, ok := errors.AsType[*circleError](err); ok && !circle.isOwn {
		return boterr.New(boterr.Unavailable, "", "%w", err) // When the other run has ended, there is none.
	}
	if _, ok := errors.AsType[noNodeError](err); ok {
		return boterr.New(boterr.Unavailable, "", "%w", err) // Soon all processes may have it.
	}
	if _, ok := errors.AsType[endlessError](err); ok {
		return boterr.New(boterr.FailedPrecondition, "", "%w", err) // They would come to no end again.
	}
	return err
}
