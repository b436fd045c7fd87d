package botctxtest

import (
	"context"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/record"
)

// iconRules need pages for pictures.
var iconRules = needing([]Capability{serveFiles}, []Rule{
	{
		Name:  "SetBravoGroupIconShowsThePicture",
		Text:  "setBravoGroupIcon gives that group, in the context's channel by default, the picture at the address, and answers 200: ok",
		Needs: []Capability{readMade},
		check: setIconShowsThePicture,
	},
	{
		Name:  "SetBravoGroupIconIsForOnePlatform",
		Text:  "channels of another type are Unsupported for setBravoGroupIcon, and the error names the type that is allowed",
		check: setIconIsForOnePlatform,
	},
	{
		Name:  "SetBravoGroupIconFindsNoOthers",
		Text:  "groups that are not in the channel, and channels of another app, are NotFound for setBravoGroupIcon, and nothing is changed",
		check: setIconFindsNoOthers,
	},
	{
		Name:  "SetBravoGroupIconRefusesBadInput",
		Text:  "bad input of setBravoGroupIcon, and what is no picture, are InvalidArgument with the name of the parameter, and change nothing",
		check: setIconRefusesBadInput,
	},
})

// picture is the smallest file that is taken for a picture.
const picture = "GIF89a"

// settingIcons is setBravoGroupIcon with the picture at an address.
func settingIcons(url string) onePlatform {
	return onePlatform{
		"SetBravoGroupIcon", botctx.OpSetBravoGroupIcon, channel.Bravo, "channelId",
		func(ctx context.Context, operations botctx.Operations, channelID, groupID string) error {
			return errorOf(operations.SetBravoGroupIcon(ctx, livechat.SetBravoGroupIconParams{
				ChannelID: channelID, ImageURL: url, BravoGroupID: groupID,
			}))
		},
	}
}

func setIconShowsThePicture(t *trial) {
	c := t.newChannelOf(t.home, channel.Bravo)
	first := t.makeGroup(c.ID, livechat.CreateBravoGroupParams{}).GroupID
	second := t.makeGroup(c.ID, livechat.CreateBravoGroupParams{}).GroupID
	own := t.Operations(record.Scope{App: t.home.scope.App, Channel: c.ID})
	for file, set := range map[string]func(url string) (livechat.SetBravoGroupIconResult, error){
		picture + "given": func(url string) (livechat.SetBravoGroupIconResult, error) {
			return t.home.SetBravoGroupIcon(t.ctx(), livechat.SetBravoGroupIconParams{ChannelID: c.ID, ImageURL: url, BravoGroupID: first})
		},
		picture + "own": func(url string) (livechat.SetBravoGroupIconResult, error) {
			return own.SetBravoGroupIcon(t.ctx(), livechat.SetBravoGroupIconParams{ImageURL: url, BravoGroupID: first})
		},
	} {
		result, err := set(t.Serve("image/gif", file).URL)
		require.NoError(t, err)
		require.JSONEq(t, `{"200": "ok"}`, textOf(t, result))
		require.Equal(t, file, t.made(c.ID, first).Icon)
		require.Empty(t, t.made(c.ID, second).Icon)
	}
}

func setIconIsForOnePlatform(t *trial) {
	url := t.Serve("image/gif", picture).URL
	isForOnePlatform(t, settingIcons(url))
}

func setIconFindsNoOthers(t *trial) {
	url := t.Serve("image/gif", picture).URL
	findsNoOtherChannels(t, settingIcons(url))
	c := t.newChannelOf(t.home, channel.Bravo)
	for name, id := range t.strangeBravoGroups() {
		t.try("a group "+name, func(t *trial) {
			t.requireUnchanged(botctx.OpSetBravoGroupIcon, boterr.NotFound, "bravoGroupId", func() error {
				return errorOf(t.home.SetBravoGroupIcon(t.ctx(), livechat.SetBravoGroupIconParams{
					ChannelID: c.ID, ImageURL: url, BravoGroupID: id,
				}))
			})
		})
	}
}

func setIconRefusesBadInput(t *trial) {
	type params = livechat.SetBravoGroupIconParams
	c := t.newChannelOf(t.home, channel.Bravo)
	room := t.makeGroup(c.ID, livechat.CreateBravoGroupParams{}).GroupID
	good := t.Serve("image/gif", picture).URL
	cases := []badInput[params]{
		{"no imageUrl", params{ChannelID: c.ID, BravoGroupID: room}, "imageUrl"},
		{"no bravoGroupId", params{ChannelID: c.ID, ImageURL: good}, "bravoGroupId"},
	}
	for name, url := range map[string]string{
		"no address":            "nonsense",
		"an address of a file":  "file:///etc/hostname",
		"an address with space": "https://" + strings.Repeat(" ", 3),
		"a text":                t.Serve("text/html", "<html>").URL,
		"an empty picture":      t.Serve("image/gif", "").URL,
	} {
		cases = append(cases, badInput[params]{name, params{ChannelID: c.ID, ImageURL: url, BravoGroupID: room}, "imageUrl"})
	}
	requireRefused(t, botctx.OpSetBravoGroupIcon, t.home.SetBravoGroupIcon, cases)
	alone := t.Operations(record.Scope{App: t.home.scope.App})
	requireRefused(t, botctx.OpSetBravoGroupIcon, alone.SetBravoGroupIcon, []badInput[params]{
		{"no channel", params{ImageURL: good, BravoGroupID: room}, "channelId"},
	})
}
