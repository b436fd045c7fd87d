package livechat_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/livechat"
)

func TestAssignmentRecord_State(t *testing.T) {
	t.Parallel()
	r := &livechat.AssignmentRecord{}
	require.Equal(t, livechat.Sending, r.State())
	r.SentAt = 1
	require.Equal(t, livechat.Pending, r.State())
	r.Assignee = "eve"
	require.Equal(t, livechat.Taken, r.State())
	r.EndedAt = 2
	require.Equal(t, livechat.Ended, r.State())
}
