package charlie_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/charlie"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
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
	connector := s.start(t)
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
	connector := s.start(t)
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
	connector := s.start(t)
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

func TestCreateGroup_OncePerKey(t *testing.T) {
	t.Parallel()
	s := newTool()
	connector := s.start(t)
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
	connector := s.start(t)
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
	connector := s.start(t)
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
	_, err := s.start(t).CreateGroup(t.Context(), workspace(), livechat.NewGroup{Key: "a1", AdminExternalID: "U7"})
	require.Error(t, err)
	require.Equal(t, []string{"conversations.create"}, s.called())
}

func TestCreateGroup_NameIsTaken(t *testing.T) {
	t.Parallel()
	s := newTool()
	connector := s.start(t)
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
	connector := s.start(t)
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
