package botctxtest

import (
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// platforms are the types of channels of the specification, those whose results have
// words of their own first.
var platforms = []channel.Type{
	channel.Charlie, channel.Echo, channel.Alpha, channel.Bravo, channel.Delta,
	channel.Foxtrot, channel.Hotel, channel.Custom, channel.Webchat,
}

// commonlyShaped are the platforms whose results show the message event.
func commonlyShaped() []channel.Type {
	return slices.DeleteFunc(slices.Clone(platforms), func(platform channel.Type) bool { return shapes[platform] != nil })
}

// shapes are the fields of a result in JSON on platforms that have words of their own.
// On all others they are result and messageEvent.
var shapes = map[channel.Type][]string{
	channel.Charlie: {"ok", "channel", "ts", "message"},
	channel.Echo:    {"msgType", "text"},
}

// platformRules are the rule of the shape of results for each platform.
func platformRules() []Rule {
	rules := make([]Rule, 0, len(platforms))
	for _, platform := range platforms {
		rules = append(rules, Rule{
			Name:  "SendResponseOn" + strings.ToUpper(string(platform[:1])) + string(platform[1:]),
			Text:  "the JSON of a result has the shape that the specification shows for the platform; for several members it is an array",
			Needs: []Capability{On(platform)},
			check: func(t *trial) { resultHasItsShape(t, platform) },
		})
	}
	return rules
}

func resultHasItsShape(t *trial, platform channel.Type) {
	c := t.AddChannel(channel.Channel{App: t.home.scope.App, Type: platform, Name: "Front desk"})
	first := t.newMember(member.Member{App: c.App, Channel: c.ID})
	second := t.newMember(member.Member{App: c.App, Channel: c.ID})
	hello := send.SendResponseParams{ChannelID: c.ID, MemberID: document.One(first.ID), Response: send.Text("Hello")}
	requireShape(t, platform, t.send(hello))
	hello.MemberID = document.One(first.ID, second.ID)
	several, err := document.ParseJSON([]byte(textOf(t, t.send(hello))))
	require.NoError(t, err)
	require.Equal(t, "array", document.TypeName(several))
	for _, one := range several.(document.Array).All() { //nolint:forcetypeassert // It is an array, says the line above.
		requireShape(t, platform, one)
	}
}

// requireShape checks the fields of a result.
func requireShape(t *trial, platform channel.Type, result any) {
	t.Helper()
	object, err := document.ParseJSON([]byte(textOf(t, result)))
	require.NoError(t, err)
	fields, isObject := object.(document.Object)
	require.True(t, isObject, "the result is %v", object)
	expected, ok := shapes[platform]
	if !ok {
		expected = []string{"result", "messageEvent"}
	}
	require.Equal(t, slices.Sorted(slices.Values(expected)), slices.Sorted(slices.Values(fields.Keys())))
	text := map[channel.Type]string{channel.Charlie: "message.text", channel.Echo: "text"}[platform]
	if text == "" {
		text = "messageEvent.data.text"
	}
	require.Equal(t, "Hello", document.Get(fields, text, ""))
}
