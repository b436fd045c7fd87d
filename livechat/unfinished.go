package livechat

import (
	"context"
	"errors"
	"fmt"

	"github.com/botctx/go-sdk/boterr"
)

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
