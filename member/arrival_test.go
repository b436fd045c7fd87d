package member_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
)

func TestArrive_MakesAMemberOnce(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	first, err := a.mine.Arrive(t.Context(), member.Member{ExternalID: "x1", FirstName: "Ada", Unknown: document.O("own", 1)})
	require.NoError(t, err)
	require.True(t, first.New)
	require.Equal(t, "x1 Ada c1 mine", first.Member.ExternalID+" "+first.Member.FirstName+" "+first.Member.Channel+" "+first.Member.App)
	require.Equal(t, int64(1), first.Member.Version)
	require.True(t, first.Member.Unknown.Has("own"))
	require.False(t, first.Member.Meta.IsZero())

	a.advance()
	second, err := a.mine.Arrive(t.Context(), member.Member{ExternalID: "x1", FirstName: "Eve"})
	require.NoError(t, err)
	require.False(t, second.New)
	require.Equal(t, shown(t, first.Member), shown(t, second.Member), "who is there stays as it is")
}

func TestKnownID(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1", "externalId": "x1"}`)
	mine := record.Scope{App: "mine", Channel: "c1"}
	for externalID, want := range map[string]string{"x1": "m1", "x2": "", "": "", "x1\xff": ""} {
		id, err := member.KnownID(t.Context(), record.Env{Store: a.store}, mine, externalID)
		require.NoError(t, err)
		require.Equal(t, want, id, "%q", externalID)
	}
	for _, elsewhere := range []record.Scope{{App: "mine", Channel: "c2"}, {App: "theirs", Channel: "c1"}} {
		id, err := member.KnownID(t.Context(), record.Env{Store: a.store}, elsewhere, "x1")
		require.NoError(t, err)
		require.Empty(t, id)
	}
}

func TestArrive_AtOnce(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	var made atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			arrival, err := a.mine.Arrive(t.Context(), member.Member{ExternalID: "x1"})
			if err == nil && arrival.New {
				made.Add(1)
			}
		})
	}
	all.Wait()
	require.Equal(t, int64(1), made.Load())
}

func TestArrive_ExternalIDsOfOneChannel(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1", "externalId": "x1"}`, `{"_id": "m2", "externalId": "x1", "channel": "c2"}`)
	here, err := a.mine.Arrive(t.Context(), member.Member{ExternalID: "x1"})
	require.NoError(t, err)
	require.Equal(t, "m1", here.Member.ID)
	there, err := a.theirs.Arrive(t.Context(), member.Member{ExternalID: "x1"})
	require.NoError(t, err)
	require.True(t, there.New)

	_, err = a.mine.Insert(t.Context(), member.Member{ExternalID: "x1"})
	require.ErrorIs(t, err, boterr.AlreadyExists)
	_, err = call(t, a.mine.UpdateMember, `{"member": {"_id": "m1", "externalId": "x2"}}`)
	require.NoError(t, err)
	insert(t, a.mine, `{"externalId": "x1"}`)
}

func TestArrive_Refuses(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1"}`)
	before := a.stored(t)
	_, err := a.mine.Arrive(t.Context(), member.Member{})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	requireField(t, err, "externalId")
	_, err = a.mine.Arrive(t.Context(), member.Member{ID: "m1", ExternalID: "x9"})
	require.ErrorIs(t, err, boterr.AlreadyExists)
	_, err = a.mine.Insert(t.Context(), member.Member{App: "theirs"})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	requireField(t, err, "app")
	_, err = a.mine.Insert(t.Context(), member.Member{ID: "m1", ExternalID: "x9"})
	require.ErrorIs(t, err, boterr.AlreadyExists)
	_, err = a.mine.Insert(t.Context(), member.Member{Channel: "c3"})
	require.ErrorIs(t, err, boterr.NotFound)
	requireField(t, err, "channel")
	_, err = a.in(t, record.Scope{App: "mine"}).Insert(t.Context(), member.Member{})
	require.ErrorIs(t, err, boterr.InvalidArgument)
	requireField(t, err, "channel")
	require.Equal(t, before, a.stored(t))
}
