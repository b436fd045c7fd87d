package patterns_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// chatAPI is the live-chat API of the custom outlet.
const chatAPI = "https://shop.example/chats"

// requests are the patterns of members who want a person.
func requests() []pattern {
	return []pattern{
		{
			name: "custom-outlet", nodes: customOutlet,
			prepare: func(s *stage) {
				s.openDesk(channel.Channel{Type: channel.Custom, Metadata: document.O("liveChatApi", chatAPI)})
				s.HTTP.Add("POST", chatAPI, web.JSON(200, `{"groupId": "room 7"}`))
			},
			talk: func(s *stage) { s.says("help", "Where is it?"); s.grace.Says("On its way."); s.says("leave") },
			want: "Ada: One moment, Ada.\ndesk: Where is it?\nAda: On its way.\nAda: You have left.\n",
		},
		{
			name: "ticketing-outlet", nodes: ticketingOutlet,
			prepare: func(s *stage) { s.ticketing(); s.keeps("meta", document.O("order", 7)) },
			talk: func(s *stage) {
				s.says("agent")
				s.grace.Takes(s.grace.Ticket())
				s.says("Where is it?")
				s.grace.Says("On its way.")
				s.says("quit")
			},
			want: "desk: Ada is waiting\nAda: One moment, Ada.\ndesk: Order 7 is late.\ndesk: Where is it?\n" +
				"Ada: On its way.\ndesk: The customer has left.\nAda: Back with the bot.\n",
		},
		{
			name: "explicit-targets", nodes: explicitTargets, prepare: (*stage).ticketing,
			talk: func(s *stage) { s.says("sales"); s.hedy.Takes(s.hedy.Ticket()); s.hedy.Says("Here I am.") },
			want: "desk: Ada asks for a person.\nShe wants to buy.\ndesk: She wants to buy.\nAda: Here I am.\n",
		},
		{
			name: "auto-end", nodes: autoEnd, needs: []string{"moment"}, prepare: (*stage).ticketing,
			talk: func(s *stage) {
				s.says("agent")
				s.grace.Takes(s.grace.Ticket())
				s.Advance(9 * time.Minute)
				s.says("Are you there?")
				s.Advance(9 * time.Minute)
				s.Advance(time.Minute)
			},
			want: "desk: Ada asks for a person.\ndesk: Are you there?\nAda: Nobody has written for ten minutes: back with the bot.\n",
		},
		{
			name: "housekeeping", nodes: housekeeping, prepare: (*stage).ticketing,
			talk: func(s *stage) {
				s.says("agent")
				s.grace.Takes(s.grace.Ticket())
				s.says("rate 5")
				s.grace.Says("#done")
				s.Advance(time.Minute)
				s.says("agent", "cancel", "history")
			},
			want: "desk: Ada asks for a person.\ndesk: Ada asks for a person.\nAda: order 7: 5\n",
		},
	}
}

func asks(params func(bot *botctx.Context) livechat.CreateAssignmentParams) botctx.Action {
	return func(ctx context.Context, bot *botctx.Context) error {
		asked, err := bot.CreateAssignment(ctx, params(bot))
		if err == nil {
			bot.Member = asked.Member
		}
		return err
	}
}

// leave ends the live chat from the member's side.
func leave(ctx context.Context, bot *botctx.Context) error {
	ended, err := bot.InletEndLiveChat(ctx, livechat.InletEndParams{Member: bot.Member, Channel: bot.Channel})
	if err != nil {
		return err
	}
	bot.Member = ended.Member
	bot.Member.Group = ""
	return nil
}

func customOutlet() []*botctx.Node {
	ask := func(ctx context.Context, bot *botctx.Context) error {
		asked, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{
			Member:            bot.Member,
			AssignmentDetails: livechat.AssignmentDetails{Summary: "Order 7 is late.", Unknown: document.O("queue", "returns")},
			CreateGroup:       &livechat.CreateGroup{ExternalID: "room 7"},
		})
		if err != nil {
			return err
		}
		bot.Member = asked.Member
		bot.Member.Group = asked.GroupID
		return nil
	}
	return []*botctx.Node{
		{ID: "help", Trigger: botctx.TextIs("help"), Pre: botctx.Do(ask), Responses: botctx.Say("One moment, {{firstName}}.")},
		{
			ID: "leave", Tree: "live chat", Trigger: botctx.TextIs("leave"), Pre: botctx.Do(leave),
			Responses: botctx.Say("You have left."),
		},
	}
}

func ticketingOutlet() []*botctx.Node {
	call := asks(func(bot *botctx.Context) livechat.CreateAssignmentParams {
		order := document.Get(bot.Member.Meta, "order", 0)
		return livechat.CreateAssignmentParams{
			Member: bot.Member,
			AssignmentDetails: livechat.AssignmentDetails{
				Summary: fmt.Sprintf("Order %d is late.", order), GroupName: fmt.Sprintf("Order %d", order),
				RelayMessage: map[channel.Type]send.Response{
					channel.Charlie: send.Raw(document.O("type", "BUTTON", "text", "{{firstName}} is waiting", "buttons", document.A(
						document.O("type", "postback", "title", "Take", "payload", document.O("payload", livechat.TakePayload)),
					))).WithPlaceholders(),
				},
			},
			Meta: document.O("order", order),
		}
	})
	save := func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.SaveGroupIDToMember(ctx, livechat.SaveGroupIDToMemberParams{Channel: bot.Channel, MessageEvent: bot.MessageEvent})
		return err
	}
	tell := func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.SendMessageToOutletGroup(ctx, livechat.SendMessageToOutletGroupParams{
			GroupID: bot.Member.Group, Response: send.Text("The customer has left."),
		})
		return err
	}
	inLiveChat := botctx.AllOf(botctx.AnyText(), botctx.When(func(bot *botctx.Context) bool { return bot.Group != nil }))
	return []*botctx.Node{
		{ID: "agent", Trigger: botctx.TextIs("agent"), Pre: botctx.Do(call), Responses: botctx.Say("One moment, {{firstName}}.")},
		{
			ID: "quit", Tree: "live chat", Trigger: botctx.TextIs("quit"), Pre: botctx.Do(tell, leave),
			Responses: botctx.Say("Back with the bot."),
		},
		{ID: "save", Tree: "agents", Priority: botctx.MutePriority, Trigger: inLiveChat, Pre: botctx.Do(save)},
	}
}

func explicitTargets() []*botctx.Node {
	ask := asks(func(bot *botctx.Context) livechat.CreateAssignmentParams {
		return livechat.CreateAssignmentParams{
			Member: bot.Member, AssignmentDetails: livechat.AssignmentDetails{Summary: "She wants to buy."}, Label: "nobody's",
			Targets: []livechat.Target{{
				Channel: "desk", BroadcastGroups: []channel.BroadcastGroupMember{{Type: "public_channel", ID: "sales"}},
			}},
		}
	})
	return []*botctx.Node{{ID: "sales", Trigger: botctx.TextIs("sales"), Pre: botctx.Do(ask)}}
}

func autoEnd() []*botctx.Node {
	call := asks(func(bot *botctx.Context) livechat.CreateAssignmentParams {
		return livechat.CreateAssignmentParams{Member: bot.Member, SetLiveChatAgenda: new(false)}
	})
	arm := func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.NewAgenda(ctx, agenda.NewParams{
			MemberID: bot.Member.ID, TreeID: "live chat", NodeCompositeID: "auto end",
			NextRunAt: document.TimestampOf(bot.Now().Add(10 * time.Minute)), Tag: "auto end", Replace: true,
		})
		return err
	}
	end := func(ctx context.Context, bot *botctx.Context) error {
		ended, err := bot.InletEndLiveChat(ctx, livechat.InletEndParams{Member: bot.Member, Channel: bot.Channel})
		if err == nil {
			bot.Member = ended.Member
		}
		return err
	}
	later := []botctx.NodeRef{{CompositeID: "auto end", Tree: "live chat"}}
	return []*botctx.Node{
		{ID: "agent", Trigger: botctx.TextIs("agent"), Pre: botctx.Do(call, arm), Schedules: later},
		{ID: "again", Tree: "live chat", Trigger: botctx.AnyText(), Priority: botctx.MutePriority, Pre: botctx.Do(arm)},
		{
			ID: "auto end", Tree: "live chat", Pre: botctx.Do(end),
			Responses: botctx.Say("Nobody has written for ten minutes: back with the bot."),
		},
	}
}

func housekeeping() []*botctx.Node {
	call := asks(func(bot *botctx.Context) livechat.CreateAssignmentParams {
		return livechat.CreateAssignmentParams{Member: bot.Member, Meta: document.O("order", 7)}
	})
	cancel := func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.RemovePendingAssignmentByMemberID(ctx, livechat.RemovePendingAssignmentByMemberIDParams{MemberID: bot.Member.ID})
		return err
	}
	return []*botctx.Node{
		{ID: "agent", Trigger: botctx.TextIs("agent"), Pre: botctx.Do(call)},
		{ID: "rate", Tree: "live chat", Trigger: botctx.TextMatches(regexp.MustCompile(`^rate \d$`)), Pre: botctx.Do(rate)},
		{ID: "history", Trigger: botctx.TextIs("history"), Pre: botctx.Do(history)},
		{ID: "cancel", Tree: "live chat", Trigger: botctx.TextIs("cancel"), Pre: botctx.Do(cancel)},
		{ID: "done", Tree: "agents", Trigger: botctx.TextIs("#done"), Pre: botctx.Do(endLiveChat)},
	}
}

func rate(ctx context.Context, bot *botctx.Context) error {
	found, err := bot.GetAssignmentsByMemberID(ctx, livechat.GetAssignmentsByMemberIDParams{
		MemberID: bot.Member.ID, SortBy: document.O("createdAt", -1),
	})
	if err != nil {
		return err
	}
	rating, err := strconv.Atoi(strings.TrimPrefix(bot.MessageEvent.Text(), "rate "))
	if err != nil {
		return err
	}
	_, err = bot.UpdateAssignmentMeta(ctx, livechat.UpdateAssignmentMetaParams{
		AssignmentID: found[0].ID, Meta: found[0].Meta.With("rating", rating),
	})
	return err
}

func history(ctx context.Context, bot *botctx.Context) error {
	found, err := bot.GetAssignmentsByMeta(ctx, livechat.GetAssignmentsByMetaParams{Meta: document.O("order", 7)})
	if err != nil {
		return err
	}
	lines := make([]string, len(found))
	for i, listed := range found {
		one, err := bot.GetAssignment(ctx, livechat.GetAssignmentParams{AssignmentID: listed.ID})
		if err != nil {
			return err
		}
		rating := "not rated"
		if stars := document.Get(one.Meta, "rating", 0); stars > 0 {
			rating = strconv.Itoa(stars)
		}
		lines[i] = fmt.Sprintf("order %d: %s", document.Get(one.Meta, "order", 0), rating)
	}
	slices.Sort(lines)
	return reply(ctx, bot, strings.Join(lines, ", "))
}

// agendas are the patterns of what happens later.
func agendas() []pattern {
	return []pattern{
		{
			name: "idle-reminder", nodes: idleReminder,
			talk: func(s *stage) {
				bob := s.join(member.Member{FirstName: "Bob", Channel: "web"})
				s.says("order")
				bob.Says("order")
				s.Advance(4 * time.Minute)
				bob.Says("Bob")
				s.Advance(time.Hour)
			},
			want: "Ada: What is your name?\nBob: What is your name?\nBob: Thanks!\nAda: Are you still there, Ada?\n",
		},
		{
			name: "daily-agenda", nodes: dailyAgenda, needs: []string{"moment"},
			talk: func(s *stage) {
				s.says("subscribe")
				s.Advance(30 * 24 * time.Hour)
			},
			want: "Ada: Thu 09:00: tea (until 3 Jan)\nAda: Fri 09:00: tea (until 3 Jan)\nAda: Sat 09:00: tea (until 3 Jan)\n",
		},
		{
			name: "unsubscribe", nodes: unsubscribe,
			talk: func(s *stage) {
				s.says("order", "stop")
				s.Advance(time.Hour)
				s.says("hi")
			},
			want: "Ada: No more from me.\nAda: Hello\n",
		},
	}
}

func idleReminder() []*botctx.Node {
	remind := func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.NewAgenda(ctx, agenda.NewParams{
			MemberID: bot.Member.ID, NodeCompositeID: "reminder",
			NextRunAt: document.TimestampOf(bot.Now().Add(5 * time.Minute)), Tag: "idle", Replace: true,
		})
		return err
	}
	cancel := func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.DeleteMemberAgenda(ctx, agenda.DeleteParams{MemberID: bot.Member.ID, Tag: "idle"})
		return err
	}
	return []*botctx.Node{
		{
			ID: "name?", Trigger: botctx.TextIs("order"), SavesPosition: true, Schedules: botctx.Nodes("reminder"),
			Responses: botctx.Say("What is your name?"), Post: botctx.Do(remind),
		},
		{ID: "thanks", Parent: "name?", Trigger: botctx.AnyText(), Pre: botctx.Do(cancel), Responses: botctx.Say("Thanks!")},
		{ID: "reminder", Responses: botctx.Say("Are you still there, {{firstName}}?")},
	}
}

func dailyAgenda() []*botctx.Node {
	subscribe := func(ctx context.Context, bot *botctx.Context) error {
		year, month, day := bot.Now().UTC().Date()
		until := time.Date(year, month, day+3, 0, 0, 0, -int(time.Millisecond), time.UTC)
		_, err := bot.NewAgenda(ctx, agenda.NewParams{
			MemberID: bot.Member.ID, NodeCompositeID: "quote", Pattern: "0 9 * * *", RunUntil: document.TimestampOf(until), Tag: "daily",
			Meta: document.O("topic", "tea", "until", until.Format("2 Jan")),
		})
		return err
	}
	quote := func(ctx context.Context, bot *botctx.Context) error {
		return reply(ctx, bot, bot.Now().UTC().Format("Mon 15:04: ")+document.Get(bot.AgendaMeta, "topic", "")+
			" (until "+document.Get(bot.AgendaMeta, "until", "")+")")
	}
	return []*botctx.Node{
		{ID: "subscribe", Trigger: botctx.TextIs("subscribe"), Pre: botctx.Do(subscribe), Schedules: botctx.Nodes("quote")},
		{ID: "quote", Pre: botctx.Do(quote)},
	}
}

func unsubscribe() []*botctx.Node {
	remind := func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.NewAgenda(ctx, agenda.NewParams{
			MemberID: bot.Member.ID, NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(bot.Now().Add(time.Hour)),
		})
		return err
	}
	unsubscribe := func(_ context.Context, bot *botctx.Context) error {
		bot.Member.BotMeta.Set("subscribe", false)
		return nil
	}
	count := func(_ context.Context, bot *botctx.Context) error {
		bot.Member.Meta.Set("reminders", document.Get(bot.Member.Meta, "reminders", 0)+1)
		return nil
	}
	return []*botctx.Node{
		{ID: "order", Trigger: botctx.TextIs("order"), Post: botctx.Do(remind), Schedules: botctx.Nodes("reminder")},
		{ID: "stop", Trigger: botctx.TextIs("stop"), Pre: botctx.Do(unsubscribe), Responses: botctx.Say("No more from me.")},
		{ID: "reminder", Pre: botctx.Do(count), Responses: botctx.Say("Your order is waiting.")},
		{ID: "chat", Trigger: botctx.TextIs("hi"), Responses: botctx.Say("Hello")},
	}
}

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
