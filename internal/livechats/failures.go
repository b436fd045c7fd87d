package livechats

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
)

// unsentError returns the error of a request that could not be sent to all of its targets. Where
// none of them got it, and each refused it so that another try would end the same way, the request is
// removed, so that it is in nobody's way.
func (s *machine) unsentError(ctx context.Context, r *livechat.AssignmentRecord, unsent []livechat.Unsent) error {
	failure := &livechat.UnsentError{AssignmentID: r.ID, Failures: unsent, Of: max(len(r.Tickets), 1)}
	if wasSentNowhere(r) && areRefused(unsent) {
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
func areRefused(unsent []livechat.Unsent) bool {
	return !slices.ContainsFunc(unsent, func(u livechat.Unsent) bool { return !isRefused(u.Err) })
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
