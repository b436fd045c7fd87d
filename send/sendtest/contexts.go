package sendtest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
)

// brief is how long the contexts of rules last that end while the platform is asked.
const brief = 50 * time.Millisecond

var contextRules = []Rule{
	{
		Name: "EndedContextAsksNothing",
		Text: "where the context has ended, every method returns its error, and the platform is asked for nothing",
		check: func(t *trial) {
			ended := canceledContext(t.Context())
			for _, ask := range asks(t.Harness) {
				t.requireEnded(ended, ask)
			}
			require.Empty(t, t.Arrived())
		},
	},
	{
		Name:    "CancelEndsACall",
		Text:    "where the context is canceled while the platform is asked, every method returns its error",
		applies: func(h *Harness) bool { return h.has(Silent) },
		check: func(t *trial) {
			t.Fail(Silent)
			for _, ask := range asks(t.Harness) {
				ctx, cancel := context.WithCancel(t.Context())
				timer := time.AfterFunc(brief, cancel)
				t.requireEnded(ctx, ask)
				timer.Stop()
				cancel()
			}
		},
	},
	{
		Name:    "DeadlineEndsACall",
		Text:    "where the deadline of the context passes while the platform is asked, every method returns its error",
		applies: func(h *Harness) bool { return h.has(Silent) },
		check: func(t *trial) {
			t.Fail(Silent)
			for _, ask := range asks(t.Harness) {
				ctx, cancel := context.WithTimeout(t.Context(), brief)
				t.requireEnded(ctx, ask)
				cancel()
			}
		},
	},
}

// requireEnded checks that a call returns the error of its context, which ends.
func (t *trial) requireEnded(ctx context.Context, asked ask) {
	t.Helper()
	err := t.within(asked.name, func() error { return asked.do(t, ctx, t.Channel) })
	require.Error(t, err, asked.name)
	require.ErrorIs(t, err, ctx.Err(), asked.name)
	require.Equal(t, boterr.Canceled, t.codeOf(ctx, err), "the code that callers see of what %s returned: %v", asked.name, err)
}
