package boterr_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
)

// busyError is an error that says when to come again.
type busyError struct{ wait time.Duration }

func (b busyError) Error() string             { return "busy" }
func (b busyError) RetryAfter() time.Duration { return b.wait }

func TestRetryAfter_OfAnErrorInTheChain(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		err  error
		wait time.Duration
	}{
		"none":              {nil, 0},
		"says nothing":      {errors.New("gone"), 0},
		"behind a code":     {boterr.New(boterr.ResourceExhausted, "", "too many: %w", busyError{5 * time.Minute}), 5 * time.Minute},
		"longer than hours": {busyError{48 * time.Hour}, time.Hour},
		"in the past":       {busyError{-time.Second}, 0},
	} {
		require.Equal(t, row.wait, boterr.RetryAfter(row.err), name)
	}
}
