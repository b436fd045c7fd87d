package botctx

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnWait_IsToldOfWhoWaits(t *testing.T) {
	t.Parallel()
	var told []string
	l := &memberLocks{}
	key := memberKey{app: "app", member: "ada"}
	first, err := l.acquire(t.Context(), key, nil)
	require.NoError(t, err)
	l.onWait = func(_ context.Context, member string, begun <-chan struct{}) {
		told = append(told, member)
		l.release(first)
		<-begun // The turn has come.
	}
	second, err := l.acquire(t.Context(), key, nil)
	require.NoError(t, err)
	l.release(second)
	_, err = l.acquire(t.Context(), key, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"ada"}, told, "who need not wait is not told of")
}

func TestOnWait_APanicLeavesTheQueue(t *testing.T) {
	t.Parallel()
	l := &memberLocks{onWait: func(context.Context, string, <-chan struct{}) { panic("the host's") }}
	key := memberKey{app: "app", member: "ada"}
	first, err := l.acquire(t.Context(), key, nil)
	require.NoError(t, err)
	require.PanicsWithValue(t, "the host's", func() { _, _ = l.acquire(t.Context(), key, nil) })
	require.False(t, l.hasQueue(key))
	l.release(first)
	_, err = l.acquire(t.Context(), key, nil)
	require.NoError(t, err, "nobody has the member")
}
