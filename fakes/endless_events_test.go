package fakes_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/utility"
)

// chargesOn charges an account several times at each event.
func chargesOn(t *testing.T, account *fakes.Account, times int) {
	t.Helper()
	account.OnEvent(func(ctx context.Context, _ utility.PaymentEvent) error {
		for range times {
			if _, err := account.Charge(ctx, tenEuro()); err != nil {
				return err
			}
		}
		return nil
	})
	mustCharge(t, account, tenEuro())
}

func TestAccountEvents_WithoutEnd(t *testing.T) {
	t.Parallel()
	for _, times := range []int{1, 3}[:rounds.Of(t, 1, 2)] {
		p, account := newAccount(t)
		chargesOn(t, account, times)
		err := p.TryAdvance(1000 * 24 * time.Hour)
		require.ErrorContains(t, err, "the events of payment accounts cause each other without end")
	}
}

func TestAccountEvents_ForAWhile(t *testing.T) {
	t.Parallel()
	p, account := newAccount(t)
	chargesOn(t, account, 1)
	p.Advance(time.Hour)
	require.Len(t, account.Payments(), 3601)
}
