package livechat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/record"
)

// UnsentError is the error behind that of a request that did not reach all of its targets.
// errors.AsType finds it:
//
//	if unsent, ok := errors.AsType[*livechat.UnsentError](err); ok { ... }
type UnsentError struct {
	// AssignmentID is the id of the assignment that was sent in part. It is "" where nothing was
	// sent and no further call can change that: then there is no assignment.
	AssignmentID string
	// Failures are the targets that did not get it, in their order.
	Failures []Unsent
	// Of is how many targets there are.
	Of int
	// IsOpen is whether the request is open without the targets that did not get it: they
	// refused it so that another try would end alike, as a group that is not there does.
	IsOpen bool
}

// Unsent is one target that did not get a request, and why.
type Unsent struct {
	// Channel is the id of the outlet channel, Group the broadcast group in it: the zero
	// one where the channel has the request directly.
	Channel string
	Group   channel.BroadcastGroupMember
	Err     error
}

// Error names the targets, the first of many.
func (u *UnsentError) Error() string {
	if u == nil {
		return "internal: a nil *livechat.UnsentError was returned as an error: return nil itself"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%d of %d targets did not get the request: ", len(u.Failures), u.Of)
	text.WriteString(display.List(len(u.Failures), func(i int) string {
		failure := u.Failures[i]
		return fmt.Sprintf("%s (%s)", strings.TrimSpace(failure.Channel+" "+failure.Group.ID), display.Text(failure.Err))
	}))
	switch {
	case u.AssignmentID == "":
		text.WriteString("; nothing was sent, and there is no request")
	case u.IsOpen:
		fmt.Fprintf(&text, "; the assignment %s is open without them: correct or remove them", u.AssignmentID)
	default:
		fmt.Fprintf(&text, "; the same call again sends what is missing of the assignment %s", u.AssignmentID)
	}
	return text.String()
}

// Unwrap returns the error of each target. The nil pointer has none.
func (u *UnsentError) Unwrap() []error {
	if u == nil {
		return nil
	}
	errs := make([]error, len(u.Failures))
	for i, failure := range u.Failures {
		errs[i] = failure.Err
	}
	return errs
}

// unsentError returns the error of a request that could not be sent to all of its targets. Where
// none of them got it, and each refused it so that another try would end the same way, the request is
// removed, so that it is in nobody's way.
func (s *machine) unsentError(ctx context.Context, r *AssignmentRecord, unsent []Unsent) error {
	failure := &UnsentError{AssignmentID: r.ID, Failures: unsent, Of: max(len(r.Tickets), 1)}
	if r.wasSentNowhere() && areRefused(unsent) {
		gone, err := s.assignments().Delete(context.WithoutCancel(ctx), document.O(
			record.FieldID, r.ID, fieldSentAt, nil, fieldEndedAt, nil))
		if err != nil {
			return errors.Join(err, failure)
		}
		if gone > 0 {
			failure.AssignmentID = ""
		}
	}
	code := boterr.Unavailable
	if ctx.Err() != nil {
		code = boterr.Canceled
	}
	return &boterr.Error{Code: code, Err: failure}
}

// areRefused reports whether each target was refused for good.
func areRefused(unsent []Unsent) bool {
	return !slices.ContainsFunc(unsent, func(u Unsent) bool { return !isRefused(u.Err) })
}

// isRefused reports whether an error is that of what is refused however often it is tried.
func isRefused(err error) bool {
	switch boterr.CodeOf(err) {
	case boterr.InvalidArgument, boterr.NotFound, boterr.FailedPrecondition, boterr.Unsupported:
		return true
	default:
		return false
	}
}

// unfinished collects what failed of several things that are all tried.
type unfinished struct{ failures []error }

// add notes that something failed, unless err is nil.
func (u *unfinished) add(what string, err error) {
	if err != nil {
		u.failures = append(u.failures, fmt.Errorf("%s: %w", what, err))
	}
}

// err returns the error for all of it, nil where nothing failed. then says what to do.
func (u *unfinished) err(ctx context.Context, then string) error {
	if len(u.failures) == 0 {
		return nil
	}
	code := boterr.Unavailable
	if ctx.Err() != nil {
		code = boterr.Canceled
	}
	return boterr.New(code, "", "not all was done, %s: %w", then, errors.Join(u.failures...))
}

// joined returns the errors as one, nil where there is none. A single one stays as it is.
func joined(errs ...error) error {
	var found []error
	for _, err := range errs {
		if err != nil {
			found = append(found, err)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return errors.Join(found...)
}
