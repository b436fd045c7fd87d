package hotel_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/hotelfake"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

func TestConnector(t *testing.T) {
	t.Parallel()
	sendtest.RunConnector(t, func(t *testing.T) *sendtest.Harness {
		t.Helper()
		p := newPlatform()
		server := sendtest.NewServer(t, p, p.Faults())
		return &sendtest.Harness{
			Connector: newConnector(t, configFor(server.URL, p)), Channel: shop(), Other: channelOf(deskApp()),
			Members: []*member.Member{{ID: "m1", ExternalID: adaID}, {ID: "m2", ExternalID: bobID}},
			Arrived: p.Arrivals, Fail: server.Fail, HasNoKeys: true, Group: teamID,
			Odd: func() []sendtest.Reception { return odd(t) },
		}
	})
}

// odd posts activities of unknown kinds to a handler, and returns how it handled each.
func odd(t *testing.T) []sendtest.Reception {
	t.Helper()
	return connectortest.Receptions(map[string]document.Object{
		"an unknown kind":    document.O("type", "hologram"),
		"an empty message":   document.O("text", ""),
		"a search":           document.O("type", "invoke", "name", "composeExtension/query"),
		"typing":             document.O("type", "typing"),
		"nothing":            document.O("type", nil, "from", nil, "conversation", nil),
		"a message by a bot": document.O("from", document.O("id", "28:other"), "text", "Hi"),
	}, func(fields document.Object) (*connectortest.Box, int) {
		b := newUsualBox(t)
		return b.Box, b.reports(t.Context(), fields).Code
	})
}

func TestSend_Activities(t *testing.T) {
	t.Parallel()
	const card = `{"type":"message","attachments":[{"contentType":"application/vnd.microsoft.card.adaptive","content":{"type":"AdaptiveCard","version":"1.5",%s}}],"from":{"id":"28:app-of-the-shop"}}`
	for name, c := range map[string]struct {
		response send.Response
		want     string
	}{
		"text": {send.Text("*Hi*"), `{"type":"message","text":"*Hi*","textFormat":"plain","from":{"id":"28:app-of-the-shop"}}`},
		"picture": {send.Image("https://x.test/a.png"), fmt.Sprintf(card,
			`"body":[{"type":"Image","url":"https://x.test/a.png"}]`)},
		"file": {send.File("https://x.test/d/the%20menu.pdf?x=1"), fmt.Sprintf(card,
			`"actions":[{"type":"Action.OpenUrl","title":"Open","url":"https://x.test/d/the%20menu.pdf?x=1"}],"body":[{"type":"RichTextBlock","inlines":[{"type":"TextRun","text":"the menu.pdf"}]}]`)},
		"two lines above a button": {send.Buttons("One\n\nTwo", send.PostbackValue("Yes", "book", 2)), fmt.Sprintf(card,
			`"actions":[{"type":"Action.Submit","title":"Yes","data":{"payload":{"payload":"book","value":2}}}],"body":[{"type":"RichTextBlock","inlines":[{"type":"TextRun","text":"One"}]},{"type":"RichTextBlock","inlines":[{"type":"TextRun","text":" "}],"spacing":"none"},{"type":"RichTextBlock","inlines":[{"type":"TextRun","text":"Two"}],"spacing":"none"}]`)},
		"own attachments": {
			send.Text("See").With("attachments", document.A(document.O("contentType", "image/png", "contentUrl", "https://x.test/a"))).With("summary", "A picture"),
			`{"type":"message","text":"See","textFormat":"plain","attachments":[{"contentType":"image/png","contentUrl":"https://x.test/a"}],"summary":"A picture","from":{"id":"28:app-of-the-shop"}}`,
		},
		"own attachments after a card": {
			send.Buttons("Menu", send.WebURL("See", "https://x.test")).With("attachments", document.A(document.O("contentType", "image/png"))),
			strings.Replace(fmt.Sprintf(card, `"actions":[{"type":"Action.OpenUrl","title":"See","url":"https://x.test"}],"body":[{"type":"RichTextBlock","inlines":[{"type":"TextRun","text":"Menu"}]}]`), `}}]`, `}},{"contentType":"image/png"}]`, 1),
		},
		"own type": {
			send.Other("CARD", document.O("attachments", document.A(document.O("contentType", "image/png")))),
			`{"type":"message","attachments":[{"contentType":"image/png"}],"from":{"id":"28:app-of-the-shop"}}`,
		},
	} {
		p := newPlatform()
		_, err := over(t, p, p).Send(t.Context(), to(adaID, c.response))
		require.NoError(t, err, name)
		require.JSONEq(t, c.want, p.Messages()[0].Activity.String(), name)
	}
}

func TestSend_ManyQuickRepliesAreInRows(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	var replies []send.QuickReply
	for i := range send.MaxQuickReplies {
		replies = append(replies, send.QuickReply{Title: fmt.Sprintf("T%d", i)})
	}
	_, err := over(t, p, p).Send(t.Context(), to(adaID, send.QuickReplies("Which?", replies...)))
	require.NoError(t, err)
	sent := p.Messages()[0]
	require.Equal(t, 4, document.Get(sent.Activity, "attachments.0.content.body", document.A()).Len(), "a text and three rows")
	var titles []string
	for _, action := range sent.Actions() {
		titles = append(titles, document.Get(action, "title", ""))
	}
	require.Equal(t, "T0 T1 T2 T3 T4 T5 T6 T7 T8 T9 T10 T11 T12", strings.Join(titles, " "))
}

func TestSend_RelaysAttachments(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	connector := over(t, p, p)
	attachment := func(kind string) document.Object {
		return document.O("type", kind, "payload", document.O("url", "https://x.test/f"), "title", "the "+kind)
	}
	_, err := connector.Send(t.Context(), to(teamID, send.Other(send.TypeMisc, document.O(
		"text", "Look", "attachments", document.A(attachment("image"), attachment("video"), attachment("file")),
	))))
	require.NoError(t, err)
	require.Equal(t, "Look\nthe video\nthe file", p.Messages()[0].Text())
	for field, response := range map[string]send.Response{
		"attachments[1]": send.Other(send.TypeMisc, document.O("attachments", document.A(attachment("image"), attachment("location")))),
		"attachments[0]": send.Other(send.TypeMisc, document.O("attachments", document.A(document.O("type", "image")))),
		"type":           send.Other(send.TypeMisc, document.O("event", document.O("kind", "x"))),
	} {
		_, err := connector.Send(t.Context(), to(teamID, response))
		refused, ok := boterr.AsError(err)
		require.True(t, ok)
		require.Equal(t, field, refused.Field)
		require.Equal(t, boterr.Unsupported, refused.Code)
	}
}

func TestSend_ReceiversAndConversations(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	p.AddUser("02bd9fd6-8f93-4758-87c3-1fb73740a315", "Grace Hopper")
	connector := over(t, p, p)
	for _, c := range []struct{ to, kind, want string }{
		{adaID, "", "a:app-of-the-shop-with-29:ada-1"},
		{adaID, send.ReceiverUser, "a:app-of-the-shop-with-29:ada-1"},
		{"a:app-of-the-shop-with-29:ada-1", "", "a:app-of-the-shop-with-29:ada-1"},
		{"02bd9fd6-8f93-4758-87c3-1fb73740a315", "", "a:app-of-the-shop-with-02bd9fd6-8f93-4758-87c3-1fb73740a315"},
		{teamID + ";messageid=1700", "", teamID + ";messageid=1700"},
		{teamID, send.ReceiverGroup, teamID},
	} {
		message := to(c.to, send.Text("Hi"))
		message.ReceiverType = c.kind
		delivery, err := connector.Send(t.Context(), message)
		require.NoError(t, err, c.to)
		require.Equal(t, c.want, delivery.ChatID)
		require.Equal(t, "28:app-of-the-shop", delivery.From)
	}
	message := to(bobID, send.Text("Hi"))
	message.GroupID = teamID
	_, err := connector.Send(t.Context(), message)
	require.NoError(t, err)
	sent := p.Messages()
	require.Equal(t, teamID, document.Get(sent[len(sent)-1].Opening, "channelData.team.id", ""))
	message.ReceiverType = "bot"
	_, err = connector.Send(t.Context(), message)
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.ErrorContains(t, err, "receiverType")
}

func TestSend_LongMessageIsRefused(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	connector := over(t, p, p)
	for field, response := range map[string]send.Response{
		"text":    send.Buttons(strings.Repeat("\n", send.MaxText), send.Postback("A", "a")),
		"buttons": send.Buttons("x", send.Postback("A", strings.Repeat("\U0001F469", 22_000))),
	} {
		_, err := connector.Send(t.Context(), to(adaID, response))
		require.ErrorIs(t, err, boterr.InvalidArgument, field)
	}
	_, err := connector.Send(t.Context(), to(adaID, send.Buttons("x", send.Postback("A", strings.Repeat("a", 39_000)))))
	require.NoError(t, err)
}

func TestTyping_IsShown(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	_, err := over(t, p, p).Send(t.Context(), to(adaID, send.Typing(1)))
	require.NoError(t, err)
	require.Equal(t, []string{adaID}, p.Typing())
}

func TestTickets_ChangeAndGo(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	connector := over(t, p, p)
	delivery, err := connector.Send(t.Context(), to(teamID, send.Buttons("Ada needs somebody", send.Postback("Take", "take"))))
	require.NoError(t, err)
	ticket := livechat.Ticket{MessageID: delivery.MessageID, ChatID: delivery.ChatID}
	require.NoError(t, connector.ShowTaken(t.Context(), shop(), ticket, "Bob took it"))
	require.Equal(t, "Bob took it", p.Messages()[0].Text())
	require.Empty(t, p.Messages()[0].Actions())
	require.NoError(t, connector.RecallTicket(t.Context(), shop(), ticket))
	require.ErrorIs(t, connector.ShowTaken(t.Context(), shop(), ticket, "x"), boterr.NotFound)
}

func TestUpdateMessage_ReplacesAll(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	connector := over(t, p, p)
	delivery, err := connector.Send(t.Context(), to(adaID, send.Text("Before")))
	require.NoError(t, err)
	update := send.MessageUpdate{
		ConversationID: delivery.ChatID, MessageID: delivery.MessageID, Text: "After",
		Attachments: []document.Object{document.O("contentType", "image/png", "contentUrl", "https://x.test/a")},
	}
	reply, err := connector.UpdateMessage(t.Context(), shop(), update)
	require.NoError(t, err)
	require.Equal(t, delivery.MessageID, document.Get(reply, "id", ""))
	require.Equal(t, "image/png", document.Get(p.Messages()[0].Activity, "attachments.0.contentType", ""))
	update.Text = ""
	_, err = connector.UpdateMessage(t.Context(), shop(), update)
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

func TestCreateChannel(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	connector := over(t, p, p)
	reply, err := connector.CreateChannel(t.Context(), shop(), teamID, "Orders")
	require.NoError(t, err)
	require.Equal(t, []document.Object{document.O("displayName", "Orders", "membershipType", "standard", "team", teamID)}, p.Channels())
	require.Contains(t, p.Logins(), "app-of-the-shop https://graph.microsoft.com/.default", "the directory has tokens of its own")
	_, err = connector.Send(t.Context(), to(document.Get(reply, "id", ""), send.Text("Hello")))
	require.NoError(t, err, "messages can be sent to the channel")
	for code, c := range map[boterr.Code][2]string{
		boterr.AlreadyExists:   {teamID, "Orders"},
		boterr.NotFound:        {"another", "Orders"},
		boterr.InvalidArgument: {teamID, strings.Repeat("x", 51)},
	} {
		_, err := connector.CreateChannel(t.Context(), shop(), c[0], c[1])
		require.ErrorIs(t, err, code)
	}
}

func TestConfig_AddressesWithSlashes(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	config := configFor(connectortest.Serve(t, p), p)
	config.LoginURL, config.GraphURL = config.LoginURL+"/", config.GraphURL+"/"
	_, err := newConnector(t, config).CreateChannel(t.Context(), shop(), teamID, "Orders")
	require.NoError(t, err)
}

// lostChannels loses the answers to requests for new channels, and refuses to list channels unless mayList is true.
func lostChannels(p *hotelfake.Platform, mayList bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch isChannels := strings.HasSuffix(r.URL.Path, "/channels"); {
		case isChannels && r.Method == http.MethodGet && !mayList:
			w.WriteHeader(http.StatusForbidden)
		case isChannels && r.Method == http.MethodPost && len(p.Channels()) == 0:
			p.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		default:
			p.ServeHTTP(w, r)
		}
	})
}

func TestCreateChannel_AgainAfterALostAnswer(t *testing.T) {
	t.Parallel()
	for _, mayList := range []bool{true, false} {
		p := newPlatform()
		connector, ctx := over(t, p, lostChannels(p, mayList)), send.WithKey(t.Context(), "key-1")
		_, err := connector.CreateChannel(ctx, shop(), teamID, "Ada's")
		connectortest.RequireNoCode(t, err)
		made, err := connector.CreateChannel(ctx, shop(), teamID, "Ada's")
		if mayList {
			require.NoError(t, err)
			require.NotEmpty(t, document.Get(made, "id", ""))
		} else {
			require.ErrorIs(t, err, boterr.AlreadyExists)
		}
		require.Len(t, p.Channels(), 1)
		for _, other := range []context.Context{t.Context(), send.WithKey(t.Context(), "key-2")} {
			_, err = connector.CreateChannel(other, shop(), teamID, "Ada's")
			require.ErrorIs(t, err, boterr.AlreadyExists, "it is another call's")
		}
	}
}

func TestMembersAndNames(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	connector := over(t, p, p)
	found, err := connector.Members(t.Context(), shop(), teamID+";messageid=1")
	require.NoError(t, err)
	require.Len(t, found, 2, "without the bot")
	require.Equal(t, []string{adaID, "Ada", "Lovelace", "ada@example.com"},
		[]string{found[0].ExternalID, found[0].FirstName, found[0].LastName, found[0].Email})
	profile, err := connector.Profile(t.Context(), shop(), bobID)
	require.NoError(t, err)
	require.Equal(t, "Martin", profile.LastName)
	name, err := connector.GroupName(t.Context(), shop(), teamID)
	require.NoError(t, err)
	require.Equal(t, "The team", name)
	_, err = connector.Members(t.Context(), shop(), "19:other@thread.tacv2")
	require.ErrorIs(t, err, boterr.NotFound)
}

func TestMembers_EndlessListIsCut(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	_, err := over(t, p, saying(p, 200, `{"members":[{"id":"29:x"}],"continuationToken":"again"}`)).Members(t.Context(), shop(), teamID)
	require.ErrorIs(t, err, boterr.ResourceExhausted)
}
