package sendtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/send"
)

// labelID is the id of the label of the rules. Some platforms have numbers.
const labelID = "7001"

var labelRules = []Rule{{
	Name: "LabelsArePutAndTaken",
	Text: "SaveLabel puts a label on a recipient, the same number each time, and RemoveLabel takes it off; doing either " +
		"twice is no error",
	applies: offers[send.Labeler],
	check: func(t *trial) {
		labeler := port[send.Labeler](t)
		ada, bob := t.Members[0].ExternalID, t.Members[1].ExternalID
		var numbers []int64
		for range 2 {
			t.do("SaveLabel", func() error {
				number, err := labeler.SaveLabel(t.Context(), t.Channel, ada, labelID)
				numbers = append(numbers, number)
				return err
			})
			require.Equal(t, []string{labelID}, t.Labels(ada))
		}
		require.Equal(t, numbers[0], numbers[1], "the platform's number of one label")
		require.Empty(t, t.Labels(bob))
		for range 2 {
			t.do("RemoveLabel", func() error { return labeler.RemoveLabel(t.Context(), t.Channel, ada, labelID) })
			require.Empty(t, t.Labels(ada))
		}
	},
}}

var contactRules = []Rule{
	{
		Name: "TagsArePutOrRefusedInTheReply",
		Text: "SaveTag puts a tag on a recipient and answers 0; what the platform refuses is a code with a sentence in its " +
			"reply, and no error",
		applies: offers[send.Tagger],
		check: func(t *trial) {
			tagger, to := port[send.Tagger](t), t.Members[0].ExternalID
			for tag := range int64(send.MaxMemberTags + 2) {
				var reply send.TagReply
				t.do("SaveTag", func() (err error) {
					reply, err = tagger.SaveTag(t.Context(), t.Channel, to, tag+1)
					return err
				})
				require.NotEmpty(t, reply.Message, "the reply says nothing")
				if reply.Code == 0 {
					require.Contains(t, t.Tags(to), tag+1)
				} else {
					require.NotContains(t, t.Tags(to), tag+1, "a tag that was refused: %s", reply.Message)
				}
			}
			require.Contains(t, t.Tags(to), int64(1), "the first tag was refused")
			require.Empty(t, t.Tags(t.Members[1].ExternalID))
		},
	},
	{
		Name:    "ThreadsAreHandedOn",
		Text:    "PassThreadControl hands the conversation with a recipient to the application that is named, with the metadata",
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
		Text: "UploadAttachment returns an id by which a message of that kind shows the file, or refuses the kind as " +
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
