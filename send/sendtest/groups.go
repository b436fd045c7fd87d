package sendtest

import (
	"cmp"
	"errors"
	"strconv"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// picture returns a GIF of one pixel.
func picture() livechat.Picture {
	return livechat.Picture{ContentType: "image/gif", Bytes: []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff" +
		",\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;")}
}

var groupRules = []Rule{
	{
		Name: "GroupsCanBeWrittenTo",
		Text: "CreateGroup creates a group and returns an id to send to; different keys create different groups, even with the same name. " +
			"The agent may receive a message, such as an invitation",
		applies: offers[livechat.GroupCreator],
		check: func(t *trial) {
			first, second := t.createGroup("key-1"), t.createGroup("key-2")
			require.NotEqual(t, first.ExternalID, second.ExternalID, "the ids of two groups")
			before := len(t.Arrived())
			t.mustSend(t.messageToGroup(first.ExternalID, send.Text("Hello")))
			arrived := t.Arrived()
			require.Len(t, arrived, before+1, "messages that arrived")
			require.Equal(t, first.ExternalID, arrived[before].To)
		},
	},
	{
		Name:    "GroupsHaveTheLinkThatIsAskedFor",
		Text:    "a group that is created with a link has one if the platform has links",
		applies: func(h *Harness) bool { return offers[livechat.GroupCreator](h) && offers[livechat.InviteLinker](h) },
		check:   func(t *trial) { require.NotEmpty(t, t.createGroup("key-1").InvitationLink) },
	},
	{
		Name:    "LinksAreRenewedAndDisabled",
		Text:    "RenewInviteLink returns a new link each time; disabling a missing link succeeds; an unknown group is NotFound",
		applies: offers[livechat.InviteLinker],
		check: func(t *trial) {
			linker := port[livechat.InviteLinker](t)
			seen := map[string]bool{"": true}
			for range 2 {
				t.do("RenewInviteLink", func() error {
					link, err := linker.RenewInviteLink(t.Context(), t.Channel, t.Group)
					require.False(t, seen[link], "the new link %q is empty or was returned before", link)
					seen[link] = true
					return err
				})
			}
			for range 2 {
				t.do("DisableInviteLink", func() error { return linker.DisableInviteLink(t.Context(), t.Channel, t.Group) })
			}
			t.requireNotFound("RenewInviteLink", func() error {
				_, err := linker.RenewInviteLink(t.Context(), t.Channel, t.UnknownID)
				return err
			})
			t.requireNotFound("DisableInviteLink", func() error { return linker.DisableInviteLink(t.Context(), t.Channel, t.UnknownID) })
		},
	},
	{
		Name:    "GroupNameIsThatOfTheGroup",
		Text:    "GroupName returns the name with which a group was created, and NotFound for an unknown group",
		applies: offers[livechat.GroupNamer],
		check: func(t *trial) {
			id, want := t.Group, ""
			if offers[livechat.GroupCreator](t.Harness) {
				id, want = t.createGroup("key-1").ExternalID, groupName
			}
			namer := port[livechat.GroupNamer](t)
			t.do("GroupName", func() error {
				name, err := namer.GroupName(t.Context(), t.Channel, id)
				require.True(t, want == "" || want == name, "the name is %q", name)
				return err
			})
			t.requireNotFound("GroupName", func() error {
				_, err := namer.GroupName(t.Context(), t.Channel, t.UnknownID)
				return err
			})
		},
	},
	{
		Name:    "IconsAreSetOrRefused",
		Text:    "SetGroupIcon sets a picture; bytes that are no picture are InvalidArgument, and an unknown group is NotFound",
		applies: offers[livechat.GroupIconSetter],
		check: func(t *trial) {
			icons := port[livechat.GroupIconSetter](t)
			t.do("SetGroupIcon", func() error { return icons.SetGroupIcon(t.Context(), t.Channel, t.Group, picture()) })
			err := t.try("SetGroupIcon", func() error {
				return icons.SetGroupIcon(t.Context(), t.Channel, t.Group, livechat.Picture{ContentType: "text/plain", Bytes: []byte("no picture")})
			})
			t.requireCode(boterr.InvalidArgument, err, "SetGroupIcon of a text")
			t.requireNotFound("SetGroupIcon", func() error { return icons.SetGroupIcon(t.Context(), t.Channel, t.UnknownID, picture()) })
		},
	},
	{
		Name:    "ChannelsAreMade",
		Text:    "CreateChannel returns the platform's reply, which JSON can represent",
		applies: offers[livechat.ChannelCreator],
		check: func(t *trial) {
			var reply document.Object
			t.do("CreateChannel", func() (err error) {
				reply, err = port[livechat.ChannelCreator](t).CreateChannel(t.Context(), t.Channel, t.Group, "Orders")
				return err
			})
			requireReply(t, reply)
			require.NotZero(t, reply.Len(), "the platform's reply is empty")
		},
	},
}

const groupName = "Support for Ada"

// createGroup creates a group with the first member as its agent.
func (t *trial) createGroup(key string) livechat.CreatedGroup {
	t.Helper()
	var created livechat.CreatedGroup
	t.do("CreateGroup", func() (err error) {
		created, err = port[livechat.GroupCreator](t).CreateGroup(t.Context(), t.Channel, livechat.NewGroup{
			Key: key, Name: groupName, AdminExternalID: t.Members[0].ExternalID, NeedsInvitationLink: true,
		})
		return err
	})
	require.NotEmpty(t, created.ExternalID, "the id of the group")
	return created
}

func (t *trial) requireNotFound(name string, call func() error) {
	t.Helper()
	t.requireCode(boterr.NotFound, t.try(name, call), name+" of what there is not")
}

var broadcastRules = []Rule{
	{
		Name:    "BroadcastsReachThoseWithTheLabel",
		Text:    "CreateBroadcast stores a message and sends nothing; SendBroadcast sends it to all members with the label and to no others",
		applies: func(h *Harness) bool { return offers[send.Broadcaster](h) && offers[send.Labeler](h) },
		check: func(t *trial) {
			id, to := t.storedMessage(), t.Members[1].ExternalID
			require.Empty(t, t.Arrived(), "messages that arrived before SendBroadcast")
			var label int64
			t.do("SaveLabel", func() (err error) {
				label, err = port[send.Labeler](t).SaveLabel(t.Context(), t.Channel, to, "buyers")
				return err
			})
			t.do("SendBroadcast", func() error { return t.broadcast(id, strconv.FormatInt(label, 10)) })
			arrival := t.only()
			require.Equal(t, to, arrival.To)
			require.Contains(t, arrival.Body, "SpringText")
		},
	},
	{
		Name:    "BroadcastOfNothingIsNotFound",
		Text:    "SendBroadcast of an unknown message, or to an unknown label, is NotFound",
		applies: offers[send.Broadcaster],
		check: func(t *trial) {
			id := t.storedMessage()
			for name, err := range map[string]error{
				"a message that is not stored": t.try("SendBroadcast", func() error { return t.broadcast(t.UnknownID, labelID) }),
				"an unknown label":             t.try("SendBroadcast", func() error { return t.broadcast(id, t.UnknownID) }),
			} {
				t.requireCode(boterr.NotFound, err, "SendBroadcast with "+name)
			}
		},
	},
}

func (t *trial) storedMessage() string {
	t.Helper()
	var stored []send.StoredMessage
	t.do("CreateBroadcast", func() (err error) {
		stored, err = port[send.Broadcaster](t).CreateBroadcast(t.Context(), t.Channel, send.Text("SpringText"))
		return err
	})
	require.NotEmpty(t, stored, "CreateBroadcast returned no stored message")
	id := stored[0].ID()
	require.NotEmpty(t, id, "the id of the stored message, from %s", stored[0].Response)
	return string(id)
}

// broadcast sends a stored message to the members with a label.
func (t *trial) broadcast(id, label string) error {
	number, err := port[send.Broadcaster](t).SendBroadcast(t.Context(), t.Channel, send.Broadcast{
		MessageID: id, LabelID: label, NotificationType: "REGULAR",
	})
	if err == nil && number == 0 {
		return errors.New("the platform's number of the broadcast is 0")
	}
	return err
}

// isUnsupportedOrInvalid reports whether an error means that the platform cannot make the change.
func isUnsupportedOrInvalid(err error) bool {
	return errors.Is(err, boterr.Unsupported) || errors.Is(err, boterr.InvalidArgument)
}

var changeRules = []Rule{
	{
		Name:    "UpdatedMessagesShowTheNewText",
		Text:    "UpdateMessage makes a message show exactly the new text, and returns the platform's reply",
		applies: offers[send.MessageUpdater],
		check: func(t *trial) {
			message := t.message(send.Text("Before"))
			delivery := t.mustSend(message)
			const text = "After <b> & \"quotes\""
			var reply document.Object
			t.do("UpdateMessage", func() (err error) {
				reply, err = t.update(message, delivery, text)
				return err
			})
			require.Equal(t, text, t.only().Text)
			requireReply(t, reply)
			if ok, isThere := reply.Field("ok"); isThere {
				require.Equal(t, true, ok, "ok of %s", reply)
			}
		},
	},
	{
		Name:    "UpdateOfNothingIsNotFound",
		Text:    "UpdateMessage of an unknown message is NotFound",
		applies: offers[send.MessageUpdater],
		check: func(t *trial) {
			message := t.message(send.Text("Before"))
			delivery := t.mustSend(message)
			delivery.MessageID = t.UnknownID
			err := t.try("UpdateMessage", func() error {
				_, err := t.update(message, delivery, "After")
				return err
			})
			t.requireCode(boterr.NotFound, err, "UpdateMessage")
			require.Equal(t, "Before", t.only().Text)
		},
	},
	{
		Name:    "ConversationsAreArchivedOnce",
		Text:    "ArchiveConversation archives a conversation; archiving it again succeeds, and an unknown conversation is NotFound",
		applies: offers[send.ConversationArchiver],
		check: func(t *trial) {
			archiver := port[send.ConversationArchiver](t)
			t.mustSend(t.messageToGroup(t.Group, send.Text("Before")))
			require.False(t, t.Archived(t.Group))
			for range 2 {
				t.do("ArchiveConversation", func() error { return archiver.ArchiveConversation(t.Context(), t.Channel, t.Group) })
				require.True(t, t.Archived(t.Group))
			}
			err := t.try("ArchiveConversation", func() error { return archiver.ArchiveConversation(t.Context(), t.Channel, t.UnknownID) })
			t.requireCode(boterr.NotFound, err, "ArchiveConversation")
		},
	},
}

// update changes the text of a message that was delivered.
func (t *trial) update(message send.Message, delivery send.Delivery, text string) (document.Object, error) {
	return port[send.MessageUpdater](t).UpdateMessage(t.Context(), t.Channel, send.MessageUpdate{
		ConversationID: cmp.Or(delivery.ChatID, message.To), MessageID: cmp.Or(delivery.MessageID, message.ID), Text: text,
	})
}

var batchRules = []Rule{{
	Name:    "BatchesArriveInTheirOrder",
	Text:    "SendBatch sends each message to its recipient, and returns either no outcomes or one per message, in order",
	applies: offers[send.BatchSender],
	check: func(t *trial) {
		messages := []send.Message{
			t.messageTo(t.Members[0], send.Text("One")), t.messageTo(t.Members[1], send.Text("Two")), t.messageTo(t.Members[0], send.Text("Three")),
		}
		var batch send.Batch
		t.do("SendBatch", func() (err error) {
			batch, err = port[send.BatchSender](t).SendBatch(t.Context(), messages)
			return err
		})
		if batch.Outcomes != nil {
			require.Len(t, batch.Outcomes, len(messages), "outcomes")
		}
		for _, outcome := range batch.Outcomes {
			require.NoError(t, outcome.Err)
			requireReply(t, outcome.Delivery.Reply)
		}
		var arrived []string
		for _, arrival := range t.Arrived() {
			arrived = append(arrived, arrival.To+" "+arrival.Text)
		}
		ada, bob := t.Members[0].ExternalID, t.Members[1].ExternalID
		require.Equal(t, []string{ada + " One", bob + " Two", ada + " Three"}, arrived)
	},
}}

var ticketRules = []Rule{
	{
		Name:    "TakenTicketsShowTheText",
		Text:    "ShowTaken replaces the content of a ticket with a text; doing so twice succeeds, and an unknown ticket is NotFound",
		applies: offers[livechat.TicketUpdater],
		check: func(t *trial) {
			updater, ticket := port[livechat.TicketUpdater](t), t.sentTicket()
			for range 2 {
				t.do("ShowTaken", func() error { return updater.ShowTaken(t.Context(), t.Channel, ticket, "Grace & <co> took it") })
				require.Equal(t, "Grace & <co> took it", t.only().Text)
			}
			unknown := t.ticket(t.UnknownID, ticket.ChatID)
			t.requireNotFound("ShowTaken", func() error { return updater.ShowTaken(t.Context(), t.Channel, unknown, "Grace took it") })
		},
	},
	{
		Name:    "RecalledTicketsAreGone",
		Text:    "RecallTicket removes a ticket; an unknown or removed ticket is NotFound",
		applies: offers[livechat.TicketRecaller],
		check: func(t *trial) {
			recaller, ticket := port[livechat.TicketRecaller](t), t.sentTicket()
			t.do("RecallTicket", func() error { return recaller.RecallTicket(t.Context(), t.Channel, ticket) })
			for _, arrival := range t.Arrived() {
				require.True(t, arrival.IsRecalled, "the ticket was not removed and shows: %s", arrival.Body)
			}
			for _, gone := range []livechat.Ticket{ticket, t.ticket(t.UnknownID, ticket.ChatID)} {
				t.requireNotFound("RecallTicket", func() error { return recaller.RecallTicket(t.Context(), t.Channel, gone) })
			}
		},
	},
}

// sentTicket sends a ticket to the group.
func (t *trial) sentTicket() livechat.Ticket {
	t.Helper()
	message := t.messageToGroup(t.Group, send.Buttons("Ada needs somebody", send.Postback("Take", "take")))
	delivery := t.mustSend(message)
	return t.ticket(cmp.Or(delivery.MessageID, message.ID), delivery.ChatID)
}

// ticket returns a ticket of the group that has the given ids on the platform.
func (t *trial) ticket(messageID, chatID string) livechat.Ticket {
	return livechat.Ticket{
		ID: "ticket-1", Channel: t.Channel.ID, Type: t.Channel.Type, Group: channel.BroadcastGroupMember{ID: t.Group},
		MessageID: messageID, ChatID: chatID,
	}
}
