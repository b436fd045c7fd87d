package sendtest

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// ask is a request to a platform through a method of a port.
type ask struct {
	name string
	// isOffered reports whether the connector has the port.
	isOffered func(h *Harness) bool
	// do makes the request in a channel. It may name objects that do not exist.
	do func(t *trial, ctx context.Context, in *channel.Channel) error
}

// asks returns the requests that a harness's connector supports, with Send first.
func asks(h *Harness) []ask {
	return slices.DeleteFunc(slices.Clone(allAsks), func(a ask) bool { return !a.isOffered(h) })
}

// portAsk returns a request through a method of an optional port.
func portAsk[Port any](name string, do func(t *trial, ctx context.Context, in *channel.Channel, p Port) error) ask {
	return ask{name: name, isOffered: offers[Port], do: func(t *trial, ctx context.Context, in *channel.Channel) error {
		return do(t, ctx, in, port[Port](t))
	}}
}

// allAsks has a row for each method of each port.
var allAsks = []ask{
	{"Send", func(*Harness) bool { return true }, func(t *trial, ctx context.Context, in *channel.Channel) error {
		_, err := t.Connector.Send(ctx, t.messageIn(in))
		return err
	}},
	portAsk("SendBatch", func(t *trial, ctx context.Context, in *channel.Channel, p send.BatchSender) error {
		batch, err := p.SendBatch(ctx, []send.Message{t.messageIn(in)})
		if err == nil && len(batch.Outcomes) > 0 {
			err = batch.Outcomes[0].Err
		}
		return err
	}),
	portAsk("CreateBroadcast", func(_ *trial, ctx context.Context, in *channel.Channel, p send.Broadcaster) error {
		_, err := p.CreateBroadcast(ctx, in, send.Text("Hello"))
		return err
	}),
	portAsk("SendBroadcast", func(_ *trial, ctx context.Context, in *channel.Channel, p send.Broadcaster) error {
		_, err := p.SendBroadcast(ctx, in, send.Broadcast{MessageID: "3000000001", LabelID: labelID, NotificationType: "REGULAR"})
		return err
	}),
	portAsk("UploadAttachment", func(_ *trial, ctx context.Context, in *channel.Channel, p send.AttachmentUploader) error {
		_, err := p.UploadAttachment(ctx, in, send.TypeImage, "https://files.example.com/a.png")
		return err
	}),
	portAsk("PassThreadControl", func(t *trial, ctx context.Context, in *channel.Channel, p send.ThreadPasser) error {
		return p.PassThreadControl(ctx, in, t.Members[0].ExternalID, send.ThreadHandover{})
	}),
	portAsk("SaveLabel", func(t *trial, ctx context.Context, in *channel.Channel, p send.Labeler) error {
		_, err := p.SaveLabel(ctx, in, t.Members[0].ExternalID, labelID)
		return err
	}),
	portAsk("RemoveLabel", func(t *trial, ctx context.Context, in *channel.Channel, p send.Labeler) error {
		return p.RemoveLabel(ctx, in, t.Members[0].ExternalID, labelID)
	}),
	portAsk("SaveTag", func(t *trial, ctx context.Context, in *channel.Channel, p send.Tagger) error {
		_, err := p.SaveTag(ctx, in, t.Members[0].ExternalID, 7)
		return err
	}),
	portAsk("ArchiveConversation", func(t *trial, ctx context.Context, in *channel.Channel, p send.ConversationArchiver) error {
		return p.ArchiveConversation(ctx, in, t.Group)
	}),
	portAsk("UpdateMessage", func(t *trial, ctx context.Context, in *channel.Channel, p send.MessageUpdater) error {
		_, err := p.UpdateMessage(ctx, in, send.MessageUpdate{
			ConversationID: t.Members[0].ExternalID, MessageID: "1700000000.000100", Text: "Hello", Attachments: []document.Object{},
		})
		return err
	}),
	portAsk("CreateGroup", func(_ *trial, ctx context.Context, in *channel.Channel, p livechat.GroupCreator) error {
		_, err := p.CreateGroup(ctx, in, livechat.NewGroup{Key: "key-1"})
		return err
	}),
	portAsk("RenewInviteLink", func(t *trial, ctx context.Context, in *channel.Channel, p livechat.InviteLinker) error {
		_, err := p.RenewInviteLink(ctx, in, t.Group)
		return err
	}),
	portAsk("DisableInviteLink", func(t *trial, ctx context.Context, in *channel.Channel, p livechat.InviteLinker) error {
		return p.DisableInviteLink(ctx, in, t.Group)
	}),
	portAsk("GroupName", func(t *trial, ctx context.Context, in *channel.Channel, p livechat.GroupNamer) error {
		_, err := p.GroupName(ctx, in, t.Group)
		return err
	}),
	portAsk("SetGroupIcon", func(t *trial, ctx context.Context, in *channel.Channel, p livechat.GroupIconSetter) error {
		return p.SetGroupIcon(ctx, in, t.Group, picture())
	}),
	portAsk("ShowTaken", func(t *trial, ctx context.Context, in *channel.Channel, p livechat.TicketUpdater) error {
		return p.ShowTaken(ctx, in, t.ticket("1700000000.000100", t.Group), "Taken")
	}),
	portAsk("RecallTicket", func(t *trial, ctx context.Context, in *channel.Channel, p livechat.TicketRecaller) error {
		return p.RecallTicket(ctx, in, t.ticket("1700000000.000100", t.Group))
	}),
	portAsk("CreateChannel", func(t *trial, ctx context.Context, in *channel.Channel, p livechat.ChannelCreator) error {
		_, err := p.CreateChannel(ctx, in, t.Group, "Orders")
		return err
	}),
}

func (t *trial) messageIn(in *channel.Channel) send.Message {
	message := t.message(send.Text("Hello"))
	message.Channel = in
	return message
}

// labelID is the number of a label that the rules use.
const labelID = "7001"

var labelRules = []Rule{{
	Name: "LabelsArePutAndTaken",
	Text: "SaveLabel puts a label on a recipient and returns the same number each time; RemoveLabel removes it; doing either " +
		"twice succeeds; a label is given by its name or its number",
	applies: offers[send.Labeler],
	check: func(t *trial) {
		for _, label := range []string{labelID, "buyers"} {
			t.putAndTake(label)
		}
	},
}}

func (t *trial) putAndTake(label string) {
	t.Helper()
	labeler := port[send.Labeler](t)
	ada, bob := t.Members[0].ExternalID, t.Members[1].ExternalID
	put := func(label string) (number int64) {
		t.do("SaveLabel", func() (err error) {
			number, err = labeler.SaveLabel(t.Context(), t.Channel, ada, label)
			return err
		})
		require.Len(t, t.Labels(ada), 1)
		return number
	}
	number := put(label)
	named := t.Labels(ada)
	require.Equal(t, number, put(label), "the platform's number of one label")
	require.Equal(t, number, put(strconv.FormatInt(number, 10)), "the number of a label that is given by it")
	require.Equal(t, named, t.Labels(ada))
	require.Empty(t, t.Labels(bob))
	for _, given := range []string{strconv.FormatInt(number, 10), label} {
		t.do("RemoveLabel", func() error { return labeler.RemoveLabel(t.Context(), t.Channel, ada, given) })
		require.Empty(t, t.Labels(ada))
	}
}

var contactRules = []Rule{
	{
		Name: "TagsArePutOrRefusedInTheReply",
		Text: "SaveTag puts a tag on a recipient and replies with code 0; if the platform refuses, the reply has the platform's " +
			"code and message, and there is no error",
		applies: offers[send.Tagger],
		check: func(t *trial) {
			tagger, to := port[send.Tagger](t), t.Members[0].ExternalID
			for tag := range int64(send.MaxMemberTags + 2) {
				var reply send.TagReply
				t.do("SaveTag", func() (err error) {
					reply, err = tagger.SaveTag(t.Context(), t.Channel, to, tag+1)
					return err
				})
				require.NotEmpty(t, reply.Message, "the reply has no message")
				if reply.Code == 0 {
					require.Contains(t, t.Tags(to), tag+1)
				} else {
					require.NotContains(t, t.Tags(to), tag+1, "the recipient has a tag that was refused: %s", reply.Message)
				}
			}
			require.Contains(t, t.Tags(to), int64(1), "the first tag was refused")
			require.Empty(t, t.Tags(t.Members[1].ExternalID))
		},
	},
	{
		Name:    "ThreadsAreHandedOn",
		Text:    "PassThreadControl passes the conversation with a recipient, and the metadata, to the named application",
		applies: offers[send.ThreadPasser],
		check: func(t *trial) {
			to, handover := t.Members[0].ExternalID, send.ThreadHandover{TargetAppID: "2639020374", Metadata: `{"order": "7 & 8"}`}
			t.do("PassThreadControl", func() error {
				return port[send.ThreadPasser](t).PassThreadControl(t.Context(), t.Channel, to, handover)
			})
			require.Equal(t, handover, t.Thread(to))
		},
	},
	{
		Name: "UploadedFilesCanBeSent",
		Text: "UploadAttachment returns an id with which a message of that kind shows the file, or refuses the kind as " +
			"Unsupported or InvalidArgument",
		applies: offers[send.AttachmentUploader],
		check: func(t *trial) {
			for _, kind := range []send.Type{send.TypeImage, send.TypeAudio, send.TypeVideo, send.TypeFile} {
				var id string
				err := t.try("UploadAttachment", func() (err error) {
					uploader := port[send.AttachmentUploader](t)
					id, err = uploader.UploadAttachment(t.Context(), t.Channel, kind, "https://files.example.com/thefile")
					return err
				})
				if isUnsupportedOrInvalid(err) {
					continue
				}
				require.NoError(t, err, "UploadAttachment of %s", kind)
				require.NotEmpty(t, id, "the id of %s", kind)
				before := len(t.Arrived())
				t.mustSend(t.message(send.Attachment(kind, id)))
				arrived := t.Arrived()
				require.Len(t, arrived, before+1)
				require.Contains(t, arrived[before].Body, id)
			}
		},
	},
}

// brief is the lifetime of a context in rules where it ends during a request.
const brief = 50 * time.Millisecond

var contextRules = []Rule{
	{
		Name: "EndedContextAsksNothing",
		Text: "if the context has already ended, every method returns the context's error and sends no request",
		check: func(t *trial) {
			ended := canceledContext(t.Context())
			for _, ask := range asks(t.Harness) {
				t.requireEnded(ended, ask)
			}
			require.Empty(t, t.Arrived())
		},
	},
	{
		Name:    "CancelEndsACall",
		Text:    "if the context is canceled during a request, every method returns the context's error",
		applies: func(h *Harness) bool { return h.has(Silent) },
		check: func(t *trial) {
			t.Fail(Silent)
			for _, ask := range asks(t.Harness) {
				ctx, cancel := context.WithCancel(t.Context())
				timer := time.AfterFunc(brief, cancel)
				t.requireEnded(ctx, ask)
				timer.Stop()
				cancel()
			}
		},
	},
	{
		Name:    "DeadlineEndsACall",
		Text:    "if the context's deadline passes during a request, every method returns the context's error",
		applies: func(h *Harness) bool { return h.has(Silent) },
		check: func(t *trial) {
			t.Fail(Silent)
			for _, ask := range asks(t.Harness) {
				ctx, cancel := context.WithTimeout(t.Context(), brief)
				t.requireEnded(ctx, ask)
				cancel()
			}
		},
	},
}

// requireEnded checks that a request returns the context's error if ctx ends while the platform is silent.
func (t *trial) requireEnded(ctx context.Context, asked ask) {
	t.Helper()
	err := t.within(asked.name, func() error { return asked.do(t, ctx, t.Channel) })
	require.Error(t, err, asked.name)
	require.ErrorIs(t, err, ctx.Err(), asked.name)
	require.Equal(t, boterr.Canceled, t.codeOf(ctx, err), "the code that callers see of what %s returned: %v", asked.name, err)
}
