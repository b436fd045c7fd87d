package botctx_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store"
)

// ada is the scope of who calls, icon the address of a picture, bill that of a file.
var ada = record.Scope{Channel: "channel-1", Member: "member-1"}

const (
	icon = "https://shop.example/kettle.png"
	bill = "https://shop.example/bill.pdf"
)

// pngHeader returns what a server says of a picture.
func pngHeader() http.Header { return http.Header{"Content-Type": {"image/png"}} }

// newCaller returns the context of a member of a new platform with one data source, with
// live chats of other members, and with what the sends are about.
func newCaller(t *testing.T, options ...fakes.Option) (*fakes.Platform, *botctx.Context) {
	t.Helper()
	p := fakes.New(append(options, fakes.For(t))...)
	caller := p.AddMember(member.Member{FirstName: "Ada"})
	p.Handle(&botctx.Node{ID: "hello"})
	p.AddData("places", document.O("_id", "a", "n", 1, "taken", false, "location", document.A(0, 1)))
	addLiveChats(t, p)
	addSends(t, p)
	return p, caller.Context()
}

// caller returns the context of who calls on a platform of newCaller, or on a fork of one.
func caller(p *fakes.Platform) *botctx.Context { return p.Operations(ada) }

// addLiveChats adds the live chats that the arguments are for. Whatever order these are
// called in, none takes away what another one needs: bob and carl have asked for a person,
// dora, emil, fay and gus talk with one, and so do hal and ivy, with one on Bravo, and from
// groups of the inlet.
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
	_, err := p.Runtime().LiveChats(fakes.DefaultApp).CreateAssignment(t.Context(), livechat.CreateAssignmentParams{
		Member: &member.Member{ID: memberID}, Meta: document.O("who", memberID),
	})
	require.NoError(t, err)
}

// addSends adds what the arguments of sends and utilities are for: members of a page on Alpha
// with a label, a message that is stored there, a message to a member on Charlie, a member on
// Echo, a payment account and a file.
func addSends(t *testing.T, p *fakes.Platform) {
	t.Helper()
	p.AddChannel(channel.Channel{ID: "page", Type: channel.Alpha})
	p.AddChannel(channel.Channel{ID: "account", Type: channel.Echo})
	for _, who := range []struct{ id, in string }{{"paul", "page"}, {"quinn", "page"}, {"tess", "page"}, {"rose", "desk"}, {"saul", "account"}} {
		p.AddMember(member.Member{ID: who.id, Channel: who.in, FirstName: who.id, ExternalID: "external " + who.id})
	}
	p.AddAccount("shop")
	p.HTTP.Add("GET", bill, web.Text(200, "One kettle."))
	page := p.Operations(record.Scope{Channel: "page", Member: "paul"})
	for _, call := range []struct {
		bot        *botctx.Context
		name, args string
	}{
		{page, "alphaSaveCustomLabel", `{"labelId": "buyers"}`},
		{page, "alphaCreateBroadcast", `{"response": {"type": "TEXT", "text": "Tea!"}}`},
		{p.Operations(record.Scope{Channel: "desk", Member: "rose"}), "sendResponse", `{"response": {"type": "TEXT", "text": "Hi"}}`},
	} {
		_, err := call.bot.Call(t.Context(), call.name, json.RawMessage(call.args))
		require.NoError(t, err)
	}
}

// withIDs puts the ids of a platform in the place of what stands for them in JSON, such as
// <dora's group> or <rose's chat>.
func withIDs(t *testing.T, p *fakes.Platform, text string) string {
	t.Helper()
	all, err := p.Runtime().LiveChats(fakes.DefaultApp).FindAssignments(t.Context(), record.Query{})
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

// arguments returns the arguments of an operation on a platform.
func arguments(t *testing.T, p *fakes.Platform, name string) string {
	t.Helper()
	return withIDs(t, p, templates[name])
}

// stateOf returns, in JSON, what is stored and was sent on a platform.
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
