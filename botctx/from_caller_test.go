package botctx_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store/memstore"
)

// door is a Caller that answers always the same.
type door struct {
	result string
	err    error

	name string
	args string
}

func (d *door) Call(_ context.Context, name string, args json.RawMessage) (json.RawMessage, error) {
	d.name, d.args = name, string(args)
	return json.RawMessage(d.result), d.err
}

func TestFromCaller_WritesParams(t *testing.T) {
	t.Parallel()
	there := &door{result: `{"ok": 1, "member": null}`}
	_, err := botctx.FromCaller(there).FindAndModifyMember(t.Context(), member.FindAndModifyMemberParams{
		Filter: document.O("b", 1, "a", 2), Patch: document.Set("meta.seen", true), WithModifier: new(false),
		SortBy: document.O("createdAt", -1, "_id", 1), Option: member.FindAndModifyOption{New: true},
	})
	require.NoError(t, err)
	require.Equal(t, "findAndModifyMember", there.name)
	require.Equal(t, document.O(
		"filter", document.O("b", 1, "a", 2), "patch", document.O("$set", document.O("meta.seen", true)),
		"withModifier", false, "sortBy", document.O("createdAt", -1, "_id", 1), "option", document.O("new", true),
	).String(), there.args)
}

func TestFromCaller_ReadsResults(t *testing.T) {
	t.Parallel()
	counted, err := botctx.FromCaller(&door{result: `7`}).FetchDataFromDataSource(t.Context(), datasource.FetchDataFromDataSourceParams{
		DataSourceID: "places", Count: true,
	})
	require.NoError(t, err)
	require.Equal(t, datasource.FetchDataFromDataSourceResult{Count: 7}, counted)
	found, err := botctx.FromCaller(&door{result: `{"_id": "a", "loyalty": 7}`}).GetMember(t.Context(), member.GetMemberParams{})
	require.NoError(t, err)
	require.Equal(t, 7, document.Get(found.Unknown, "loyalty", 0))
}

func TestFromCaller_BrokenDoor(t *testing.T) {
	t.Parallel()
	cut := errors.New("the wire is cut")
	for name, test := range map[string]struct {
		door door
		code boterr.Code
	}{
		"no JSON":                  {door{result: `{`}, boterr.Internal},
		"JSON of another type":     {door{result: `{"ok": "yes"}`}, boterr.Internal},
		"a text":                   {door{result: `"yes"`}, boterr.Internal},
		"an error of its own":      {door{err: cut}, boterr.Internal},
		"an error with a code":     {door{err: boterr.New(boterr.Conflict, "", "no")}, boterr.Conflict},
		"an error and half a JSON": {door{result: `{`, err: boterr.Unavailable}, boterr.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := botctx.FromCaller(&test.door).FindAndModifyMember(t.Context(), member.FindAndModifyMemberParams{})
			requireFailure(t, err, "findAndModifyMember", test.code, "")
		})
	}
}

// Of two platforms that are alike, one is called through two doors: JSON becomes params, JSON
// and params again, and the result comes back the same way.
func TestFromCaller_IsTheSame(t *testing.T) {
	t.Parallel()
	platform, _ := newCaller(t)
	for name := range templates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			far := platform.Fork()
			host, err := botctx.New(botctx.Config{Store: memstore.New(), Override: func(scope record.Scope, _ botctx.Services) botctx.Services {
				door := botctx.FromCaller(far.Operations(scope))
				return botctx.Services{
					Channels: door, Members: door, DataSources: door, Agendas: door, Nodes: door, LiveChats: door, Sends: door, Utilities: door,
				}
			}})
			require.NoError(t, err)
			args := json.RawMessage(arguments(t, far, name))
			scope := record.Scope{App: fakes.DefaultApp, Channel: ada.Channel, Member: ada.Member}
			result, err := host.Operations(scope).Call(t.Context(), name, args)
			require.NoError(t, err)
			require.Equal(t, outcome(t, platform, name, args), string(result)+"\n"+stateOf(t, far))
		})
	}
}

func TestFromCaller_NoJSON(t *testing.T) {
	t.Parallel()
	there := &door{}
	_, err := botctx.FromCaller(there).PatchMembers(t.Context(), member.PatchMembersParams{Patch: document.O("meta", func() {})})
	requireFailure(t, err, "patchMembers", boterr.InvalidArgument, "patch")
	require.Empty(t, there.name, "the door is not called")
}
