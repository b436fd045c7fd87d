package charlie_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/slack-go/slack/slacktest"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/charlie"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

func sentButtons(t *testing.T, connector *charlie.Connector) livechat.Ticket {
	t.Helper()
	delivery, err := connector.Send(t.Context(), to("U1", send.Buttons("Ada asks", send.Postback("Take", "take"))))
	require.NoError(t, err)
	return livechat.Ticket{
		MessageID: delivery.MessageID, ChatID: delivery.ChatID, Group: channel.BroadcastGroupMember{ID: "U1", Type: "user"},
	}
}

func TestUpdateMessage_TextReplacesButtons(t *testing.T) {
	t.Parallel()
	s := newTool()
	connector := s.start(t, charlie.Config{})
	ticket := sentButtons(t, connector)
	reply, err := connector.UpdateMessage(t.Context(), workspace(), send.MessageUpdate{
		ConversationID: ticket.ChatID, MessageID: ticket.MessageID, Text: "Done & gone",
		Attachments: []document.Object{document.O("color", "red")},
	})
	require.NoError(t, err)
	require.Equal(t, ticket.MessageID, document.Get(reply, "ts", ""))
	require.Equal(t, "Done &amp; gone", s.sent(t, "D1").Get("text"))
	require.Equal(t, "[]", s.sent(t, "D1").Get("blocks"))
	require.JSONEq(t, `[{"color":"red"}]`, s.sent(t, "D1").Get("attachments"))
}

func TestUpdateMessage_LeavesTheRest(t *testing.T) {
	t.Parallel()
	s := newTool()
	connector := s.start(t, charlie.Config{})
	ticket := sentButtons(t, connector)
	_, err := connector.UpdateMessage(t.Context(), workspace(), send.MessageUpdate{
		ConversationID: ticket.ChatID, MessageID: ticket.MessageID, Attachments: []document.Object{},
	})
	require.NoError(t, err)
	require.Equal(t, "Ada asks", s.sent(t, "D1").Get("text"))
	require.Contains(t, s.sent(t, "D1").Get("blocks"), "button-0")
	require.Equal(t, "[]", s.sent(t, "D1").Get("attachments"))
}

func TestTicket_TakenAndRecalled(t *testing.T) {
	t.Parallel()
	s := newTool()
	connector := s.start(t, charlie.Config{})
	ticket := sentButtons(t, connector)
	for range 2 {
		require.NoError(t, connector.ShowTaken(t.Context(), workspace(), ticket, "Taken by <Eve>."))
	}
	require.Equal(t, "Taken by &lt;Eve&gt;.", s.sent(t, "D1").Get("text"))
	require.Equal(t, "[]", s.sent(t, "D1").Get("blocks"))
	require.Equal(t, "[]", s.sent(t, "D1").Get("attachments"))
	require.NoError(t, connector.RecallTicket(t.Context(), workspace(), ticket))
	require.Nil(t, s.sent(t, "D1"))
	require.ErrorIs(t, connector.RecallTicket(t.Context(), workspace(), ticket), boterr.NotFound)
	require.ErrorIs(t, connector.ShowTaken(t.Context(), workspace(), ticket, "x"), boterr.NotFound)
}

func TestArchive_Once(t *testing.T) {
	t.Parallel()
	s := newTool()
	connector := s.start(t, charlie.Config{})
	for range 2 {
		require.NoError(t, connector.ArchiveConversation(t.Context(), workspace(), "C1"))
	}
	_, err := connector.Send(t.Context(), to("C1", send.Text("Hello")))
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorIs(t, connector.ArchiveConversation(t.Context(), workspace(), "C404"), boterr.NotFound)
}

func TestCreateGroup_OncePerKey(t *testing.T) {
	t.Parallel()
	s := newTool()
	connector := s.start(t, charlie.Config{})
	group := livechat.NewGroup{Key: "a1", Name: "Ada's request", AdminExternalID: "U7"}
	other, err := connector.CreateGroup(t.Context(), workspace(), livechat.NewGroup{Key: "a0", Name: group.Name})
	require.NoError(t, err)
	made, err := connector.CreateGroup(t.Context(), workspace(), group)
	require.NoError(t, err)
	again, err := connector.CreateGroup(t.Context(), workspace(), group)
	require.NoError(t, err)
	require.Equal(t, made, again)
	require.NotEqual(t, other, made, "groups of one name do not collide")
	require.Equal(t, []string{"U7"}, s.conversations[made.ExternalID].users)
	require.Regexp(t, `^ada-s-request-[0-9a-f]{12}$`, s.conversations[made.ExternalID].name)
}

func TestCreateGroup_AgentNotInvited(t *testing.T) {
	t.Parallel()
	s := newTool()
	connector := s.start(t, charlie.Config{})
	group := livechat.NewGroup{Key: "a1", AdminExternalID: "U404"}
	_, err := connector.CreateGroup(t.Context(), workspace(), group)
	require.ErrorIs(t, err, boterr.NotFound)
	group.AdminExternalID = "U7"
	_, err = connector.CreateGroup(t.Context(), workspace(), group)
	require.NoError(t, err)
	require.Len(t, s.conversations, 3, "the two that were there, and one new")
}

func TestCreateGroup_AfterArchive(t *testing.T) {
	t.Parallel()
	s := newTool()
	connector := s.start(t, charlie.Config{})
	made, err := connector.CreateGroup(t.Context(), workspace(), livechat.NewGroup{Key: "a1"})
	require.NoError(t, err)
	require.NoError(t, connector.ArchiveConversation(t.Context(), workspace(), made.ExternalID))
	_, err = connector.CreateGroup(t.Context(), workspace(), livechat.NewGroup{Key: "a1"})
	require.ErrorIs(t, err, boterr.FailedPrecondition)
}

func TestCreateGroup_WithoutAnID(t *testing.T) {
	t.Parallel()
	s := newTool()
	s.next(answer{status: http.StatusOK, body: `{"ok":true}`})
	_, err := s.start(t, charlie.Config{}).CreateGroup(t.Context(), workspace(), livechat.NewGroup{Key: "a1", AdminExternalID: "U7"})
	require.Error(t, err)
	require.Equal(t, []string{"conversations.create"}, s.called())
}

func TestCreateGroup_NameIsTaken(t *testing.T) {
	t.Parallel()
	s := newTool()
	connector := s.start(t, charlie.Config{})
	s.next(refuses("name_taken"))
	_, err := connector.CreateGroup(t.Context(), workspace(), livechat.NewGroup{Key: "a1"})
	require.ErrorIs(t, err, boterr.AlreadyExists)
	s.next(refuses("name_taken"))
	_, err = connector.CreateGroup(t.Context(), workspace(), livechat.NewGroup{Name: "ada"})
	require.ErrorIs(t, err, boterr.AlreadyExists)
}

func TestCreateGroup_ValidNames(t *testing.T) {
	t.Parallel()
	s := newTool()
	connector := s.start(t, charlie.Config{})
	for name, want := range map[string]string{
		"":                       `^conversation-[0-9a-f]{12}$`,
		"  !? ":                  `^conversation-[0-9a-f]{12}$`,
		"Zoë & Søn":              `^zoë-søn-[0-9a-f]{12}$`,
		"a_b-c.d":                `^a_b-c-d-[0-9a-f]{12}$`,
		strings.Repeat("é", 200): `^é{67}-[0-9a-f]{12}$`,
	} {
		made, err := connector.CreateGroup(t.Context(), workspace(), livechat.NewGroup{Key: "key of " + name, Name: name})
		require.NoError(t, err, name)
		require.Regexp(t, want, s.conversations[made.ExternalID].name)
	}
}

// website is the connector of the channel that members write to.
type website struct {
	mu   sync.Mutex
	said []string
}

func (w *website) Send(_ context.Context, message send.Message) (send.Delivery, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, message.To+": "+message.Response.Text())
	return send.Delivery{}, nil
}

// host is a complete host: members on a website, and agents in the workspace T1.
type host struct {
	tool      *tool
	web       *website
	runtime   *botctx.Runtime
	connector *charlie.Connector
	ada       *member.Member
}

// newHost returns a host with the member Ada and the agent Eve, who is the user U7 of the workspace.
func newHost(t *testing.T) *host {
	t.Helper()
	h := &host{tool: newTool(), web: &website{}}
	app := botctx.Scope{App: "app-1"}
	config := charlie.Config{Now: clock}
	config.FindChannel = func(ctx context.Context, _ charlie.Workspace) (*channel.Channel, error) {
		return channels.New(h.runtime.Env(), record.Scope(app)).Load(ctx, "desk")
	}
	h.connector = h.tool.start(t, config)
	var err error
	h.runtime, err = botctx.New(botctx.Config{
		Store:      memstore.New(),
		Connectors: map[channel.Type]send.Connector{channel.Charlie: h.connector, channel.Webchat: h.web},
	})
	require.NoError(t, err)
	h.runtime.HandleFunc(func(context.Context, *botctx.Context) error { return nil })

	channels := channels.New(h.runtime.Env(), record.Scope(app))
	desk := workspace()
	desk.On = true
	desk.BroadcastGroups = []channel.BroadcastGroup{{Label: "default", Groups: []channel.BroadcastGroupMember{
		{ID: "C1", Type: "public_channel"}, {ID: "U1", Type: "user"},
	}}}
	for _, c := range []*channel.Channel{desk, {ID: "web", Type: channel.Webchat, On: true}} {
		_, err = channels.Save(t.Context(), c)
		require.NoError(t, err)
	}
	require.NoError(t, channels.Pair(t.Context(), channels, "web", "desk"))
	arrival, err := members.New(h.runtime.Env(), record.Scope{App: "app-1", Channel: "web"}, channels).
		Arrive(t.Context(), member.Member{ExternalID: "ada", FirstName: "Ada"})
	require.NoError(t, err)
	h.ada = arrival.Member
	_, err = h.runtime.SaveAdmin(t.Context(), "app-1", livechat.Admin{AdminID: "eve", ExternalID: "U7", Name: "Eve"})
	require.NoError(t, err)
	return h
}

// reports posts the tool's reports to a handler, and runs the accepted events.
func (h *host) reports(t *testing.T, requests ...*http.Request) {
	t.Helper()
	handler := h.connector.Handler(h.runtime.Accept)
	for _, r := range requests {
		require.Equal(t, http.StatusOK, ask(handler, r).Code)
	}
	for {
		result, err := h.runtime.RunNextEvent(t.Context())
		require.NoError(t, err)
		require.NoError(t, result.Err)
		if !result.Ran {
			return
		}
	}
}

// tapOn returns Eve's tap on the first button of a conversation's last message.
func (h *host) tapOn(t *testing.T, conversation string) *http.Request {
	t.Helper()
	blocks, err := document.ParseJSON([]byte(h.tool.sent(t, conversation).Get("blocks")))
	require.NoError(t, err)
	value := document.Get(blocks.(document.Array).At(1).(document.Object), "elements.0.value", "")
	payload := document.O(
		"type", "block_actions", "team", document.O("id", "T1"), "user", document.O("id", "U7"),
		"channel", document.O("id", conversation), "message", document.O("ts", "1.1"),
		"actions", document.A(document.O("action_id", "button-0", "value", value, "action_ts", "2.2")),
	)
	return signed("application/x-www-form-urlencoded", url.Values{"payload": {payload.String()}}.Encode())
}

func TestRuntime_TicketTakenByTap(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	asked, err := h.runtime.CreateAssignment(t.Context(), "app-1", livechat.CreateAssignmentParams{
		Member:            &member.Member{ID: h.ada.ID},
		AssignmentDetails: livechat.AssignmentDetails{GroupName: "Ada <1>", Summary: "Wants tea & cake"},
	})
	require.NoError(t, err)
	require.Contains(t, h.tool.sent(t, "C1").Get("text"), "Ada asks for a person.\nWants tea &amp; cake")

	h.reports(t, h.tapOn(t, "C1"))
	taken, err := h.runtime.FindAssignments(t.Context(), "app-1", botctx.Query{Filter: document.O("_id", asked.AssignmentID)})
	require.NoError(t, err)
	require.Equal(t, "U7", taken[0].Assignee)
	group, err := h.runtime.Operations(botctx.Scope{App: "app-1"}).GetGroupByMemberID(t.Context(), livechat.GetGroupByMemberIDParams{Inlet: "web", MemberID: h.ada.ID})
	require.NoError(t, err)
	require.Regexp(t, `^ada-1-[0-9a-f]{12}$`, h.tool.conversations[group.ExternalID].name)
	require.Equal(t, []string{"U7"}, h.tool.conversations[group.ExternalID].users)
	require.Equal(t, "Wants tea &amp; cake", h.tool.sent(t, group.ExternalID).Get("text"))
	require.Equal(t, "Taken by Eve.", h.tool.sent(t, "D1").Get("text"), "the other ticket shows it")
	require.Equal(t, "[]", h.tool.sent(t, "D1").Get("blocks"))

	h.reports(t, wrote("E1", document.O(
		"type", "message", "channel", group.ExternalID, "user", "U7", "text", "R&amp;B?", "ts", "3.3").String()))
	require.Equal(t, []string{"ada: R&B?"}, h.web.said)
	require.NoError(t, h.runtime.Receive(t.Context(), botctx.Inbound{App: "app-1", Channel: "web", Event: send.MessageEvent{
		From: "ada", To: "bot", Type: send.TypeText, Data: document.O("text", "<b>yes</b>"),
	}}))
	require.Equal(t, "&lt;b&gt;yes&lt;/b&gt;", h.tool.sent(t, group.ExternalID).Get("text"))
}

func TestRuntime_MemberAndBot(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	var result []byte
	h.runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		sent, err := bot.SendResponse(ctx, send.SendResponseParams{Response: send.Text("You said: " + bot.MessageEvent.Text())})
		if err == nil {
			result, err = json.Marshal(sent)
		}
		return err
	})
	h.reports(t, wrote("E1", hello))
	require.Equal(t, "You said: hello", h.tool.sent(t, "D1").Get("text"))
	require.JSONEq(t, `{"ok":true,"channel":"D1","ts":"1700000000.001000","message":{"type":"message","user":"UBOT",`+
		`"text":"You said: hello","ts":"1700000000.001000","of_a_new_kind":{"kept":true}}}`, string(result))
}

func TestRuntime_RepeatedReportRunsOnce(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	var heard []string
	h.runtime.HandleFunc(func(_ context.Context, bot *botctx.Context) error {
		heard = append(heard, string(bot.MessageEvent.Type))
		return nil
	})
	mention := strings.Replace(hello, `"message"`, `"app_mention"`, 1)
	const action = `[{"action_id":"button-0","value":"go","action_ts":"1.5"}]`
	h.reports(t, wrote("E1", hello), wrote("E1", hello), tapped(action))
	h.reports(t, wrote("E2", mention), wrote("E1", hello), tapped(action), tapped(strings.Replace(action, "1.5", "1.6", 1)))
	require.Equal(t, []string{"TEXT", "PAYLOAD", "PAYLOAD"}, heard)
}

// The library's test server decodes blocks and attachments and answers with the text it received. It fails on
// anything that the library does not know.
func TestSend_LibrarysServerUnderstands(t *testing.T) {
	t.Parallel()
	server := slacktest.NewTestServer()
	server.Start()
	t.Cleanup(server.Stop)
	connector, err := charlie.New(charlie.Config{APIURL: server.GetAPIURL()})
	require.NoError(t, err)
	card := send.Card{Title: "card", ImageURL: "https://x.test/a.png", Buttons: []send.Button{send.Postback("Go", "go")}}
	for text, response := range map[string]send.Response{
		"text":                     send.Text("text"),
		"<https://x.test/a.png>":   send.Image("https://x.test/a.png"),
		"<https://x.test/a.mp3>":   send.Audio("https://x.test/a.mp3"),
		"<https://x.test/a.mp4>":   send.Video("https://x.test/a.mp4"),
		"<https://x.test/a.pdf>":   send.File("https://x.test/a.pdf"),
		"quick":                    send.QuickReplies("quick", send.QuickReply{Title: "Go"}),
		"button":                   send.Buttons("button", send.PostbackValue("Go", "go", 1), send.WebURL("See", "https://x.test")),
		"card":                     send.Carousel(card),
		"a type of the tool's own": send.Other("OWN", document.O("text", "a type of the tool's own", "attachments", document.A(document.O("color", "red")))),
	} {
		delivery, err := connector.Send(t.Context(), to("C1", response))
		require.NoError(t, err, text)
		require.Equal(t, text, document.Get(delivery.Reply, "text", ""), "what the server got")
		require.Equal(t, "C1", delivery.ChatID)
		require.NotEmpty(t, delivery.MessageID)
	}
	made, err := connector.CreateGroup(t.Context(), workspace(), livechat.NewGroup{Key: "a1", AdminExternalID: "U7"})
	require.NoError(t, err)
	require.NotEmpty(t, made.ExternalID)
}
