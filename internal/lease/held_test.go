package lease_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/lease"
)

var (
	errLost      = errors.New("the lease is lost")
	errNoAnswer  = errors.New("the store does not answer")
	errNotBehind = errors.New("no clock")
)

// beat renews all held claims once. outcome returns the result for each.
func beat(held *lease.Held[string], outcome func(claim string) (bool, error)) {
	held.RenewAll(context.Background(), nil,
		func(_ context.Context, claim string) (bool, error) { return outcome(claim) },
		func(_ string, err error) {
			if err == nil {
				panic("this is no failure")
			}
		})
}

// begun returns a Held with the claim "a", and the context of its run.
func begun(t *testing.T) (*lease.Held[string], context.Context) {
	t.Helper()
	held := lease.NewHeld[string](errLost)
	run, cancel := context.WithCancelCause(t.Context())
	t.Cleanup(func() { cancel(nil) })
	held.Add("a", cancel)
	return held, run
}

func TestHeld_RenewalForgivesMissedBeats(t *testing.T) {
	t.Parallel()
	held, run := begun(t)
	for range 3 {
		beat(held, func(string) (bool, error) { return false, errNoAnswer })
		beat(held, func(string) (bool, error) { return false, errNoAnswer })
		beat(held, func(string) (bool, error) { return true, nil })
	}
	require.NoError(t, run.Err())
}

func TestHeld_ClaimOfAnotherOneIsLostAtOnce(t *testing.T) {
	t.Parallel()
	held, run := begun(t)
	beat(held, func(string) (bool, error) { return false, nil })
	require.ErrorIs(t, context.Cause(run), errLost)
	require.Empty(t, held.All())
}

func TestHeld_FailureOfAllCountsForEachClaim(t *testing.T) {
	t.Parallel()
	held, run := begun(t)
	held.Add("b", func(error) {})
	var told []error
	for range 3 {
		held.RenewAll(t.Context(), errNotBehind,
			func(context.Context, string) (bool, error) { return true, nil },
			func(_ string, err error) { told = append(told, err) })
	}
	require.ErrorIs(t, context.Cause(run), errLost)
	require.Empty(t, held.All())
	require.Len(t, told, 6)
	for _, err := range told {
		require.ErrorIs(t, err, errNotBehind)
	}
}

func TestHeld_ClaimThatEndsDuringItsRenewalIsNotLost(t *testing.T) {
	t.Parallel()
	held, run := begun(t)
	beat(held, func(claim string) (bool, error) {
		held.End(claim)
		return false, nil
	})
	require.NoError(t, run.Err())
}

func TestHeld_TakenClaimsRunOn(t *testing.T) {
	t.Parallel()
	held, run := begun(t)
	var marked []string
	require.Equal(t, []string{"a"}, held.Take(func(claim string) { marked = append(marked, claim) }))
	require.Equal(t, []string{"a"}, marked)
	require.Empty(t, held.All())
	require.NoError(t, run.Err())
}
