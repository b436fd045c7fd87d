package botctx_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store"
)

// furtherResults returns, by operation, arguments that replace arguments of the template. With these arguments, the
// results have the further shapes that the table lists.
func furtherResults() map[string][]string {
	return map[string][]string{
		"fetchDataFromDataSource":         {`{"count": true}`},
		"fetchDistinctDataFromDataSource": {`{"count": true}`},
		"sendResponse": {
			`{"channelId": "desk", "memberId": ["rose"]}`, `{"channelId": "account", "memberId": ["saul"]}`, `{"memberId": ["member-1", "bob"]}`,
		},
		"sendMessageToInlet": {
			`{"channel": {"_id": "outlet of saul"}, "messageEvent": {"from": "<saul's agent>", "to": "<saul's conversation>"}}`,
			`{"channel": {"_id": "outlet of rose"}, "messageEvent": {"from": "<rose's agent>", "to": "<rose's conversation>"}}`,
		},
		"sendMessageToOutletGroup": {`{"groupId": "<hal's group>"}`},
		"redirectMemberToNode":     {`{"memberId": "rose", "channelId": "desk", "nodeCompositeId": "hi"}`}, // The same shape on every platform.
	}
}

func TestCall_Results(t *testing.T) {
	t.Parallel()
	platform, _ := newCaller(t)
	serve(t, platform, "account", "saul", channel.Charlie)
	serve(t, platform, "desk", "rose", channel.Charlie)
	for _, operation := range operations.All() {
		t.Run(operation.Name, func(t *testing.T) {
			t.Parallel()
			shown := map[int]bool{}
			for _, change := range append([]string{`{}`}, furtherResults()[operation.Name]...) {
				p := platform.Fork()
				args := withParameters(t, arguments(t, p, operation.Name), withIDs(t, p, change))
				text, err := caller(p).Call(t.Context(), operation.Name, args)
				require.NoError(t, err)
				shown[shapeOf(t, operation, text)] = true
			}
			require.Len(t, shown, len(operation.Responses), "the table has shapes that no call shows")
		})
	}
}

// shapeOf returns the index of the shape that a result has, among the operation's responses.
func shapeOf(t *testing.T, operation operations.Operation, result []byte) int {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal(result, &value))
	found := slices.IndexFunc(operation.Responses, func(r operations.Response) bool {
		return r.Type.Accepts(value) && hasKeys(fieldsOf(r.Fields, r.Kind), value)
	})
	require.GreaterOrEqual(t, found, 0, "operations.json shows no response of %s such as %s", operation.Name, result)
	return found
}

// fieldsOf returns the given fields or, if there are none, the fields of the kind. It returns none for an entry of a data
// source, because an entry has other columns, too.
func fieldsOf(fields []operations.Field, kind string) []operations.Field {
	if named, ok := operations.KindNamed(kind); ok && len(fields) == 0 && kind != "entry" {
		return named.Fields
	}
	return fields
}

// hasKeys reports whether a value, or each value in an array, has exactly these fields with their types. If fields is
// empty, any value matches.
func hasKeys(fields []operations.Field, value any) bool {
	if list, ok := value.([]any); ok {
		return !slices.ContainsFunc(list, func(item any) bool { return !hasKeys(fields, item) })
	}
	object, ok := value.(map[string]any)
	if !ok || len(fields) == 0 {
		return true
	}
	known := 0
	for _, field := range fields {
		inner, given := object[field.Name]
		if given {
			known++
		}
		switch {
		case !given && field.Need == operations.Always:
			return false
		case given && (!field.Type.Accepts(inner) || !hasKeys(fieldsOf(field.Fields, field.Kind), inner)):
			return false
		}
	}
	return known == len(object)
}

// serve makes a live-chat request for a member, whom it creates if necessary. An agent of a new outlet takes it.
func serve(t *testing.T, p *fakes.Platform, inlet, memberID string, outlet channel.Type) {
	t.Helper()
	id := "outlet of " + memberID
	p.AddChannel(channel.Channel{ID: id, Type: outlet, BroadcastGroups: supportAndSales()})
	p.Pair(inlet, id)
	agent := p.AddAgent(id, "Ida")
	_, err := p.Runtime().CreateAssignment(t.Context(), fakes.DefaultApp, livechat.CreateAssignmentParams{
		Member: &member.Member{ID: memberID},
	})
	require.NoError(t, err)
	agent.Takes(agent.Ticket())
}

// callf calls an operation by name with JSON parameters. It requires success, and a result with exactly the keys and
// types of the table.
func callf(t *testing.T, bot botctx.Caller, name, args string, values ...any) gjson.Result {
	t.Helper()
	text := json.RawMessage(args)
	if len(values) > 0 {
		text = fmt.Appendf(nil, args, values...)
	}
	result, err := bot.Call(t.Context(), name, text)
	require.NoError(t, err, name)
	operation, known := operations.ByName(name)
	require.True(t, known)
	shapeOf(t, operation, result)
	return gjson.ParseBytes(result)
}

func TestCall_ResultThatJSONDoesNotHave(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	bot := p.AddMember(member.Member{}).Context()
	ask := func(op, params string) string {
		result, err := bot.Call(t.Context(), op, json.RawMessage(params))
		require.NoError(t, err)
		return string(result)
	}
	ask("upsertDataToDataSource", `{"dataSourceId": "coupons", "data": {"_id": 1, "n": 1000, "location": [1, 2]}}`)
	taken := ask("findAndModifyDataFromDataSource", `{"dataSourceId": "coupons", "filter": {}, "patch": {"$set": {"taken": true}},
		"option": {"projection": {"v": {"$exp": "$n"}, "list": [{"$exp": "$n"}]}}}`)
	require.JSONEq(t, `{"ok": 1, "value": {"_id": 1, "v": null, "list": [null]}}`, taken, "the result must not lose fields")
}

// newRecipient returns the only member of a new platform with one channel of a type.
func newRecipient(t *testing.T, platform channel.Type) (*fakes.Platform, *fakes.Actor) {
	t.Helper()
	p := fakes.New(fakes.For(t))
	p.AddChannel(channel.Channel{ID: string(platform), Type: platform})
	recipient := p.AddMember(member.Member{Channel: string(platform), FirstName: "Ada", BotID: "bot-7"})
	return p, recipient
}

// ada is the scope of the caller.
var ada = botctx.Scope{Channel: "channel-1", Member: "member-1"}

const (
	icon = "https://shop.example/kettle.png"
	bill = "https://shop.example/bill.pdf"
)

func pngHeader() http.Header { return http.Header{"Content-Type": {"image/png"}} }

// newCaller returns a new platform and the context of its member ada. The platform has the records to which the
// arguments in templates refer: a data source, live chats of other members, and records for sends.
func newCaller(t *testing.T, options ...fakes.Option) (*fakes.Platform, *botctx.Context) {
	t.Helper()
	p := fakes.New(append(options, fakes.For(t))...)
	caller := p.AddMember(member.Member{FirstName: "Ada"})
	p.Handle(&botctx.Node{ID: "hello"}, &botctx.Node{ID: "hi", Responses: botctx.Say("Hi")})
	p.AddData("places", document.O("_id", "a", "n", 1, "taken", false, "location", document.A(0, 1)))
	addLiveChats(t, p)
	addSends(t, p)
	return p, caller.Context()
}

// caller returns the context of ada on a platform from newCaller, or on a fork of such a platform.
func caller(p *fakes.Platform) *botctx.Context { return p.Operations(ada) }

// addLiveChats adds live chats, so many that the calls in templates can run in any order without ending the live chat of
// another call. bob and carl have requested a live chat. dora, emil, fay and gus are in one, and so are hal and ivy in
// groups. One of these groups is on Bravo.
func addLiveChats(t *testing.T, p *fakes.Platform) {
	t.Helper()
	p.HTTP.Add("GET", icon, web.Reply{Header: pngHeader(), Body: "a kettle"})
	p.AddChannel(channel.Channel{ID: "desk", Type: channel.Charlie, BroadcastGroups: supportAndSales()})
	p.AddChannel(channel.Channel{ID: "phone", Type: channel.Bravo, BroadcastGroups: supportAndSales()})
	p.AddChannel(channel.Channel{ID: "hotel", Type: channel.Hotel})
	p.AddChannel(channel.Channel{ID: "family", Type: channel.Delta})
	p.Pair("channel-1", "desk")
	p.Pair("family", "phone")
	grace, hedy := p.AddAgent("desk", "Grace"), p.AddAgent("phone", "Hedy")

	for _, waiting := range []string{"bob", "carl"} {
		askAs(t, p, waiting, "channel-1")
	}
	for _, talking := range []string{"dora", "emil", "fay", "gus"} {
		askAs(t, p, talking, "channel-1")
		grace.Takes(grace.Ticket())
	}
	for _, talking := range []string{"hal", "ivy"} {
		actor := p.AddMember(member.Member{ID: talking, Channel: "family", ExternalID: "external " + talking}).InGroup("family of " + talking)
		_, err := actor.Context().CreateAssignment(t.Context(), livechat.CreateAssignmentParams{Meta: document.O("who", talking)})
		require.NoError(t, err)
		hedy.Takes(hedy.Ticket())
	}
}

// supportAndSales returns a broadcast group for each of two labels.
func supportAndSales() []channel.BroadcastGroup {
	return []channel.BroadcastGroup{
		{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "support", Type: "public_channel"}}},
		{Label: "sales", Groups: []channel.BroadcastGroupMember{{ID: "sales", Type: "public_channel"}}},
	}
}

// askAs adds a member who asks for a person.
func askAs(t *testing.T, p *fakes.Platform, memberID, inlet string) {
	t.Helper()
	p.AddMember(member.Member{ID: memberID, Channel: inlet, ExternalID: "external " + memberID})
	_, err := p.Runtime().CreateAssignment(t.Context(), fakes.DefaultApp, livechat.CreateAssignmentParams{
		Member: &member.Member{ID: memberID}, Meta: document.O("who", memberID),
	})
	require.NoError(t, err)
}

// addSends adds the records for sends and utilities: members of an Alpha page with a label, a message stored on that
// page, a message to a member on Charlie, a member on Echo, a payment account, and a file.
func addSends(t *testing.T, p *fakes.Platform) {
	t.Helper()
	p.AddChannel(channel.Channel{ID: "page", Type: channel.Alpha})
	p.AddChannel(channel.Channel{ID: "account", Type: channel.Echo})
	for _, who := range []struct{ id, in string }{{"paul", "page"}, {"quinn", "page"}, {"tess", "page"}, {"rose", "desk"}, {"saul", "account"}} {
		p.AddMember(member.Member{ID: who.id, Channel: who.in, FirstName: who.id, ExternalID: "external " + who.id})
	}
	p.AddAccount("shop")
	p.HTTP.Add("GET", bill, web.Text(200, "One kettle."))
	page := p.Operations(botctx.Scope{Channel: "page", Member: "paul"})
	for _, call := range []struct {
		bot        *botctx.Context
		name, args string
	}{
		{page, "alphaSaveCustomLabel", `{"labelId": "buyers"}`},
		{page, "alphaCreateBroadcast", `{"response": {"type": "TEXT", "text": "Tea!"}}`},
		{p.Operations(botctx.Scope{Channel: "desk", Member: "rose"}), "sendResponse", `{"response": {"type": "TEXT", "text": "Hi"}}`},
	} {
		_, err := call.bot.Call(t.Context(), call.name, json.RawMessage(call.args))
		require.NoError(t, err)
	}
}

// withIDs replaces placeholders in JSON, such as <dora's group>, by ids on a platform.
func withIDs(t *testing.T, p *fakes.Platform, text string) string {
	t.Helper()
	all, err := p.Runtime().FindAssignments(t.Context(), fakes.DefaultApp, botctx.Query{})
	require.NoError(t, err)
	var pairs []string
	for _, r := range all {
		pairs = append(pairs,
			"<"+r.Member+"'s assignment>", r.ID,
			"<"+r.Member+"'s agent>", r.Assignee,
			"<"+r.Member+"'s group>", r.Group,
			"<"+r.Member+"'s conversation>", document.Get(r.GroupInfo, "externalId", ""))
	}
	for _, sent := range p.Sent() {
		if sent.Member == "rose" {
			pairs = append(pairs, "<rose's chat>", sent.ChatID, "<rose's message>", sent.MessageID)
		}
	}
	return strings.NewReplacer(append(pairs, "<stored message>", strconv.FormatInt(p.StoredMessages("page")[0].ID, 10))...).Replace(text)
}

func arguments(t *testing.T, p *fakes.Platform, name string) string {
	t.Helper()
	return withIDs(t, p, templates[name])
}

// stateOf returns the stored records and sent messages of a platform as JSON.
func stateOf(t *testing.T, p *fakes.Platform) string {
	t.Helper()
	state := []any{
		p.Data("places"), p.Sent(), p.Mails(), p.Files(), p.StoredMessages("page"), p.Broadcasts("page"), p.Attachments("page"),
		p.Groups("desk"), p.Groups("phone"), p.CreatedChannels("hotel"),
	}
	for _, collection := range []string{"members", "agendas", "assignments", "groups", "admins", "postComments"} {
		found, err := p.Runtime().Env().Store.Collection(collection).Find(t.Context(), nil, store.FindOptions{})
		require.NoError(t, err)
		state = append(state, found)
	}
	text, err := json.Marshal(state)
	require.NoError(t, err)
	return string(text)
}
