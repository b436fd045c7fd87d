package send

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/display"
)

// UndeliveredError names the members who did not get a message. It is behind the errors of
// SendResponse and of the operations for several members, also where there is but one member.
// errors.AsType finds it:
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
	// MemberID is "" where the message was for a group.
	MemberID string
	Err      error
}

// Error names the members, the first of many. For the only member it tells the reason alone: code
// and field are in the error that wraps it.
func (u *UndeliveredError) Error() string {
	if u == nil {
		return "internal: a nil *send.UndeliveredError was returned as an error: return nil itself"
	}
	if u.Of == 1 && len(u.Failures) == 1 {
		return reason(u.Failures[0].Err)
	}
	members := display.List(len(u.Failures), func(i int) string {
		failure := u.Failures[i]
		return fmt.Sprintf("%s (%s)", failure.MemberID, display.Text(failure.Err))
	})
	return fmt.Sprintf("%d of %d members did not get the message: %s", len(u.Failures), u.Of, members)
}

// reason returns the text of an error without its code and field.
func reason(err error) string {
	if e, ok := err.(*boterr.Error); ok && e != nil { //nolint:errorlint // Only the outermost error says these.
		return e.Message()
	}
	return display.Text(err)
}

// Unwrap returns the error of each member. The nil pointer has none.
func (u *UndeliveredError) Unwrap() []error {
	if u == nil {
		return nil
	}
	errs := make([]error, len(u.Failures))
	for i, failure := range u.Failures {
		errs[i] = failure.Err
	}
	return errs
}

// undelivered returns the error of a send to several members, nil where all got it. Its
// code is Canceled where ctx ended, that of the failure where the message was for one member
// alone, and else Unavailable.
func undelivered(ctx context.Context, messages []Message, results []Result) error {
	var failures []Failure
	for i, result := range results {
		if result.Err != nil {
			failures = append(failures, Failure{MemberID: messages[i].memberID(), Err: result.Err})
		}
	}
	if len(failures) == 0 {
		return nil
	}
	failed := &boterr.Error{Code: boterr.Unavailable, Err: &UndeliveredError{Failures: failures, Of: len(results)}}
	only, ok := boterr.AsError(failures[0].Err)
	switch {
	case ctx.Err() != nil:
		failed.Code = boterr.Canceled
	case len(results) == 1 && ok:
		failed.Code, failed.Field = only.Code, only.Field
	}
	return failed
}
