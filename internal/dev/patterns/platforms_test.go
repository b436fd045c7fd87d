package patterns_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// platforms are the patterns of what one platform has, and of other services.
func platforms() []pattern {
	onAlpha := func(s *stage) { s.on(channel.Alpha) }
	return []pattern{
		{
			name: "comment-analytics", nodes: commentAnalytics, prepare: onAlpha,
			talk: func(s *stage) {
				for _, text := range []string{"I want to win!", "Nice windows"} {
					s.ada.Sends(send.MessageEvent{Type: "COMMENT", Data: document.O(
						"text", text, "post_id", "post 1", "from", document.O("name", "Ada L."),
					)})
				}
			},
			want: "Ada: Thank you for your comment!\nAda: Thank you for your comment!\n",
		},
		{
			name: "thread-hand-over", nodes: threadHandOver, prepare: onAlpha,
			talk: func(s *stage) { s.says("person") },
			want: "Ada: A person will answer.\n",
		},
		{
			name: "tagged-sends", nodes: taggedSends, prepare: onAlpha,
			talk: func(s *stage) { s.says("order") },
			want: "Ada: Your order has been shipped.\n",
		},
		{
			name: "carousel", nodes: carousel, needs: []string{"lodash"},
			prepare: func(s *stage) {
				s.HTTP.Add("GET", "https://books.example/search?q=tea%20%26%20milk", web.JSON(200, `{"books": [
					{"title": "Milk", "author": "A. Cow", "isbn": "1", "rating": 3, "cover": "https://books.example/1.png", "inStock": true},
					{"title": "Sold out", "author": "Nobody", "isbn": "2", "rating": 5, "cover": "", "inStock": false},
					{"title": "Tea", "author": "B. Leaf", "isbn": "3", "rating": 4.5, "cover": "https://books.example/3.png", "inStock": true}
				]}`))
				s.HTTP.Add("GET", "https://books.example/search?q=war", web.Text(503, "busy"))
			},
			talk: func(s *stage) { s.says("books about tea & milk", "books about war") },
			want: `Ada: {"type":"CAROUSEL","carousel":[` +
				`{"title":"Tea","subtitle":"by B. Leaf","image_url":"https://books.example/3.png",` +
				`"buttons":[{"type":"postback","title":"Reserve","payload":{"payload":"reserve","value":"3"}}]},` +
				`{"title":"Milk","subtitle":"by A. Cow","image_url":"https://books.example/1.png",` +
				`"buttons":[{"type":"postback","title":"Reserve","payload":{"payload":"reserve","value":"1"}}]}]}` +
				"\nAda: The shop does not answer: status 503\n",
		},
	}
}

func commentAnalytics() []*botctx.Node {
	isComment := func(bot *botctx.Context) bool { return bot.MessageEvent.Type == "COMMENT" }
	wins := regexp.MustCompile(`(?i)\bwin(ning)?\b`)
	record := func(ctx context.Context, bot *botctx.Context) error {
		said := bot.MessageEvent.Data
		comment := document.Get(said, "text", "")
		_, err := bot.SavePostCommentAnalytics(ctx, send.SavePostCommentAnalyticsParams{
			Comment: comment, PostID: document.Get(said, "post_id", ""), ChannelID: bot.Channel.ID, MemberID: bot.Member.ID,
			FbID: bot.MessageEvent.From, Name: document.Get(said, "from.name", ""), IsMatched: wins.MatchString(comment),
		})
		return err
	}
	return []*botctx.Node{{
		ID: "comment", Trigger: botctx.When(isComment), Pre: botctx.Do(record), Responses: botctx.Say("Thank you for your comment!"),
	}}
}

func threadHandOver() []*botctx.Node {
	handOver := func(ctx context.Context, bot *botctx.Context) error {
		passed, err := bot.AlphaPassThreadControl(ctx, send.AlphaPassThreadControlParams{Member: bot.Member, Channel: bot.Channel})
		bot.Member.Meta.Set("passed", passed.Success)
		return err
	}
	return []*botctx.Node{{
		ID: "person", Trigger: botctx.TextIs("person"), Responses: botctx.Say("A person will answer."), Post: botctx.Do(handOver),
	}}
}

func taggedSends() []*botctx.Node {
	shipped := func(ctx context.Context, bot *botctx.Context) error {
		sent, err := bot.SendResponse(ctx, send.SendResponseParams{
			ChannelID: bot.Channel.ID, MemberID: document.One(bot.Member.ID), Response: send.Text("Your order has been shipped."),
			MessagingType: "MESSAGE_TAG", MessagingTag: "POST_PURCHASE_UPDATE",
		})
		if err != nil {
			return err
		}
		bot.Member.Meta.Set("lastMessage", sent.Results[0].MessageEvent.Text())
		return nil
	}
	return []*botctx.Node{{ID: "shipped", Trigger: botctx.TextIs("order"), Pre: botctx.Do(shipped)}}
}

// book is one that the shop has.
type book struct {
	Title   string  `json:"title"`
	Author  string  `json:"author"`
	ISBN    string  `json:"isbn"`
	Cover   string  `json:"cover"`
	Rating  float64 `json:"rating"`
	InStock bool    `json:"inStock"`
}

func carousel() []*botctx.Node {
	books := func(ctx context.Context, bot *botctx.Context) error {
		found, err := searchBooks(ctx, bot, strings.TrimPrefix(bot.MessageEvent.Text(), "books about "))
		if err != nil {
			return reply(ctx, bot, "The shop does not answer: "+err.Error())
		}
		found = slices.DeleteFunc(found, func(b book) bool { return !b.InStock })
		slices.SortFunc(found, func(a, b book) int { return int(2 * (b.Rating - a.Rating)) })
		cards := make([]send.Card, min(len(found), send.MaxCards))
		for i := range cards {
			cards[i] = send.Card{
				Title: found[i].Title, Subtitle: "by " + found[i].Author, ImageURL: found[i].Cover,
				Buttons: []send.Button{send.PostbackValue("Reserve", "reserve", found[i].ISBN)},
			}
		}
		return bot.Reply(ctx, send.Carousel(cards...))
	}
	return []*botctx.Node{{
		ID: "books", Trigger: botctx.TextMatches(regexp.MustCompile("^books about ")), Pre: botctx.Do(books),
	}}
}

func searchBooks(ctx context.Context, bot *botctx.Context, topic string) ([]book, error) {
	answer, err := bot.Fetch(ctx, outbound.Request{
		URL:     "https://books.example/search?q=" + strings.ReplaceAll(url.QueryEscape(topic), "+", "%20"),
		Headers: map[string]string{"Accept": "application/json"},
	})
	if err != nil {
		return nil, err
	}
	if !answer.OK() {
		return nil, fmt.Errorf("status %d", answer.Status)
	}
	var found struct {
		Books []book `json:"books"`
	}
	err = json.Unmarshal(answer.Body, &found)
	return found.Books, err
}
