package botctxtest

import (
	"github.com/stretchr/testify/require"

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
})

// picture is the smallest file that is taken for a picture.
const picture = "GIF89a"

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
