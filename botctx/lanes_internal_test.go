package botctx

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// sharedStore is a store that other processes may work on.
type sharedStore struct{ store.Store }

// An agenda gives way where another run waits already: for the member, or on a store that processes
// share, where runs wait for the lane first, for that.
func TestAgendaWait_NothingWhereAnotherRunWaits(t *testing.T) {
	t.Parallel()
	runtime, err := New(Config{Store: sharedStore{memstore.New()}})
	require.NoError(t, err)
	wanted := wantedTurns{member: memberKey{app: "shop", member: "ada"}, lane: "lane"}
	for name, key := range map[string]memberKey{"lane": laneKey("lane"), "member": wanted.member} {
		holder := &turn{key: key}
		require.NoError(t, runtime.locks.enter(holder))
		require.Equal(t, time.Second, runtime.agendaWait(wanted), name)
		waiting := &turn{key: key}
		require.NoError(t, runtime.locks.enter(waiting))
		require.Zero(t, runtime.agendaWait(wanted), name)
		runtime.locks.release(holder)
		runtime.locks.release(waiting)
	}
}

// A circle that another run has closed passes when that run ends; one of a run's own never does.
func TestOrPassing_CircleOfAnotherRun(t *testing.T) {
	t.Parallel()
	var locks memberLocks
	ada, bob := memberKey{member: "ada"}, memberKey{member: "bob"}
	ofAda, ofBob := &turn{key: ada}, &turn{key: bob}
	require.NoError(t, locks.enter(ofAda))
	require.NoError(t, locks.enter(ofBob))
	require.NoError(t, locks.enter(&turn{key: bob, parent: ofAda}), "it waits")

	another := locks.enter(&turn{key: ada, parent: ofBob})
	require.Equal(t, boterr.FailedPrecondition, boterr.CodeOf(another))
	require.Equal(t, boterr.Unavailable, boterr.CodeOf(forInbox(boterr.PrefixField("memberId", another))))

	own := locks.enter(&turn{key: ada, parent: ofAda})
	require.Equal(t, boterr.FailedPrecondition, boterr.CodeOf(own))
	require.Equal(t, boterr.FailedPrecondition, boterr.CodeOf(forInbox(own)))
}
