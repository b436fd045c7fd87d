package agendas_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
)

func TestService_OtherApps(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	must(t, a.theirs.NewAgenda, `{"memberId": "tom", "nodeCompositeId": "n", "nextRunAt": 5, "tag": "x"}`)
	// A member of the same id, so that only the app tells the agendas apart.
	a.theirs = a.in("theirs", agendas.Ports{}, member.Member{ID: "ada", Channel: "c2"})
	must(t, a.theirs.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "n", "nextRunAt": 5, "tag": "x"}`)
	before := a.stored(t)
	for _, id := range []string{"tom", "ada"} {
		for _, params := range []string{
			`"priority": 5`, `"priority": 5, "tag": "x"`, `"priority": 5, "tag": "x", "replace": true`,
			`"nextRunAt": 9, "app": "theirs"`, `"runUntil": 1719298000000`,
		} {
			updated := must(t, a.mine.UpdateAgenda, `{"memberId": "`+id+`", `+params+`}`)
			require.JSONEq(t, `{"_docsIds": {"updated": []}, "_docs": [], "modified": 0}`, updated.String())
		}
		must(t, a.mine.DeleteMemberAgenda, `{"memberId": "`+id+`"}`)
		must(t, a.mine.DeleteMemberAgenda, `{"memberId": "`+id+`", "tag": "x", "app": "theirs"}`)
	}
	for _, filter := range []document.Object{
		{}, document.O("app", "theirs"), document.O("app", document.O("$ne", "")), document.O("$or", document.A(document.O("app", "theirs"))),
	} {
		found, err := a.mine.Find(t.Context(), record.Query{Filter: filter})
		require.NoError(t, err)
		require.Empty(t, found)
	}
	require.Equal(t, before, a.stored(t))
	must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "mine", "nextRunAt": 5, "tag": "x", "replace": true}`)
	require.Equal(t, []string{"mine"}, nodes(records(t, a.mine)))
	require.Equal(t, []string{"n", "n"}, nodes(records(t, a.theirs)))
}

func TestFind_AsTheyAreKept(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	seed(t, a)
	a.change(t, document.O("nodeCompositeId", "once"), document.Set("failed", true, "error", "no such node", "failures", 5))
	failed := only(t, a.mine, "failed", true)
	require.Equal(t, "once", failed.NodeCompositeID)
	require.Equal(t, "no such node", failed.Error)
	found, err := a.mine.Find(t.Context(), record.Query{SortBy: document.O("nodeCompositeId", -1), Skip: 1, Limit: 2})
	require.NoError(t, err)
	require.Equal(t, []string{"other", "once"}, nodes(found))
	found, err = a.mine.Find(t.Context(), record.Query{Filter: document.O("nodeCompositeId", "none")})
	require.NoError(t, err)
	require.NotNil(t, found)
	require.Empty(t, found)
}

func TestFind_Refuses(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	seed(t, a)
	for field, query := range map[string]record.Query{
		"filter.tag.$is": {Filter: document.O("tag", document.O("$is", 1))},
		"sortBy.tag":     {SortBy: document.O("tag", "up")},
		"limit":          {Limit: -1},
		"skip":           {Skip: -1},
	} {
		found, err := a.mine.Find(t.Context(), query)
		requireRefused(t, err, field)
		require.Nil(t, found)
	}
	a.change(t, document.O("nodeCompositeId", "once"), document.Set("priority", "high"))
	_, err := a.mine.Find(t.Context(), record.Query{})
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, "id2")
	must(t, a.mine.DeleteMemberAgenda, `{"memberId": "ada"}`)
	require.Equal(t, []string{"past", "bobs"}, nodes(records(t, a.mine)), "what cannot be read can be deleted")
}
