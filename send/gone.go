package send

import (
	"errors"

	"github.com/botctx/go-sdk/boterr"
)

// GoneError is put behind an error with a code by a connector whose recipient cannot be written to any more, however
// often it is tried: the member has blocked the bot or closed the account, or the conversation is archived. A live chat
// with such a recipient ends.
//
//	boterr.New(boterr.FailedPrecondition, "", "the user has blocked the bot: %w", &send.GoneError{})
//
// Do not use it if somebody can put the cause right: a token that was revoked, a bot that must be invited, a time after
// which only templates are allowed. NotFound for a recipient says the same without it.
type GoneError struct{}

// Error implements error.
func (*GoneError) Error() string { return "the recipient is gone for good" }

// IsGone reports whether the error of a send says that the recipient is gone for good: its code is NotFound, or a
// *GoneError is behind it.
func IsGone(err error) bool {
	if err == nil {
		return false
	}
	_, isGone := errors.AsType[*GoneError](err)
	return isGone || boterr.CodeOf(err) == boterr.NotFound
}
