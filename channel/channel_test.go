package channel_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

func parse(t *testing.T, text string) channel.Channel {
	t.Helper()
	var c channel.Channel
	require.NoError(t, json.Unmarshal([]byte(text), &c))
	return c
}

func TestChannel_ReadsEveryField(t *testing.T) {
	t.Parallel()
	c := parse(t, `{
		"_id": "c1", "_version": 3, "app": "a1", "createdAt": 1, "updatedAt": 2, "description": "d", "etag": "e",
		"exclusiveLiveChat": true, "metadata": {"shop": 1}, "name": "n", "on": true, "type": "webchat", "later": [1],
		"broadcastGroups": [{"label": "default", "groups": [{"id": "u1", "type": "user", "x": 1}]}],
		"priorityGroups": [{"coreVersion": "2", "group": "g", "globalNodes": ["n1"], "groupGlobalNodes": ["n2"],
			"groupTrees": ["t1"], "offGlobalNodes": ["n3"], "offTrees": ["t2"], "trees": ["t3"]}]
	}`)
	require.Equal(t, channel.Channel{
		ID: "c1", Version: 3, App: "a1", CreatedAt: 1, UpdatedAt: 2, Description: "d", Etag: "e",
		ExclusiveLiveChat: true, Metadata: c.Metadata, Name: "n", On: true, Type: channel.Webchat, Unknown: c.Unknown,
		BroadcastGroups: []channel.BroadcastGroup{{Label: "default", Groups: []channel.BroadcastGroupMember{
			{ID: "u1", Type: "user", Unknown: c.BroadcastGroups[0].Groups[0].Unknown},
		}}},
		PriorityGroups: []channel.PriorityGroup{{
			CoreVersion: "2", Group: "g", GlobalNodes: []string{"n1"}, GroupGlobalNodes: []string{"n2"},
			GroupTrees: []string{"t1"}, OffGlobalNodes: []string{"n3"}, OffTrees: []string{"t2"}, Trees: []string{"t3"},
		}},
	}, c)
	require.Equal(t, 1, document.Get(c.Metadata, "shop", 0))
	require.True(t, c.Unknown.Has("later.0"), "unknown fields are kept")
	require.True(t, c.BroadcastGroups[0].Groups[0].Unknown.Has("x"), "unknown fields are kept in groups, too")
}

func TestChannel_WrittenAsRead(t *testing.T) {
	t.Parallel()
	const text = `{"_id":"c1","metadata":{"shop":1},"on":true,"type":"webchat","later":[1]}`
	written, err := json.Marshal(parse(t, text))
	require.NoError(t, err)
	require.JSONEq(t, text, string(written))
}

func TestChannel_MetadataAsText(t *testing.T) {
	t.Parallel()
	c := parse(t, `{"metadata": "{\"shop\": {\"id\": 7}}"}`)
	require.Equal(t, 7, document.Get(c.Metadata, "shop.id", 0))
	require.True(t, parse(t, `{"metadata": " "}`).Metadata.IsZero(), "an empty text is no metadata")
}

func TestInfo_ChosenByType(t *testing.T) {
	t.Parallel()
	for of, want := range map[string]channel.Info{
		"alpha":   channel.AlphaInfo{AccessToken: channel.NewSecret("t"), Subscribed: true},
		"charlie": channel.CharlieInfo{AccessToken: channel.NewSecret("t"), Subscribed: true},
		"echo":    channel.EchoInfo{AccessToken: channel.NewSecret("t"), Subscribed: true},
	} {
		require.Equal(t, want, parse(t, `{"info": {"accessToken": "t", "subscribed": true}, "type": "`+of+`"}`).Info)
	}
	require.Equal(t, channel.BravoInfo{WaID: "w"}, parse(t, `{"type": "bravo", "info": {"waId": "w"}}`).Info)
	require.Equal(t, channel.DeltaInfo{TbID: "b"}, parse(t, `{"type": "delta", "info": {"tbId": "b"}}`).Info)
	require.Nil(t, parse(t, `{"type": "delta", "info": null}`).Info)
	require.Nil(t, parse(t, `{"type": "delta"}`).Info)
}

func TestInfo_OfAnotherType(t *testing.T) {
	t.Parallel()
	for _, of := range []string{"foxtrot", "hotel", "custom", "webchat", "their own", ""} {
		c := parse(t, `{"info": {"key": "k", "n": {"a": 1}}, "type": "`+of+`"}`)
		require.IsType(t, channel.OtherInfo{}, c.Info)
		require.JSONEq(t, `{"key": "k", "n": {"a": 1}}`, c.Info.(channel.OtherInfo).Reveal().String())
	}
}

func TestChannel_WrongShape(t *testing.T) {
	t.Parallel()
	for text, field := range map[string]string{
		`[]`:                   "",
		`{"name": 5}`:          "name",
		`{"on": "yes"}`:        "on",
		`{"metadata": "text"}`: "metadata",
		`{"metadata": "[1]"}`:  "metadata",
		`{"metadata": 5}`:      "metadata",
		`{"info": 5}`:          "info",
		`{"type": "alpha", "info": {"subscribed": 1}}`:                          "info.subscribed",
		`{"type": "alpha", "info": {"accessToken": 4321}}`:                      "info.accessToken",
		`{"type": "echo", "info": {"JSAPITicketExpiry": "4321"}}`:               "info.JSAPITicketExpiry",
		`{"broadcastGroups": [{"groups": [{"id": "a"}, {"id": 1}]}]}`:           "broadcastGroups[0].groups[1].id",
		`{"priorityGroups": [{"trees": ["a", null, 1]}], "type": "some other"}`: "priorityGroups[0].trees[2]",
	} {
		var c channel.Channel
		err := c.UnmarshalJSON([]byte(text))
		require.ErrorIs(t, err, boterr.InvalidArgument, text)
		e, _ := boterr.AsError(err)
		require.Equal(t, field, e.Field, text)
		require.NotContains(t, err.Error(), "43", "an error shows no credential")
	}
}

func TestGroups_WrittenAsRead(t *testing.T) {
	t.Parallel()
	const broadcast = `{"label":"default","groups":[{"id":"u1","type":"user","extra":1}],"extra":2}`
	var b channel.BroadcastGroup
	require.NoError(t, json.Unmarshal([]byte(broadcast), &b))
	require.JSONEq(t, broadcast, mustJSON(t, b))
	var m channel.BroadcastGroupMember
	require.NoError(t, json.Unmarshal([]byte(mustJSON(t, b.Groups[0])), &m))
	require.Equal(t, b.Groups[0].ID, m.ID)
	const priority = `{"group":"g","trees":["t"],"extra":{"x":1}}`
	var p channel.PriorityGroup
	require.NoError(t, json.Unmarshal([]byte(priority), &p))
	require.JSONEq(t, priority, mustJSON(t, p))
}

func TestClone_SharesNoListWithTheChannel(t *testing.T) {
	t.Parallel()
	for _, info := range []channel.Info{
		channel.AlphaInfo{}, channel.BravoInfo{}, channel.CharlieInfo{}, channel.DeltaInfo{}, channel.EchoInfo{}, channel.OtherInfo{},
	} {
		t.Run(fmt.Sprintf("%T", info), func(t *testing.T) {
			t.Parallel()
			filled := reflect.New(reflect.TypeOf(info)).Elem()
			fillLists(filled)
			c := channel.Channel{ID: "c1", Info: filled.Interface().(channel.Info)}
			fillLists(reflect.ValueOf(&c).Elem())
			clone := c.Clone()
			require.Equal(t, c, clone)
			requireApart(t, "Channel", reflect.ValueOf(c), reflect.ValueOf(clone))
			requireApart(t, "Info", reflect.ValueOf(c.Info), reflect.ValueOf(clone.Info))
		})
	}
}

// fillLists adds one element to each list of a struct.
func fillLists(v reflect.Value) {
	for _, field := range v.Fields() {
		if field.Kind() == reflect.Slice && field.CanSet() {
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
			if element := field.Index(0); element.Kind() == reflect.Struct {
				fillLists(element)
			}
		}
	}
}

// requireApart asserts that two structs share no list in their exported fields, and have no other field that
// refers to changeable data.
func requireApart(t *testing.T, name string, a, b reflect.Value) {
	t.Helper()
	for i := range a.NumField() {
		field := a.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		at := name + "." + field.Name
		require.NotContains(t, []reflect.Kind{reflect.Map, reflect.Pointer, reflect.Func, reflect.Chan}, field.Type.Kind(), at)
		if field.Type.Kind() != reflect.Slice {
			continue
		}
		require.Equal(t, 1, a.Field(i).Len(), at)
		require.NotEqual(t, a.Field(i).Pointer(), b.Field(i).Pointer(), "%s is shared", at)
		if field.Type.Elem().Kind() == reflect.Struct {
			requireApart(t, at, a.Field(i).Index(0), b.Field(i).Index(0))
		}
	}
}

func TestBotID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"type": "alpha", "info": {"pageId": "page"}}`:      "page",
		`{"type": "bravo", "info": {"waId": "business"}}`:    "business",
		`{"type": "charlie", "info": {"botId": "bot"}}`:      "bot",
		`{"type": "delta", "info": {"tbId": "bot"}}`:         "bot",
		`{"type": "echo", "info": {"botOpenId": "account"}}`: "account",
		`{"type": "charlie"}`:                                "",
		`{"type": "webchat", "info": {"botId": "bot"}}`:      "",
	} {
		var c channel.Channel
		require.NoError(t, document.DecodeJSON([]byte(text), &c))
		require.Equal(t, want, c.BotID(), text)
	}
}

// reading returns a function that decodes a stored channel.
func reading(tb testing.TB) func() error {
	tb.Helper()
	stored, err := document.Encode(channel.Channel{
		ID: "shop", App: "bakery", Name: "Shop", On: true, Type: channel.Alpha, CreatedAt: 1, UpdatedAt: 2, Etag: "2", Version: 1,
		Info: channel.AlphaInfo{PageID: "1", AccessToken: channel.NewSecret("token")},
	})
	require.NoError(tb, err)
	return func() error { return document.Decode(stored, new(channel.Channel)) }
}

func BenchmarkRead(b *testing.B) {
	read := reading(b)
	b.ReportAllocs()
	for b.Loop() {
		if err := read(); err != nil {
			b.Fatal(err)
		}
	}
}

// Most of the allocations are for sealing the one credential.
//
//nolint:paralleltest // What other tests allocate at the same time would be counted.
func TestRead_AllocatesLittle(t *testing.T) {
	read := reading(t)
	var failed error
	allocated := testing.AllocsPerRun(200, func() {
		if err := read(); err != nil {
			failed = err
		}
	})
	require.NoError(t, failed)
	require.LessOrEqual(t, allocated, 20.0)
}
