package livechattest_test

import (
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/livechat/livechattest"
	"github.com/botctx/go-sdk/send"
)

// losing returns a Send that loses some messages but reports success.
func losing(isLost func(t *tool, message send.Message) bool) func(t *tool, message send.Message) (send.Delivery, error) {
	return func(t *tool, message send.Message) (send.Delivery, error) {
		if isLost(t, message) {
			return send.Delivery{MessageID: message.ID, ChatID: message.To}, nil
		}
		return t.post(message)
	}
}

// dropping returns a reports function that drops some events.
func dropping(isDropped func(t *tool, in botctx.Inbound) bool) func(t *tool, in botctx.Inbound) []botctx.Inbound {
	return func(t *tool, in botctx.Inbound) []botctx.Inbound {
		if in.App != own && isDropped(t, in) {
			return nil
		}
		return []botctx.Inbound{in}
	}
}

// changing returns a reports function that changes each event.
func changing(change func(t *tool, event *send.MessageEvent)) func(t *tool, in botctx.Inbound) []botctx.Inbound {
	return func(t *tool, in botctx.Inbound) []botctx.Inbound {
		if in.App != own {
			change(t, &in.Event)
		}
		return []botctx.Inbound{in}
	}
}

func isText(in botctx.Inbound) bool { return in.Event.Type == send.TypeText }

// doubling returns a Send that posts some messages twice.
func doubling(isDoubled func(message send.Message) bool) func(t *tool, message send.Message) (send.Delivery, error) {
	return func(t *tool, message send.Message) (send.Delivery, error) {
		delivery, err := t.post(message)
		t.mu.Lock()
		defer t.mu.Unlock()
		if err == nil && isDoubled(message) {
			t.posted = append(t.posted, t.posted[len(t.posted)-1])
		}
		return delivery, err
	}
}

func isToAll(message send.Message) bool { return message.To == broadcast }

func isToOne(message send.Message) bool { return message.To != broadcast }

// forgetful is a host whose platform forgets all messages when a process starts.
type forgetful struct {
	livechattest.Host

	tool *tool
}

func (f forgetful) Restart() {
	f.tool.mu.Lock()
	f.tool.posted = nil
	f.tool.mu.Unlock()
	f.Host.Restart()
}

// restless is a host in whose conversations an agent writes all the time.
type restless struct {
	livechattest.Host

	tool *tool
}

func (r restless) Advance(by time.Duration) {
	r.Host.Advance(by / 2)
	r.tool.mu.Lock()
	to := slices.Clone(r.tool.groups)
	r.tool.mu.Unlock()
	for _, group := range to {
		r.tool.event(0, group, send.MessageEvent{Type: send.TypeText, Data: document.O("text", "…")})
	}
	for r.tool.deliver(r.tool.tb) {
		r.Host.Advance(0)
	}
	r.Host.Advance(by / 2)
}

// broken are outlets with defects, by name.
var broken = map[string]defect{
	"requests are lost": {
		sends:  losing(func(_ *tool, m send.Message) bool { return isToAll(m) }),
		breaks: []string{"RequestReachesTheAgents", "RequestSurvivesAnOutage"},
	},
	"requests are shown twice": {
		sends:  doubling(isToAll),
		breaks: []string{"RequestReachesTheAgents", "RequestSurvivesAnOutage"},
	},
	"requests of a helpdesk are shown twice": {
		isHelpdesk: true,
		sends:      doubling(isToAll),
		breaks:     []string{"RequestReachesTheAgents"},
	},
	"all agents are one": {
		reports: changing(func(_ *tool, event *send.MessageEvent) { event.From = agents()[0].ExternalID }),
		breaks:  []string{"FirstTakerWins"},
	},
	"all agents of a helpdesk are one": {
		isHelpdesk: true,
		reports:    changing(func(_ *tool, event *send.MessageEvent) { event.From = agents()[0].ExternalID }),
		breaks:     []string{"FirstWriterWins"},
	},
	"an author from another place": {
		reports: changing(func(_ *tool, event *send.MessageEvent) {
			if event.Type == send.TypeText {
				event.From = "bot of " + event.From
			}
		}),
		breaks: []string{"AnswerHasItsAuthor"},
	},
	"agents are not told": {
		sends: losing(func(_ *tool, m send.Message) bool {
			texts := livechat.DefaultTexts()
			return strings.HasPrefix(m.Response.Text(), "Taken by") || m.Response.Text() == texts.Late || m.Response.Text() == texts.Over
		}),
		breaks: []string{"FirstTakerWins", "EndByTheMember", "EndByTheHost", "EndBeforeAnAgentCame", "EndSurvivesAnOutage"},
	},
	"the bot is silent": {
		sends:  losing(func(_ *tool, m send.Message) bool { return m.AuthorID == "" && m.To != broadcast }),
		breaks: []string{"TakenConversationBeginsWithTheSummary", "KeptMessagesReachTheTakerInOrder", "RestartLosesNothing"},
	},
	"the bot stutters": {
		sends:  doubling(isToOne),
		breaks: []string{"TakenConversationBeginsWithTheSummary", "MemberReachesTheAgentInOrder", "MessagesSurviveAnOutage", "RestartLosesNothing"},
	},
	"the newest message comes first": {
		sends: func(t *tool, m send.Message) (send.Delivery, error) {
			delivery, err := t.post(m)
			t.mu.Lock()
			defer t.mu.Unlock()
			if last := len(t.posted) - 1; err == nil && m.To != broadcast {
				t.posted = append([]send.Message{t.posted[last]}, t.posted[:last]...)
			}
			return delivery, err
		},
		breaks: []string{"KeptMessagesReachTheTakerInOrder", "MemberReachesTheAgentInOrder", "MessagesSurviveAnOutage", "ConversationsAreNotMixed"},
	},
	"answers are lost": {
		reports: dropping(func(_ *tool, in botctx.Inbound) bool { return isText(in) }),
		breaks:  []string{"AnswerReachesTheMemberOnce", "AnswerHasItsAuthor", "EndByTheAgent", "ConversationsAreNotMixed", "ChatAfterAChat"},
	},
	"answers come twice": {
		reports: func(_ *tool, in botctx.Inbound) []botctx.Inbound {
			again := in
			again.Event.MessageID += " again"
			return []botctx.Inbound{in, again}
		},
		breaks: []string{"AnswerReachesTheMemberOnce", "FileReachesTheMember", "RestartLosesNothing"},
	},
	"messages without ids": {
		reports: changing(func(_ *tool, event *send.MessageEvent) { event.MessageID = "" }),
		breaks:  []string{"RepeatedReportIsOneMessage"},
	},
	"messages are known by their texts": {
		reports: changing(func(_ *tool, event *send.MessageEvent) {
			if event.Type == send.TypeText {
				event.MessageID = event.Text()
			}
		}),
		breaks: []string{"RepeatedReportIsOneMessage", "ChatAfterAChat"},
	},
	"messages of the member are shown as the bot's": {
		changes: func(_ *tool, h *livechattest.Harness) {
			shown := h.Outlet.Shown
			h.Outlet.Shown = func(in livechattest.Chat) []livechattest.Line {
				lines := shown(in)
				for i := range lines {
					lines[i].From = livechattest.FromBot
				}
				return lines
			}
		},
		breaks: []string{"MemberReachesTheAgentInOrder"},
	},
	"own messages come back": {
		reports: func(_ *tool, in botctx.Inbound) []botctx.Inbound {
			in.App = livechattest.App
			return []botctx.Inbound{in}
		},
		breaks: []string{"OwnMessagesAreKnown"},
	},
	"files are links to nothing": {
		reports: changing(func(_ *tool, event *send.MessageEvent) {
			if event.Type == send.TypeFile {
				event.Type, event.Data = send.TypeText, document.O("text", "a file")
			}
		}),
		breaks: []string{"FileReachesTheMember"},
	},
	"all conversations are one": {
		reports: changing(func(t *tool, event *send.MessageEvent) {
			t.mu.Lock()
			defer t.mu.Unlock()
			if event.To != broadcast && len(t.groups) > 0 {
				event.To = t.groups[0]
			}
		}),
		breaks: []string{"ConversationsAreNotMixed", "ChatAfterAChat"},
	},
	"a hand-back is not understood": {
		reports: dropping(func(_ *tool, in botctx.Inbound) bool { return in.Event.Type == send.TypeMisc }),
		breaks:  []string{"HandBackReturnsTheMember"},
	},
	"a helpdesk's end is not understood": {
		isHelpdesk: true,
		reports:    dropping(func(_ *tool, in botctx.Inbound) bool { return in.Event.Type == send.TypeMisc }),
		breaks:     []string{"EndByTheAgent", "HandBackReturnsTheMember", "ChatAfterAChat", "RestartLosesNothing"},
	},
	"the page never shows an end": {
		changes: func(_ *tool, h *livechattest.Harness) {
			h.Outlet.IsOver = func(livechattest.Chat) bool { return false }
		},
		breaks: []string{"HandBackReturnsTheMember", "EndByTheAgent", "EndByTheMember", "EndByTheHost", "EndByIdling", "EndSurvivesAnOutage"},
	},
	"a conversation is never idle": {
		changes: func(t *tool, h *livechattest.Harness) { h.Host = restless{h.Host, t} },
		breaks:  []string{"EndByIdling"},
	},
	"an outage looks like success": {
		sends:  losing(func(t *tool, _ send.Message) bool { return t.isDown }),
		breaks: []string{"RequestSurvivesAnOutage", "MessagesSurviveAnOutage"},
	},
	"an outage looks like a refusal": {
		sends: func(t *tool, m send.Message) (send.Delivery, error) {
			if t.isDown {
				return send.Delivery{}, boterr.New(boterr.FailedPrecondition, "", "archived: %w", &send.GoneError{})
			}
			return t.post(m)
		},
		breaks: []string{"MessagesSurviveAnOutage"},
	},
	"messages are forgotten at a restart": {
		changes: func(t *tool, h *livechattest.Harness) { h.Host = forgetful{h.Host, t} },
		breaks:  []string{"RestartLosesNothing"},
	},
}
