package send

import (
	"context"
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// UndeliveredError is the error behind that of a send to several members of which some did
// not get the message. errors.AsType finds it:
//
//	if undelivered, ok := errors.AsType[*send.UndeliveredError](err); ok { ... }
type UndeliveredError struct {
	// Failures are the members that did not get it, in the order of memberId.
	Failures []Failure
	// Of is how many members there were.
	Of int
}

// Failure is one member that did not get a message, and why.
type Failure struct {
	MemberID string
	Err      error
}

// mostNamed is how many members the text of an UndeliveredError names.
const mostNamed = 20

// Error names the members, the first of many.
func (u *UndeliveredError) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%d of %d members did not get the message: ", len(u.Failures), u.Of)
	for i, failure := range u.Failures {
		if i == mostNamed {
			fmt.Fprintf(&text, " and %d more", len(u.Failures)-i)
			break
		}
		if i > 0 {
			text.WriteString(", ")
		}
		fmt.Fprintf(&text, "%s (%v)", failure.MemberID, failure.Err)
	}
	return text.String()
}

// Unwrap returns the error of each member.
func (u *UndeliveredError) Unwrap() []error {
	errs := make([]error, len(u.Failures))
	for i, failure := range u.Failures {
		errs[i] = failure.Err
	}
	return errs
}

// undelivered returns the error of a send to several members, nil where all got it.
func undelivered(ctx context.Context, failures []Failure, of int) error {
	if len(failures) == 0 {
		return nil
	}
	code := boterr.Unavailable
	if ctx.Err() != nil {
		code = boterr.Canceled
	}
	return &boterr.Error{Code: code, Err: &UndeliveredError{Failures: failures, Of: of}}
}
