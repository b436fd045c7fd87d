package sendtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// picture returns a picture, the smallest of its kind.
func picture() livechat.Picture {
	return livechat.Picture{ContentType: "image/gif", Bytes: []byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;")}
}

var groupRules = []Rule{
	{
		Name:    "GroupsCanBeWrittenTo",
		Text:    "CreateGroup makes a group whose id messages can be sent to; groups of different keys are different ones, of one name, too",
		applies: offers[livechat.GroupCreator],
		check: func(t *trial) {
			first, second := t.createGroup("key-1"), t.createGroup("key-2")
			require.NotEqual(t, first.ExternalID, second.ExternalID, "the ids of two groups")
			t.mustSend(t.messageToGroup(first.ExternalID, send.Text("Hello")))
			require.Equal(t, first.ExternalID, t.only().To)
		},
	},
	{
		Name:    "GroupsHaveTheLinkThatIsAskedFor",
		Text:    "a group that is asked for with a link has one, where the platform has links",
		applies: func(h *Harness) bool { return offers[livechat.GroupCreator](h) && offers[livechat.InviteLinker](h) },
		check:   func(t *trial) { require.NotEmpty(t, t.createGroup("key-1").InvitationLink) },
	},
	{
		Name:    "LinksAreRenewedAndDisabled",
		Text:    "RenewInviteLink returns another link each time; disabling one that there is not is no error; an unknown group is NotFound",
		applies: offers[livechat.InviteLinker],
		check: func(t *trial) {
			linker := port[livechat.InviteLinker](t)
			seen := map[string]bool{"": true}
			for range 2 {
				t.do("RenewInviteLink", func() error {
					link, err := linker.RenewInviteLink(t.Context(), t.Channel, t.Group)
					require.False(t, seen[link], "the new link is %q", link)
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
		Text:    "GroupName returns the name of a group as it was made, and NotFound for a group that there is not",
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
		Text:    "SetGroupIcon sets a picture; what is none is InvalidArgument, and a group that there is not is NotFound",
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
		Text:    "CreateChannel returns the platform's reply, which JSON can hold",
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

// groupName is the name of the groups of the rules.
const groupName = "Support for Ada"

// createGroup makes a group with the first member as its agent.
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

// requireNotFound checks that a call is NotFound.
func (t *trial) requireNotFound(name string, call func() error) {
	t.Helper()
	t.requireCode(boterr.NotFound, t.try(name, call), name+" of what there is not")
}
