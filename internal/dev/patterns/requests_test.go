package patterns_test

import (
	"time"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// chatAPI is the address of the custom outlet's live-chat API.
const chatAPI = "https://shop.example/chats"

// requests are patterns for members who ask for an agent.
func requests() []pattern {
	return []pattern{
		{
			name: "custom-outlet",
			prepare: func(s *stage) {
				s.openDesk(channel.Channel{Type: channel.Custom, Metadata: document.O("liveChatApi", chatAPI)})
				s.HTTP.Add("POST", chatAPI, web.JSON(200, `{"groupId": "room 7"}`))
			},
			talk: func(s *stage) { s.says("help", "Where is it?"); s.grace.Says("On its way."); s.says("leave") },
		},
		{
			name:    "ticketing-outlet",
			prepare: func(s *stage) { s.ticketing(); s.keeps("meta", document.O("order", 7)) },
			talk: func(s *stage) {
				s.says("agent")
				s.grace.Takes(s.grace.Ticket())
				s.says("Where is it?")
				s.grace.Says("On its way.")
				s.says("quit")
			},
		},
		{
			name: "explicit-targets", prepare: (*stage).ticketing,
			talk: func(s *stage) { s.says("sales"); s.hedy.Takes(s.hedy.Ticket()); s.hedy.Says("Here I am.") },
		},
		{
			name: "auto-end", needs: []string{"moment"}, prepare: (*stage).ticketing,
			talk: func(s *stage) {
				s.says("agent")
				s.grace.Takes(s.grace.Ticket())
				s.Advance(9 * time.Minute)
				s.says("Are you there?")
				s.Advance(9 * time.Minute)
				s.Advance(time.Minute)
			},
		},
		{
			name: "housekeeping", prepare: (*stage).ticketing,
			talk: func(s *stage) {
				s.says("agent")
				s.grace.Takes(s.grace.Ticket())
				s.says("rate 5")
				s.grace.Says("#done")
				s.Advance(time.Minute)
				s.says("agent", "cancel", "history")
			},
		},
	}
}

// agendas are patterns for later events.
func agendas() []pattern {
	return []pattern{
		{
			name: "idle-reminder",
			talk: func(s *stage) {
				bob := s.join(member.Member{FirstName: "Bob", Channel: "web"})
				s.says("order")
				bob.Says("order")
				s.Advance(4 * time.Minute)
				bob.Says("Bob")
				s.Advance(time.Hour)
			},
		},
		{
			name: "daily-agenda", needs: []string{"moment"},
			talk: func(s *stage) {
				s.says("subscribe")
				s.Advance(30 * 24 * time.Hour)
			},
		},
		{
			name: "unsubscribe",
			talk: func(s *stage) {
				s.says("order", "stop")
				s.Advance(time.Hour)
				s.says("hi")
			},
		},
	}
}

// platforms are patterns for features of single platforms and for other services.
func platforms() []pattern {
	onAlpha := func(s *stage) { s.on(channel.Alpha) }
	return []pattern{
		{
			name: "comment-analytics", prepare: onAlpha,
			talk: func(s *stage) {
				for _, text := range []string{"I want to win!", "Nice windows"} {
					s.ada.Sends(send.MessageEvent{Type: "COMMENT", Data: document.O(
						"text", text, "post_id", "post 1", "from", document.O("name", "Ada L."),
					)})
				}
			},
		},
		{
			name: "thread-hand-over", prepare: onAlpha,
			talk: func(s *stage) { s.says("person") },
		},
		{
			name: "tagged-sends", prepare: onAlpha,
			talk: func(s *stage) { s.says("order") },
		},
		{
			name: "carousel", needs: []string{"lodash"},
			prepare: func(s *stage) {
				s.HTTP.Add("GET", "https://books.example/search?q=tea%20%26%20milk", web.JSON(200, `{"books": [
					{"title": "Milk", "author": "A. Cow", "isbn": "1", "rating": 3, "cover": "https://books.example/1.png", "inStock": true},
					{"title": "Sold out", "author": "Nobody", "isbn": "2", "rating": 5, "cover": "", "inStock": false},
					{"title": "Tea", "author": "B. Leaf", "isbn": "3", "rating": 4.5, "cover": "https://books.example/3.png", "inStock": true}
				]}`))
				s.HTTP.Add("GET", "https://books.example/search?q=war", web.Text(503, "busy"))
			},
			talk: func(s *stage) { s.says("books about tea & milk", "books about war") },
		},
	}
}
