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

// platforms are the types of channels of the specification, those whose results have words of
// their own first.
var platforms = slices.Concat(
	slices.DeleteFunc(channel.Types(), isCommonlyShaped),
	commonlyShaped(),
)

// isCommonlyShaped reports whether the results of a platform show the message event.
func isCommonlyShaped(platform channel.Type) bool {
	return slices.Contains(channel.PlatformOf(platform).Result.Keys, "messageEvent")
}

// commonlyShaped are the platforms whose results show the message event.
func commonlyShaped() []channel.Type {
	return slices.DeleteFunc(channel.Types(), func(platform channel.Type) bool { return !isCommonlyShaped(platform) })
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
	shape := channel.PlatformOf(platform).Result
	expected := slices.Clone(shape.Keys)
	if field, _, _ := strings.Cut(shape.Text, "."); !slices.Contains(expected, field) {
		expected = append(expected, field)
	}
	require.ElementsMatch(t, expected, fields.Keys())
	require.Equal(t, "Hello", document.Get(fields, shape.Text, ""))
}
