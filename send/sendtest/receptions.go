package sendtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/send"
)

var receptionRules = []Rule{
	{
		Name: "OddEventLeavesATrace",
		Text: "an event that the connector does not understand is handed on, such as one of type MISC with the platform's own object, " +
			"or dropped and counted in send.Drops; it is never answered and forgotten",
		applies: func(h *Harness) bool { return h.Odd != nil },
		check:   oddEventLeavesATrace,
	},
}

func oddEventLeavesATrace(t *trial) {
	all := t.Odd()
	require.NotEmpty(t, all, "Harness.Odd gives the connector at least one event")
	for _, one := range all {
		require.NotZero(t, len(one.Accepted)+int(one.Dropped), "%s was answered %d, and left no trace", one.Name, one.Status)
		for _, event := range one.Accepted {
			require.NotEmpty(t, event.Type, "%s: the type", one.Name)
			require.NotEmpty(t, event.From, "%s: who sent it", one.Name)
			require.False(t, event.Type == send.TypeText && event.Text() == "", "%s: a text without a text tells the bot nothing", one.Name)
		}
	}
}
