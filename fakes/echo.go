package fakes

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// Echo's answers to adding a tag.
const (
	tagSaved   = 0
	tooManyTag = 45059
	invalidTag = 45159
)

// echo is the connector to Echo, a platform on which users have tags.
type echo struct{ plain }

var _ send.Tagger = echo{}

// reply returns the message in Echo's form.
func (echo) reply(sent Sent) document.Object {
	response := sent.Response
	switch response.Type() {
	case send.TypeNews:
		articles := document.Get(response, "articles", document.Array{})
		return newsReply(articles)
	case send.TypeCarousel:
		return newsReply(articlesOf(response))
	case send.TypeImage:
		return fileReply("image", response).With("image", fileOf(response))
	case send.TypeVideo:
		video := fileReply("video", response).With("video", fileOf(response))
		return withFields(video, response, "title", "description")
	case send.TypeAudio:
		return fileReply("voice", response)
	case send.TypeFile:
		return fileReply("file", response)
	case send.TypeText, send.TypeButton, send.TypeQuickReplies:
		return document.O("msgType", "text", "text", response.Text())
	default:
		return response.Data().With("msgType", strings.ToLower(string(response.Type())))
	}
}

// articlesOf returns a carousel's cards as articles, the form in which Echo shows them.
func articlesOf(response send.Response) document.Array {
	articles := document.A()
	for _, card := range document.Get(response, "carousel", []document.Object{}) {
		article := document.O()
		for _, field := range []struct{ shown, sent string }{{"title", "title"}, {"description", "subtitle"}, {"picurl", "image_url"}} {
			if value, has := card.Field(field.sent); has {
				article = article.With(field.shown, value)
			}
		}
		articles = articles.Append(article)
	}
	return articles
}

// newsReply returns articles as news, together with the first article's fields.
func newsReply(articles document.Array) document.Object {
	reply := document.O("msgType", "news", "news", articles)
	article := document.Get(reply, "news.0", document.Object{})
	for _, field := range []struct{ shown, sent string }{
		{"title", "title"}, {"description", "description"}, {"url", "url"}, {"image", "picurl"},
	} {
		if value, has := article.Field(field.sent); has {
			reply = reply.With(field.shown, value)
		}
	}
	return reply
}

// fileReply returns a file of a kind, with its address if it was sent by address.
func fileReply(kind string, response send.Response) document.Object {
	return withFields(document.O("msgType", kind), response, "url")
}

func fileOf(response send.Response) string {
	return cmp.Or(document.Get(response, "attachment_id", ""), document.Get(response, "url", ""))
}

func withFields(reply document.Object, response send.Response, fields ...string) document.Object {
	for _, field := range fields {
		if value, has := response.Object().Field(field); has {
			reply = reply.With(field, value)
		}
	}
	return reply
}

func (e echo) SaveTag(ctx context.Context, in *channel.Channel, to string, tagID int64) (send.TagReply, error) {
	return atPlatform(ctx, e.outbox, in, func() (send.TagReply, error) { return e.addTag(in, to, tagID), nil })
}

// addTag adds a tag to a user. The caller holds the mutex.
func (e echo) addTag(in *channel.Channel, to string, tagID int64) send.TagReply {
	at := address{in.ID, to}
	tags := e.kept.tags[at]
	switch {
	case tagID < 0 || tagID > math.MaxInt32:
		e.platform.notef("%s does not get the tag %d: there can be none of that id", e.kept.called(at), tagID)
		return send.TagReply{Code: invalidTag, Message: "invalid tag id"}
	case slices.Contains(tags, tagID):
	case len(tags) >= send.MaxMemberTags:
		e.platform.notef("%s does not get the tag %d: %d are the most", e.kept.called(at), tagID, send.MaxMemberTags)
		message := fmt.Sprintf("the user has too many tags: at most %d are allowed", send.MaxMemberTags)
		return send.TagReply{Code: tooManyTag, Message: message}
	default:
		put(&e.kept.tags, at, append(tags, tagID))
		e.platform.notef("%s has the tag %d", e.kept.called(at), tagID)
	}
	return send.TagReply{Code: tagSaved, Message: "ok"}
}

// Tags returns the member's tags, in the order in which they were added. It ends the test unless the channel is
// of type echo.
func (a *Actor) Tags() []int64 {
	a.platform.test.Helper()
	a.mustBeOn(channel.Echo, "tags")
	return a.platform.outbox.state().tags[a.address()]
}
