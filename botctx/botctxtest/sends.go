package botctxtest

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

var sendResponseRules = []Rule{
	rule(sendResponseReachesTheMember,
		"by default a message goes to the context's own member, once and unchanged", readSent),
	rule(sendResponseTellsWhatWasSent,
		"the message event holds the response without its type, from, to, timestamp and messageId", commonShape),
	rule(sendResponseFillsPaths, "{{path}} in the strings of a response is filled from the member; a missing path is empty", readSent),
	rule(sendResponseSendsLiteralsAsTheyAre,
		"a literal response, such as send.Text returns, is sent unchanged, including {{path}}", readSent),
	rule(sendResponsePassesTypesThrough, "an unknown type is passed through unchanged", readSent),
	rule(sendResponseTakesACopy, "changing the parameters after the call does not change the sent message", readSent),
}

func (t *trial) send(p send.SendResponseParams) send.SendResponseResult {
	t.Helper()
	return must(t, t.home.SendResponse, p)
}

// requireSent checks the messages that arrived at the platforms.
func (t *trial) requireSent(expected ...Sent) {
	t.Helper()
	t.requireArrived(0, expected...)
}

// requireTold checks the events of two messages with the same text: the first has the data and the recipient, and their
// ids differ.
func requireTold(t *trial, event, again send.MessageEvent, to, data string) {
	t.Helper()
	require.Equal(t, send.TypeText, event.Type)
	require.JSONEq(t, data, event.Data.String())
	require.Equal(t, to, event.To)
	require.Positive(t, event.Timestamp)
	require.NotEqual(t, event.MessageID, again.MessageID, "each message has a different id")
}

func to(m *member.Member, response send.Response) Sent {
	return Sent{Channel: m.Channel, To: m.ExternalID, Response: response}
}

func sendResponseReachesTheMember(t *trial) {
	responses := []send.Response{
		send.Text("Hello"),
		send.Image("https://example.com/a.png"),
		send.QuickReplies("Again?", send.QuickReply{Title: "Yes"}, send.QuickReply{Title: "No", Payload: "no"}),
		send.Buttons("A table?", send.Postback("Yes", "book"), send.WebURL("Menu", "https://example.com")),
		send.Carousel(send.Card{Title: "One", Buttons: []send.Button{send.PostbackValue("Take", "take", 1)}}),
	}
	expected := make([]Sent, 0, len(responses))
	for _, response := range responses {
		require.Len(t, t.send(send.SendResponseParams{Response: response}).Results, 1)
		expected = append(expected, to(t.home.member, response))
	}
	t.requireSent(expected...)
}

func sendResponseTellsWhatWasSent(t *trial) {
	m := t.neighbour(member.Member{BotID: "bot"})
	result := t.send(send.SendResponseParams{
		MemberID: document.One(m.ID), Response: send.Text("Hello").With("transform", "x"),
	}).Result()
	require.NotEmpty(t, result.MessageEvent.From)
	require.NotEmpty(t, result.MessageEvent.MessageID)
	require.False(t, result.Reply.IsZero(), "the platform's reply")
	again := t.send(send.SendResponseParams{Response: send.Text("Hello")}).Result()
	requireTold(t, result.MessageEvent, again.MessageEvent, m.ExternalID, `{"text":"Hello","transform":"x"}`)
}

func sendResponseFillsPaths(t *trial) {
	m := t.neighbour(member.Member{
		FirstName: "Eve", Meta: document.O("order", document.O("id", 7), "items", document.A("tea", "{{firstName}}")),
	})
	t.send(send.SendResponseParams{
		MemberID: document.One(m.ID),
		Response: send.Buttons("{{firstName}}: {{ meta.order.id }}, {{meta.items.0}}, {{meta.nothing}}, {{meta.items.1}}",
			send.Postback("For {{firstName}}", "order/{{meta.order.id}}")).WithPlaceholders(),
	})
	t.requireSent(to(m, send.Buttons("Eve: 7, tea, , {{firstName}}", send.Postback("For Eve", "order/7"))))
}

func sendResponseSendsLiteralsAsTheyAre(t *trial) {
	said := send.MessageEvent{Type: send.TypeText, Data: document.O("text", "I am {{firstName}}")}
	for _, literal := range []send.Response{send.Text("You are {{firstName}}"), said.Response()} {
		before := len(t.Sent())
		t.send(send.SendResponseParams{Response: literal})
		t.requireLastSent(before, t.home.channel.ID, t.home.member.ExternalID, literal.Text())
	}
}

func sendResponsePassesTypesThrough(t *trial) {
	t.send(send.SendResponseParams{Response: hologram()})
	t.requireSent(to(t.home.member, hologram()))
}

func slicesOf[E any](n int, element E) []E {
	all := make([]E, n)
	for i := range all {
		all[i] = element
	}
	return all
}

func sendResponseTakesACopy(t *trial) {
	second := t.neighbour(member.Member{})
	ids := document.One(t.home.member.ID, second.ID)
	sent := t.send(send.SendResponseParams{MemberID: ids, Response: send.Text("Hello")})
	require.Len(t, sent.Results, 2)
	ids[0] = "changed"
	sent.Results[0], sent.Results[1] = sent.Results[1], send.Result{}
	t.requireSent(to(t.home.member, send.Text("Hello")), to(second, send.Text("Hello")))
}

var recipientRules = []Rule{
	rule(sendResponseReachesSeveralMembers,
		"a message to several members reaches each once, filled for each, with a result for each in their order", readSent),
	rule(sendResponseLoadsRecordsAgain,
		"of a channel record and a member record in the parameters only the _id counts: the records are loaded again", readSent),
	rule(sendResponseTakesAnotherChannel, "a message goes through the given channel, to members of that channel", readSent),
	rule(sendResponseGoesToTheGroup,
		"in a group a message without a recipient goes to the group, filled from the member; a given recipient gets it alone", readSent),
	rule(sendResponseSendsToAllOrNone, "all parameters are checked before the first message is sent"),
	rule(sendResponseNeedsAnExternalID, "a member without an external id is FailedPrecondition, and nothing is sent", Members),
}

func sendResponseReachesSeveralMembers(t *trial) {
	bob, eve := t.neighbour(member.Member{FirstName: "Bob"}), t.neighbour(member.Member{FirstName: "Eve"})
	sent := t.send(send.SendResponseParams{
		MemberID: document.One(eve.ID, t.home.member.ID, bob.ID, eve.ID), Response: send.Template("Hello {{firstName}}"),
	})
	t.requireSent(
		to(eve, send.Text("Hello Eve")), to(t.home.member, send.Text("Hello Ada")), to(bob, send.Text("Hello Bob")))
	require.Len(t, sent.Results, 3)
	for _, result := range sent.Results {
		require.NoError(t, result.Err)
	}
	if t.offers(commonShape) {
		require.Equal(t, eve.ExternalID, sent.Results[0].MessageEvent.To)
		require.Equal(t, bob.ExternalID, sent.Results[2].MessageEvent.To)
	}
}

func sendResponseLoadsRecordsAgain(t *trial) {
	t.send(send.SendResponseParams{
		Channel: &channel.Channel{ID: t.home.channel.ID, App: t.away.scope.App, Type: "forged"},
		Member: &member.Member{
			ID: t.home.member.ID, App: t.away.scope.App, Channel: "forged", ExternalID: "forged", FirstName: "Forged",
		},
		Response: send.Template("Hello {{firstName}}"),
	})
	t.requireSent(to(t.home.member, send.Text("Hello Ada")))
}

func sendResponseTakesAnotherChannel(t *trial) {
	second := t.newChannel(t.home.scope.App)
	there := t.newMember(member.Member{App: second.App, Channel: second.ID})
	for _, params := range []send.SendResponseParams{
		{ChannelID: second.ID, MemberID: document.One(there.ID)},
		{Channel: second, Member: there},
		{Channel: second, ChannelID: second.ID, Member: there, MemberID: document.One(there.ID)},
	} {
		params.Response = send.Text("Hello")
		t.send(params)
	}
	hello := to(there, send.Text("Hello"))
	t.requireSent(hello, hello, hello)
}

func sendResponseGoesToTheGroup(t *trial) {
	family := unique("family")
	inFamily := t.inGroup(t.home, family)
	for _, params := range []send.SendResponseParams{
		{}, {ChannelID: t.home.channel.ID}, {MemberID: document.One(t.home.member.ID)}, {Member: t.home.member},
	} {
		params.Response = send.Template("Hello {{firstName}}")
		must(t, inFamily.SendResponse, params)
	}
	alone := to(t.home.member, send.Text("Hello Ada"))
	there := Sent{Channel: t.home.channel.ID, To: family, Response: send.Text("Hello Ada")}
	t.requireSent(there, there, alone, alone)
}

func sendResponseSendsToAllOrNone(t *trial) {
	bob, eve := t.neighbour(member.Member{FirstName: "Bob"}), t.neighbour(member.Member{})
	type params = send.SendResponseParams
	several := document.One(bob.ID, eve.ID)
	requireRefused(t, botctx.OpSendResponse, t.home.SendResponse, []badInput[params]{
		{"a text that is empty for one", params{MemberID: several, Response: send.Template("{{firstName}}")}, "response.text"},
	})
	requireFails(t, botctx.OpSendResponse, t.home.SendResponse, boterr.NotFound, []badInput[params]{
		{"a member that does not exist", params{MemberID: append(several, "nobody"), Response: send.Text("Hello")}, "memberId"},
	})
}

func sendResponseNeedsAnExternalID(t *trial) {
	bob := t.neighbour(member.Member{})
	t.update("_id", bob.ID, "externalId", "")
	type params = send.SendResponseParams
	hello := send.Text("Hello")
	requireFails(t, botctx.OpSendResponse, t.home.SendResponse, boterr.FailedPrecondition, []badInput[params]{
		{"alone", params{MemberID: document.One(bob.ID), Response: hello}, "memberId"},
		{"with another", params{MemberID: document.One(t.home.member.ID, bob.ID), Response: hello}, "memberId"},
	})
}

// prepared holds ids of objects on the platform of a place. If a place was not prepared, its ids refer to nothing.
type prepared struct {
	// broadcast is a message stored on Alpha. label is a label of the member there.
	broadcast send.BroadcastID
	label     string
	// conversation is the id of the conversation with the member on Charlie. message is the id of a message in it.
	conversation string
	message      send.MessageTS
	// bravoGroup is the id of a group on Bravo with an invitation link.
	bravoGroup string
}

// on returns the place for a channel on a platform in the app home, with prepared objects. The first call creates it.
func (t *trial) on(platform channel.Type) *place {
	t.Helper()
	return t.onIn(t.home, platform)
}

func (t *trial) onIn(base *place, platform channel.Type) *place {
	t.Helper()
	if p := base.platforms[platform]; p != nil {
		return p
	}
	p := t.newPlaceOn(base.scope.App, platform)
	if base.platforms == nil {
		base.platforms = map[channel.Type]*place{}
	}
	base.platforms[platform] = p
	switch {
	case !t.offers(Sends) || !t.offers(On(platform)):
	case platform == channel.Alpha:
		t.prepareAlpha(p)
	case platform == channel.Charlie:
		p.prepared.conversation, p.prepared.message = t.sendOnCharlie(p, p.member)
	}
	return p
}

// newPlaceOn adds a channel on a platform and a member, and returns the place for them. A channel on Charlie has a
// conversation as its broadcast group.
func (t *trial) newPlaceOn(app string, platform channel.Type) *place {
	t.Helper()
	added := channel.Channel{App: app, Type: platform, Name: "Front desk"}
	if platform == channel.Charlie {
		group := newBroadcastGroup(platform)
		added.BroadcastGroups = []channel.BroadcastGroup{{Label: "default", Groups: []channel.BroadcastGroupMember{group}}}
	}
	p := &place{channel: t.AddChannel(added)}
	p.prepared = prepared{broadcast: "1", label: "2", conversation: "C1", message: "1.000001", bravoGroup: "group"}
	p.member = t.newMember(member.Member{App: app, Channel: p.channel.ID, FirstName: "Ada"})
	p.scope = botctx.Scope{App: app, Channel: p.channel.ID, Member: p.member.ID}
	p.Operations = t.Operations(p.scope)
	return p
}

// prepareAlpha stores a message to broadcast and labels the member.
func (t *trial) prepareAlpha(p *place) {
	t.Helper()
	if t.offers(Broadcasts) {
		p.prepared.broadcast = t.store(p, send.Text("News"))
	}
	if t.offers(Labels) {
		p.prepared.label = newLabel()
		t.label(p, p.member, p.prepared.label)
	}
}

// another adds a member to the channel of a place.
func (t *trial) another(p *place, m member.Member) *member.Member {
	t.Helper()
	m.App, m.Channel = p.scope.App, p.scope.Channel
	return t.newMember(m)
}

// newLabel returns a new id for a label. Like all ids of labels on Alpha, it is a number.
func newLabel() string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // rand.Read never fails.
	return strconv.FormatUint(binary.BigEndian.Uint64(random[:])>>1, 10)
}

func (t *trial) store(p *place, response send.Response) send.BroadcastID {
	t.Helper()
	stored := must(t, p.AlphaCreateBroadcast, send.AlphaCreateBroadcastParams{Response: response})
	require.Len(t, stored.Result, 1)
	var id send.BroadcastID
	require.NoError(t, id.DecodeValue(document.O("response", stored.Result[0].Response)), "Alpha's reply holds the id")
	return id
}

func (t *trial) label(p *place, m *member.Member, label string) int64 {
	t.Helper()
	saved := must(t, p.AlphaSaveCustomLabel, send.AlphaSaveCustomLabelParams{Member: m, LabelID: label})
	return saved.ID
}

// sendOnCharlie sends a text to a member and returns the conversation and the message.
func (t *trial) sendOnCharlie(p *place, to *member.Member) (string, send.MessageTS) {
	t.Helper()
	sent := must(t, p.SendResponse, send.SendResponseParams{Member: to, Response: send.Text("Hello")})
	reply := t.object(sent)
	ts := send.MessageTS(document.Get(reply, "ts", "")) // A number instead of a text would give "".
	conversation := document.Get(reply, "channel", "")
	require.NotEmpty(t, conversation)
	require.NotEmpty(t, ts)
	return conversation, ts
}

// object encodes a value, which must be a JSON object.
func (t *trial) object(v any) document.Object {
	t.Helper()
	value, err := document.ParseJSON([]byte(textOf(t, v)))
	require.NoError(t, err)
	object, ok := value.(document.Object)
	require.True(t, ok, "the result must be an object, got %v", value)
	return object
}

// textsOfSent formats messages for comparisons.
func textsOfSent(all []Sent) []string {
	texts := make([]string, 0, len(all))
	for _, s := range all {
		texts = append(texts, fmt.Sprintf("%s to %s: %s", s.Channel, s.To, s.Response))
	}
	return texts
}

// requireArrived checks the messages that arrived, in order. It skips the first ones; before is their number.
func (t *trial) requireArrived(before int, expected ...Sent) {
	t.Helper()
	all := t.Sent()
	require.GreaterOrEqual(t, len(all), before)
	require.Equal(t, textsOfSent(expected), textsOfSent(all[before:]))
}

// requireEachArrived checks the messages that arrived, in any order, because concurrent sends have none. It
// skips the first ones; before is their number.
func (t *trial) requireEachArrived(before int, expected ...Sent) {
	t.Helper()
	all := t.Sent()
	require.GreaterOrEqual(t, len(all), before)
	require.ElementsMatch(t, textsOfSent(expected), textsOfSent(all[before:]))
}

// writeDelivered writes comments, mails and files to state.
func (t *trial) writeDelivered(state *strings.Builder) {
	t.Helper()
	if t.Comments != nil {
		for _, p := range []*place{t.home, t.away} {
			fmt.Fprintln(state, textOf(t, t.Comments(p.scope.App)))
		}
	}
	if t.Mails != nil {
		fmt.Fprintln(state, len(t.Mails()))
	}
	if t.Files != nil {
		for _, file := range t.Files() {
			fmt.Fprintf(state, "%s %s %s %s %q\n", file.App, file.Channel, file.Name, file.ContentType, file.Content)
		}
	}
}

// platforms are the types of channels in the specification. Charlie and Echo, whose results have their own form, come
// first.
var platforms = slices.Concat(
	slices.DeleteFunc(channel.Types(), isCommonlyShaped),
	commonlyShaped(),
)

// isCommonlyShaped reports whether the results on a platform contain the message event.
func isCommonlyShaped(platform channel.Type) bool {
	return slices.Contains(channel.PlatformOf(platform).Result.Keys, "messageEvent")
}

// commonlyShaped returns the platforms whose results contain the message event.
func commonlyShaped() []channel.Type {
	return slices.DeleteFunc(channel.Types(), func(platform channel.Type) bool { return !isCommonlyShaped(platform) })
}

// platformRules returns a rule about the shape of results for each platform.
func platformRules() []Rule {
	rules := make([]Rule, 0, len(platforms))
	for _, platform := range platforms {
		rules = append(rules, Rule{
			Name:  "SendResponseOn" + strings.ToUpper(string(platform[:1])) + string(platform[1:]),
			Text:  "the JSON of a result has the platform's shape in the specification, and for several members it is an array of these",
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
	for _, one := range several.(document.Array).All() { //nolint:forcetypeassert // The line above checks the type.
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

var hotelChannelRules = []Rule{
	rule(createHotelChannelMakesAChannel,
		"createHotelChannel creates a new channel with the given name in a group of the platform in each call, and no channel of the app",
		On(channel.Hotel), readMade, Channels),
}

func createHotelChannelMakesAChannel(t *trial) {
	c := t.newChannelOf(t.home, channel.Hotel)
	for _, name := range []string{"Lobby", "Bar", "Bar"} {
		must(t, t.home.CreateHotelChannel, livechat.CreateHotelChannelParams{
			Channel: c, HotelGroupID: "floor of " + name, DisplayName: name,
		})
	}
	ids := map[string]bool{}
	for i, made := range t.madeIn(c.ID) {
		require.Equal(t, []string{"Lobby", "Bar", "Bar"}[i], made.Name)
		require.Equal(t, "floor of "+made.Name, made.Within)
		ids[made.ExternalID] = true
		_, err := t.home.GetChannel(t.Context(), channel.GetParams{ChannelID: made.ExternalID})
		t.requireCode(boterr.NotFound, err)
	}
	require.Len(t, ids, 3)
}
