package foxtrot_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/foxtrot"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/foxtrotfake"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

func TestConnector_KeepsTheContract(t *testing.T) {
	t.Parallel()
	sendtest.RunConnector(t, func(t *testing.T) *sendtest.Harness {
		t.Helper()
		p := newPlatform()
		for _, id := range []string{ada, bob} {
			p.AddConversation(deskApp, id)
		}
		h := harness(t, p, desk(), shop())
		h.Members = []*member.Member{{ID: "m1", ExternalID: ada}, {ID: "m2", ExternalID: bob}}
		return h
	})
}

func harness(t *testing.T, p *foxtrotfake.Platform, in, other *channel.Channel) *sendtest.Harness {
	t.Helper()
	server := sendtest.NewServer(t, p, nil)
	h := &sendtest.Harness{
		Connector: newConnector(t, foxtrot.Config{HTTPClient: &http.Client{}}), Channel: at(server.URL, in), Other: at(server.URL, other),
		Arrived: func() []sendtest.Arrival {
			return p.Arrivals(map[string]string{
				"key:" + keySecret: "desk", "other:" + otherSecret: "shop", "grace@desk/token:" + apiToken: "tickets", "hedy@desk/token:another-token": "others",
			})
		},
		Fail: server.Fail, Odd: func() []sendtest.Reception { return oddReports(t) },
	}
	return h
}

func TestConnector_KeepsTheContractWithTickets(t *testing.T) {
	t.Parallel()
	newHarness := func(t *testing.T) *sendtest.Harness {
		t.Helper()
		p := newPlatform()
		p.AddTicket(1)
		p.AddTicket(2)
		h := harness(t, p, tickets(), account("others", document.O("email", "hedy@desk", "apiToken", "another-token")))
		h.Members = []*member.Member{{ID: "m1", ExternalID: "ticket:1"}, {ID: "m2", ExternalID: "ticket:2"}}
		h.HasNoKeys = true
		return h
	}
	for _, rule := range sendtest.Rules(newHarness(t)) {
		if rule.Name == "EachTypeArrivesOrIsRefused" {
			continue // An agent gets the titles of buttons as text, without payloads.
		}
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			rule.Check(t, newHarness(t))
		})
	}
}

// oddReports posts reports of unknown kinds to a handler, and returns how it handled each.
func oddReports(t *testing.T) []sendtest.Reception {
	t.Helper()
	return connectortest.Receptions(map[string]string{
		"an event of a new kind":        `{"events":[{"id":"1","type":"conversation:of_a_new_kind","payload":{"conversation":{"id":"c"}}}]}`,
		"an event that says nothing":    `{"events":[{}]}`,
		"no events":                     `{"events":[]}`,
		"an empty report":               `{"a":1}`,
		"a message that says nothing":   `{"events":[{"type":"conversation:message","payload":{"conversation":{"id":"c"}}}]}`,
		"a message without a place":     `{"events":[{"type":"conversation:message","payload":{"message":{"author":{"type":"user"}}}}]}`,
		"a message of a new kind":       `{"events":[{"type":"conversation:message","payload":{"conversation":{"id":"c"},"message":{"author":{"type":"user"},"content":{"type":"new"}}}}]}`,
		"an empty text":                 `{"events":[{"type":"conversation:message","payload":{"conversation":{"id":"c"},"message":{"author":{"type":"user"},"content":{"type":"text","text":""}}}}]}`,
		"a postback that says nothing":  `{"events":[{"type":"conversation:postback","payload":{"conversation":{"id":"c"}}}]}`,
		"another application":           `{"app":{"id":"another"},"events":[{}]}`,
		"a message of an unknown agent": `{"events":[{"type":"conversation:message","payload":{"conversation":{"id":"c","metadata":{"botTicketId":"7"}},"message":{"author":{"type":"business"},"content":{"type":"text","text":"hi"}}}}]}`,
	}, func(body string) (*connectortest.Box, int) {
		box := newBox(t, find)
		return box.Box, box.report(t.Context(), []byte(body))
	})
}

func TestSend_ToAMember(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		response send.Response
		content  string
	}{
		"text":    {send.Text("Hello"), `{"type":"text","text":"Hello"}`},
		"image":   {send.Image("https://x.test/a.png").With("caption", "A"), `{"type":"image","mediaUrl":"https://x.test/a.png","altText":"a.png","text":"A"}`},
		"audio":   {send.Audio("https://x.test"), `{"type":"file","mediaUrl":"https://x.test"}`},
		"replies": {send.QuickReplies("Again?", send.QuickReply{Title: "Yes"}, send.QuickReply{ContentType: "location"}), `{"type":"text","text":"Again?","actions":[{"type":"reply","text":"Yes","payload":"Yes"},{"type":"locationRequest","text":"Location"}]}`},
		"buttons": {
			send.Buttons("Now?", send.PostbackValue("Yes", "book", 2), send.WebURL("Menu", "https://x.test")),
			`{"type":"text","text":"Now?","actions":[{"type":"postback","text":"Yes","payload":"{\"payload\":\"book\",\"value\":2}"},` +
				`{"type":"link","text":"Menu","uri":"https://x.test"}]}`,
		},
		"cards": {
			send.Carousel(send.Card{Title: "Tea", Subtitle: "green", ImageURL: "https://x.test/a.png", Buttons: []send.Button{send.Postback("Buy", "tea")}}),
			`{"type":"carousel","items":[{"title":"Tea","description":"green","mediaUrl":"https://x.test/a.png","actions":[{"type":"postback","text":"Buy","payload":"tea"}]}]}`,
		},
		"the platform's own": {
			send.Other("FORM", document.O("message", document.O("type", "form", "fields", document.A(document.O("type", "text", "name", "a", "label", "A"))))),
			`{"type":"form","fields":[{"type":"text","name":"a","label":"A"}]}`,
		},
		"a relayed place": {
			send.Other(send.TypeMisc, document.O("attachments", document.A(document.O(
				"type", "location", "payload", document.O("coordinates", document.O("lat", 1.5, "long", 2.5)))))),
			`{"type":"location","coordinates":{"lat":1.5,"long":2.5}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform()
			p.AddConversation(deskApp, ada)
			delivery, err := over(t, p).Send(t.Context(), message(desk(), ada, c.response))
			require.NoError(t, err)
			sent := p.Sent()[0]
			require.JSONEq(t, c.content, document.Get(sent.Body, "content", document.O()).String())
			require.JSONEq(t, `{"type":"business"}`, document.Get(sent.Body, "author", document.O()).String())
			require.Equal(t, sent.ID, delivery.MessageID)
			require.Equal(t, ada, delivery.ChatID)
			require.EqualValues(t, 1772359200000, delivery.Timestamp)
		})
	}
}

// Buttons and cards become text for an agent.
func TestSend_ToAnAgent(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	connector := over(t, p)
	opened, err := connector.Send(t.Context(), message(desk(), support, send.Text("Ada asks for a person.")))
	require.NoError(t, err)
	require.Equal(t, []string{opened.ChatID}, p.Opened())
	require.Equal(t, "zd:agentWorkspace", p.Control(opened.ChatID))
	for _, response := range []send.Response{
		send.Buttons("Now?", send.Postback("Yes", "y"), send.WebURL("Menu", "https://x.test")),
		send.QuickReplies("Again?", send.QuickReply{Title: "Yes"}),
		send.Carousel(send.Card{Title: "Tea", Subtitle: "green"}, send.Card{Title: "Cake", Buttons: []send.Button{send.Postback("Buy", "b")}}),
		send.Other(send.TypeMisc, document.O("text", "Look", "attachments", document.A(
			document.O("type", "image", "payload", document.O("url", "https://x.test/a.png")),
			document.O("type", "audio", "payload", document.O("url", "https://x.test/a.mp3"))))),
		send.Typing(1), send.Text("Bye"),
	} {
		one := message(desk(), opened.ChatID, response)
		one.ID = "send-2"
		_, err := connector.Send(t.Context(), one)
		require.NoError(t, err)
	}
	var shown []string
	for _, sent := range p.Sent() {
		require.Equal(t, opened.ChatID, sent.To)
		require.JSONEq(t, `{"type":"user","userExternalId":"send-1"}`, document.Get(sent.Body, "author", document.O()).String())
		shown = append(shown, document.Get(sent.Body, "content.text", document.Get(sent.Body, "content.mediaUrl", "")))
	}
	require.Equal(t, []string{
		"Ada asks for a person.", "Now?\n- Yes\n- Menu: https://x.test", "Again?\n- Yes", "Tea\ngreen\n\nCake\n- Buy",
		"Look", "https://x.test/a.png", "https://x.test/a.mp3", "Bye",
	}, shown)
	require.Empty(t, p.Activities(), "agents do not see that the member types")
}

// A target of a request replaces the broadcast groups of the channel, and may have no id.
func TestSend_RequestToAnyGroup(t *testing.T) {
	t.Parallel()
	for group, assigned := range map[string]int64{"": 0, "another": 0, "361": 361} {
		p := newPlatform()
		connector := over(t, p)
		for _, in := range []*channel.Channel{desk(), tickets()} {
			request := message(in, group, send.Text("A member asks for a person."))
			request.IsRequest = true
			_, err := connector.Send(t.Context(), request)
			require.NoError(t, err, "%s to %q", in.ID, group)
		}
		require.Len(t, p.Opened(), 1)
		sent := p.Sent()
		require.Equal(t, assigned, document.Get(sent[len(sent)-1].Body, "ticket.group_id", int64(0)))
	}
}

func TestSend_Refuses(t *testing.T) {
	t.Parallel()
	buttons := []send.Button{send.Postback("A", "a")}
	connectortest.RequireUnsendable(t, map[string]connectortest.Unsendable{
		"a card without buttons":   {send.Carousel(send.Card{Title: "A", Buttons: buttons}, send.Card{Title: "B"}), boterr.InvalidArgument, "carousel[1].buttons"},
		"a picture of a card":      {send.Carousel(send.Card{Title: "A", ImageURL: "ftp://x", Buttons: buttons}), boterr.InvalidArgument, "carousel[0].image_url"},
		"a button to elsewhere":    {send.Buttons("x", send.WebURL("A", "tel:123")), boterr.InvalidArgument, "buttons[0].url"},
		"a button of another kind": {send.Other(send.TypeButton, document.O("text", "x", "buttons", document.A(document.O("type", "phone_number", "title", "A")))), boterr.Unsupported, "buttons[0].type"},
		"a reply of another kind":  {send.QuickReplies("x", send.QuickReply{ContentType: "user_email"}), boterr.Unsupported, "quickReplies[0].content_type"},
		"an attachment by id": {
			send.Other(send.TypeMisc, document.O("attachments", document.A(document.O("type", "image", "payload", document.O("attachment_id", "7"))))),
			boterr.InvalidArgument, "attachments[0].payload.url",
		},
		"a relayed one of too many parts": {
			send.Other(send.TypeMisc, document.O("text", "x", "attachments", document.A(slices.Repeat([]any{
				document.O("type", "image", "payload", document.O("url", "https://x.test/a.png")),
			}, 10)...))),
			boterr.InvalidArgument, "attachments",
		},
		"an empty relayed one":  {send.Other(send.TypeMisc, document.O("event", "x")), boterr.Unsupported, "type"},
		"an own one of no kind": {send.Other("FORM", document.O("message", document.O("fields", document.A()))), boterr.InvalidArgument, "message.type"},
	}, func(t *testing.T, response send.Response) error {
		t.Helper()
		p := newPlatform()
		p.AddConversation(deskApp, ada)
		_, err := over(t, p).Send(t.Context(), message(desk(), ada, response))
		require.Empty(t, p.Sent())
		return err
	})
}

func TestSend_Actions(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	p.AddConversation(deskApp, ada)
	connector := over(t, p)
	for _, response := range []send.Response{send.Typing(1), send.Other(foxtrot.TypeMarkSeen, document.O())} {
		_, err := connector.Send(t.Context(), message(desk(), ada, response))
		require.NoError(t, err)
	}
	require.Equal(t, []string{"typing:start in " + ada, "conversation:read in " + ada}, p.Activities())
	_, err := connector.Send(t.Context(), message(desk(), ada, send.Other(foxtrot.TypePassControl, document.O())))
	require.NoError(t, err)
	require.Equal(t, "zd:agentWorkspace", p.Control(ada))
	_, err = connector.Send(t.Context(), message(desk(), ada, send.Other(foxtrot.TypeClose, document.O())))
	require.NoError(t, err)
	require.Equal(t, "closed", p.Control(ada))
	_, err = connector.Send(t.Context(), message(desk(), support, send.Other(foxtrot.TypeClose, document.O())))
	require.ErrorIs(t, err, boterr.InvalidArgument, "a group has no conversation to close")
}

func TestClose_OfARequest(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	connector := over(t, p)
	for _, in := range []*channel.Channel{desk(), tickets()} {
		request, err := connector.Send(t.Context(), message(in, support, send.Text("A member asks for a person.")))
		require.NoError(t, err)
		_, err = connector.Send(t.Context(), message(in, request.ChatID, send.Other(foxtrot.TypeClose, document.O())))
		require.NoError(t, err)
	}
	require.Equal(t, "closed", p.Control(p.Opened()[0]))
	sent := p.Sent()
	number, err := strconv.ParseInt(strings.TrimPrefix(sent[len(sent)-1].To, "ticket:"), 10, 64)
	require.NoError(t, err)
	_, _, status := p.Ticket(number)
	require.Equal(t, "solved", status)
}

// failing passes requests to a helpdesk, except that the request whose number is at fails. If isLost is true,
// the helpdesk gets that request, too, and only its answer is lost.
type failing struct {
	http.Handler

	number, at int32
	isLost     bool
}

func (f *failing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if atomic.AddInt32(&f.number, 1) != f.at {
		f.Handler.ServeHTTP(w, r)
		return
	}
	if f.isLost {
		f.Handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	w.WriteHeader(http.StatusBadGateway)
}

// After a failure of any call, the repeated request still leads to one conversation with one first message,
// which is passed to the agents.
func TestSend_RepeatedRequestIsOneConversation(t *testing.T) {
	t.Parallel()
	for call := int32(1); call <= 4; call++ {
		for _, isLost := range []bool{false, true} {
			p := newPlatform()
			connector := over(t, &failing{Handler: p, at: call, isLost: isLost})
			request := message(desk(), support, send.Text("Ada asks for a person."))
			_, err := connector.Send(t.Context(), request)
			connectortest.RequireNoCode(t, err)
			first, err := connector.Send(t.Context(), request)
			require.NoError(t, err, "call %d, lost %v", call, isLost)
			again, err := connector.Send(t.Context(), request)
			require.NoError(t, err)
			require.Equal(t, first.ChatID, again.ChatID)
			require.Equal(t, first.MessageID, again.MessageID)
			require.Equal(t, []string{first.ChatID}, p.Opened())
			require.Len(t, p.Sent(), 1)
			require.Equal(t, "zd:agentWorkspace", p.Control(first.ChatID))
		}
	}
}

// A failure between two parts of the first message loses none of them.
func TestSend_RepeatedRequestPostsTheOtherParts(t *testing.T) {
	t.Parallel()
	parts := []string{"Ada asks for a person.", "https://a.test/1.png", "https://a.test/2.png"}
	attachments := document.A()
	for _, address := range parts[1:] {
		attachments = attachments.Append(document.O("type", "image", "payload", document.O("url", address)))
	}
	request := message(desk(), support, send.Other(send.TypeMisc, document.O("text", parts[0], "attachments", attachments)))
	for call := int32(3); call <= 5; call++ { // The calls that post the parts.
		for _, isLost := range []bool{false, true} {
			p := newPlatform()
			connector := over(t, &failing{Handler: p, at: call, isLost: isLost})
			_, err := connector.Send(t.Context(), request)
			require.Error(t, err)
			delivery, err := connector.Send(t.Context(), request)
			require.NoError(t, err, "call %d, lost %v", call, isLost)
			var posted []string
			for _, one := range p.Sent() {
				posted = append(posted, document.Get(one.Body, "content.mediaUrl", one.Text()))
			}
			require.Equal(t, parts, posted, "call %d, lost %v", call, isLost)
			require.Equal(t, p.Sent()[2].ID, delivery.MessageID)
			require.Equal(t, "zd:agentWorkspace", p.Control(delivery.ChatID))
		}
	}
}

func TestSend_RequestsHaveConversationsOfTheirOwn(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	connector := over(t, p)
	for _, id := range []string{"one", "two"} {
		request := message(desk(), support, send.Text("Ada asks for a person.").With("requester", document.O("name", "Ada")))
		request.ID = id
		_, err := connector.Send(t.Context(), request)
		require.NoError(t, err)
	}
	require.Len(t, p.Opened(), 2)
	none := message(desk(), support, send.Text("x"))
	none.ID = ""
	_, err := connector.Send(t.Context(), none)
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

func TestTicket_CreatedOnce(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	connector := over(t, p)
	response := send.Text("Ada asks for a person.\nIt is about tea.").With("requester", document.O("name", "Ada", "email", "ada@x.test")).
		With("tags", document.A("tea")).With("priority", "high")
	first, err := connector.Send(t.Context(), message(tickets(), "360", response))
	require.NoError(t, err)
	again, err := connector.Send(t.Context(), message(tickets(), "360", response))
	require.NoError(t, err)
	require.Equal(t, first.ChatID, again.ChatID)
	require.Equal(t, 1, p.Tickets())
	body, comments, _ := p.Ticket(1001)
	require.Equal(t, "ticket:1001", first.ChatID)
	require.Equal(t, []string{"Ada asks for a person.\nIt is about tea."}, comments)
	require.JSONEq(t, `{"subject":"Ada asks for a person.","comment":{"body":"Ada asks for a person.\nIt is about tea.","public":true},`+
		`"requester":{"name":"Ada","email":"ada@x.test"},"tags":["tea"],"priority":"high","group_id":360,"external_id":"send-1"}`, body.String())
}

func TestTicket_CommentsAndTheEnd(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	p.AddTicket(7)
	connector := over(t, p)
	for _, response := range []send.Response{
		send.Text("Green?"), send.Buttons("Now?", send.Postback("Yes", "y")), send.Image("https://x.test/a.png").With("caption", "A"),
		send.Other(send.TypeMisc, document.O("attachments", document.A(document.O(
			"type", "location", "payload", document.O("coordinates", document.O("lat", 1.5, "long", 2.5)))))),
		send.Typing(1), send.Other(foxtrot.TypeClose, document.O()),
	} {
		delivery, err := connector.Send(t.Context(), message(tickets(), "ticket:7", response))
		require.NoError(t, err)
		require.Equal(t, "ticket:7", delivery.ChatID)
	}
	_, comments, status := p.Ticket(7)
	require.Equal(t, []string{"Green?", "Now?\n- Yes", "A\nhttps://x.test/a.png", "1.5, 2.5"}, comments)
	require.Equal(t, "solved", status)
	_, err := connector.Send(t.Context(), message(tickets(), "ticket:8", send.Text("x")))
	require.ErrorIs(t, err, boterr.NotFound)
	_, err = connector.Send(t.Context(), message(tickets(), ada, send.Text("x")))
	require.ErrorIs(t, err, boterr.NotFound, "tickets have no members in the widget")
	_, err = connector.Send(t.Context(), message(tickets(), "ticket:7", send.BravoTemplate("order", "en")))
	require.ErrorIs(t, err, boterr.Unsupported)
}

func TestTicket_SubjectIsShort(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	_, err := over(t, p).Send(t.Context(), message(tickets(), support, send.Text(strings.Repeat("x", 500))))
	require.NoError(t, err)
	body, _, _ := p.Ticket(1001)
	require.Equal(t, strings.Repeat("x", 149)+"…", document.Get(body, "subject", ""))
	require.False(t, body.Has("group_id"), "the group's id is not a number")
}

func TestExplore_ReportsUnderFaults(t *testing.T) {
	t.Parallel()
	connectortest.OrderOnce(t, desk, func() connectortest.Platform {
		platform := newPlatform()
		platform.AddConversation(deskApp, ada)
		platform.MemberSays(ada, "a kettle", "")
		connector := newConnector(t, foxtrot.Config{HTTPClient: &http.Client{Transport: connectortest.Directly{Handler: platform}}, FindChannel: find})
		return connectortest.Platform{
			Connector: connector,
			Handler: func(accept func(context.Context, botctx.Inbound) error) http.Handler {
				return routed(connector.Handler(accept))
			},
			Reports: func() (made []connectortest.Report) {
				for _, report := range platform.Reports() {
					made = append(made, func(ctx context.Context) *http.Request {
						return foxtrotfake.Post(ctx, "/foxtrot/desk", webhookSecret, report.Body)
					})
				}
				return made
			},
			SendIDs: func() (ids []string) {
				for _, sent := range platform.Sent() {
					ids = append(ids, document.Get(sent.Body, "metadata.botMessageId", ""))
				}
				return ids
			},
		}
	})
}
