package member_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/store"
)

// lost is a store that loses its server in every change, and says what else was wrong.
type lost struct{ store.Store }

func (s lost) Collection(name string) store.Collection {
	return lostCollection{s.Store.Collection(name)}
}

type lostCollection struct{ store.Collection }

func (lostCollection) FindAndModify(
	context.Context, *query.Filter, query.Change, store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	return store.FindAndModifyResult{}, boterr.New(boterr.Unavailable, "", "the server is gone after: %w",
		boterr.Invalid("update", "does not fit"))
}

func TestCheckAndSaveMemberReferFrom_StoreFails(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id":"ada","externalId":"a"}`)
	members := member.New(record.Env{Store: lost{a.store}}, record.Scope{App: "mine", Channel: "c1"}, nil)
	_, err := members.CheckAndSaveMemberReferFrom(t.Context(), member.CheckAndSaveMemberReferFromParams{
		MemberID: "ada", ReferFrom: "c2",
	})
	require.Equal(t, boterr.Unavailable, boterr.CodeOf(err), "%v", err)
}
