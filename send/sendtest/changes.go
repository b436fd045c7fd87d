package sendtest

import (
	"cmp"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

var changeRules = []Rule{
	{
		Name:    "UpdatedMessagesShowTheNewText",
		Text:    "UpdateMessage makes a message show the new text to the letter, and returns the platform's reply",
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
		Text:    "UpdateMessage of a message that the platform does not have is NotFound",
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
		Text:    "ArchiveConversation archives a conversation; one that is archived already is no error, and one that there is not is NotFound",
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
	Text:    "SendBatch sends each message to its recipient, and says nothing of each or has an outcome for each, in their order",
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
