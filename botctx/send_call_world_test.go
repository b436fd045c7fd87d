package botctx_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound/replies"
	"github.com/botctx/go-sdk/record"
)

// addSends adds what the arguments of sends and utilities are for: members of a page on Alpha
// with a label, a message that is stored there, a message to a member on Charlie, a member on
// Echo, a payment account and a file.
func addSends(t *testing.T, p *fakes.Platform) {
	t.Helper()
	p.AddChannel(channel.Channel{ID: "page", Type: channel.Alpha})
	p.AddChannel(channel.Channel{ID: "account", Type: channel.Echo})
	for _, who := range []struct{ id, in string }{{"paul", "page"}, {"quinn", "page"}, {"tess", "page"}, {"rose", "desk"}, {"saul", "account"}} {
		p.AddMember(member.Member{ID: who.id, Channel: who.in, FirstName: who.id})
	}
	p.AddAccount("shop")
	p.HTTP.Add("GET", "https://shop.example/bill.pdf", replies.Text(200, "One kettle."))
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

// idsOfSends returns what puts the ids of what was sent in the place of what stands for them,
// such as <rose's chat>.
func idsOfSends(t *testing.T, p *fakes.Platform) *strings.Replacer {
	t.Helper()
	var pairs []string
	for _, sent := range p.Sent() {
		if sent.Member == "rose" {
			pairs = append(pairs, "<rose's chat>", sent.ChatID, "<rose's message>", sent.MessageID)
		}
	}
	stored := p.StoredMessages("page")
	require.Len(t, stored, 1)
	return strings.NewReplacer(append(pairs, "<stored message>", strconv.FormatInt(stored[0].ID, 10))...)
}
