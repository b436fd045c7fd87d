package member_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

func TestMember_KeepsEveryField(t *testing.T) {
	t.Parallel()
	const text = `{"_id":"m1","_version":2,"app":"a","botId":"b","botMeta":{"liveChat":true},"channel":"c","createdAt":1,"updatedAt":2,
		"etag":"e","externalId":"x","firstName":"Ada","lastName":"L","gender":"f","meta":{"a":{"b":1}},"platform":"webchat",
		"profile":{"p":1},"tags":["vip",{"id":1}],"email":"e@x","locale":"en","customLocale":"de","group":"g","admin":"ad",
		"profilePic":"http://pic","later":{"new":[1,2]}}`
	var m member.Member
	require.NoError(t, json.Unmarshal([]byte(text), &m))
	require.Equal(t, "later", m.Unknown.Keys()[0], "unknown fields are kept")
	written, err := json.Marshal(m)
	require.NoError(t, err)
	require.JSONEq(t, text, string(written))
	kept, err := document.Encode(&m)
	require.NoError(t, err)
	require.JSONEq(t, text, kept.String())
}

func TestMember_ObjectsOfANewOne(t *testing.T) {
	t.Parallel()
	var m member.Member
	m.Meta.Set("order.id", 7)
	m.BotMeta.Set("tempData.x", 1)
	m.Profile.Set("a", true)
	require.Equal(t, 7, document.Get(m.Meta, "order.id", 0))
	require.Equal(t, 1, document.Get(m.BotMeta, "tempData.x", 0))
	require.JSONEq(t, `{"x": 1}`, m.BotMeta.TempData().String())
}

func TestMember_HasHandled(t *testing.T) {
	t.Parallel()
	var m member.Member
	require.False(t, m.HasHandled(""))
	require.NoError(t, document.Decode(document.O("_id", "m", "handledEvent", "e1", "laneFence", 7), &m))
	require.True(t, m.HasHandled("e1"))
	require.False(t, m.HasHandled("e2"))
	require.True(t, m.Unknown.IsZero(), "internal fields")
}

func TestBotMeta_TellsWhatIsKnown(t *testing.T) {
	t.Parallel()
	var none member.BotMeta
	require.False(t, none.LiveChat())
	require.True(t, none.Subscribe(), "a member may be written to unless it said no")
	require.Empty(t, none.Tree()+none.NodeCompositeID())
	require.True(t, none.TempData().IsZero())

	some := member.BotMeta{Object: document.O("liveChat", true, "subscribe", false, "tree", "t", "nodeCompositeId", "n")}
	require.True(t, some.LiveChat())
	require.False(t, some.Subscribe())
	require.Equal(t, "t n", some.Tree()+" "+some.NodeCompositeID())
}

func TestBotMeta_SurvivesTheCodec(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"_id":"m","botMeta":{"tempData":{"f":1.0}}}`, `{"_id":"m","botMeta":{}}`, `{"_id":"m"}`} {
		var m member.Member
		require.NoError(t, json.Unmarshal([]byte(text), &m))
		kept, err := document.Encode(m)
		require.NoError(t, err)
		var back member.Member
		require.NoError(t, document.Decode(kept, &back))
		require.Equal(t, m.String(), back.String())
		require.JSONEq(t, text, kept.String())
	}
	var m member.Member
	require.ErrorContains(t, json.Unmarshal([]byte(`{"botMeta": "x"}`), &m), "botMeta")
}
