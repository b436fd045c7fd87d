package send_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/send"
)

// The numbers stand here a second time on purpose: who changes a limit changes its row below, too, and never
// by mistake.
func TestLimitsAreThoseOfTheSpecification(t *testing.T) {
	t.Parallel()
	for _, limit := range []struct {
		name           string
		has, specified int
	}{
		{"characters of a text", send.MaxText, 2000},
		{"quick replies", send.MaxQuickReplies, 13},
		{"characters of a quick reply's title", send.MaxQuickReplyTitle, 20},
		{"characters of a quick reply's payload", send.MaxQuickReplyPayload, 1000},
		{"buttons", send.MaxButtons, 3},
		{"characters of a button's title", send.MaxButtonTitle, 20},
		{"cards of a carousel", send.MaxCards, 10},
		{"characters of a card's title and subtitle", send.MaxCardTitle, 80},
		{"articles", send.MaxArticles, 1},
		{"megabytes of a file", send.MaxFileMegabytes, 25},
		{"tags of a member on Echo", send.MaxMemberTags, 20},
	} {
		require.Equal(t, limit.specified, limit.has, limit.name)
	}
}
