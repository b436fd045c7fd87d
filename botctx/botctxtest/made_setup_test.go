package botctxtest_test

import (
	"crypto/rand"
	"encoding/json"
	"net/http"

	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/outbound/replies"
)

// noteMade returns what was made through the channels that a harness adds from now on.
func noteMade(h *botctxtest.Harness, p *fakes.Platform) func() []botctxtest.Made {
	var added []string
	add := h.AddChannel
	h.AddChannel = func(c channel.Channel) *channel.Channel {
		stored := add(c)
		added = append(added, stored.ID)
		return stored
	}
	return func() []botctxtest.Made {
		var all []botctxtest.Made
		for _, id := range added {
			for _, g := range p.Groups(id) {
				all = append(all, botctxtest.Made{
					Channel: id, ExternalID: g.ExternalID, Name: g.Name, InvitationLink: g.InvitationLink, Icon: string(g.Icon.Bytes),
				})
			}
			for _, c := range p.CreatedChannels(id) {
				all = append(all, botctxtest.Made{Channel: id, ExternalID: c.ID, Name: c.DisplayName, Within: c.GroupID})
			}
		}
		return all
	}
}

// addPage puts a page on the web.
func addPage(web *replies.Replies, contentType, body string) *botctxtest.Page {
	url := "https://pages.example/" + rand.Text()
	page := replies.Reply{Header: map[string][]string{"Content-Type": {contentType}}, Body: body}
	web.Add(http.MethodGet, url, page)
	web.Add(http.MethodPost, url, page)
	return &botctxtest.Page{URL: url, Posted: func() []document.Object {
		var posted []document.Object
		for _, request := range web.Requests() {
			if request.URL == url && request.Method == http.MethodPost {
				posted = append(posted, bodyOf(request))
			}
		}
		return posted
	}}
}

// bodyOf returns the JSON that a request sent.
func bodyOf(request replies.Request) document.Object {
	var body document.Object
	mustDo(json.Unmarshal([]byte(request.Body), &body))
	return body
}
