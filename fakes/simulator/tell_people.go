package simulator

import (
	"cmp"
	"context"
	"slices"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/page"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// tellPeople tells who is there, where, and what was said.
func (b *branch) tellPeople(ctx context.Context, w *world) {
	w.Members, w.Agents, w.Channels = []shownMember{}, []shownAgent{}, []shownChannel{}
	types := map[string]channel.Type{}
	for _, id := range channelIDs(ctx, b) {
		told := b.toldChannel(ctx, id)
		types[id] = told.Platform
		w.Channels = append(w.Channels, told)
	}
	for _, p := range b.people() {
		if p.isAgent() {
			told := b.toldAgent(p) //nolint:contextcheck // The platform takes none: nothing in it waits.
			told.Platform = types[told.Channel]
			w.Agents = append(w.Agents, told)
		} else {
			told := b.toldMember(ctx, p)
			told.Platform = types[told.Channel]
			w.Members = append(w.Members, told)
		}
	}
}

// channelIDs returns the channels where somebody is, that serve them, or that were added.
func channelIDs(ctx context.Context, b *branch) []string {
	var ids []string
	add := func(id string) {
		if id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, p := range b.people() {
		add(p.channel())
	}
	for _, id := range b.now().channels {
		add(id)
	}
	for _, id := range slices.Clone(ids) {
		for _, outlet := range b.outletsOf(ctx, id) {
			add(outlet)
		}
	}
	return ids
}

// outletsOf returns the channels that serve the live chats of a channel.
func (b *branch) outletsOf(ctx context.Context, id string) []string {
	for _, scope := range b.scopes() {
		paired, err := channels.New(b.platform.Runtime().Env(), scope).Pairing(ctx, id)
		if err == nil && len(paired.Outlets) > 0 {
			return paired.Outlets
		}
	}
	return []string{}
}

// toldChannel tells a channel, as far as it can be read.
func (b *branch) toldChannel(ctx context.Context, id string) shownChannel {
	told := shownChannel{ID: id, Outlets: b.outletsOf(ctx, id)}
	for _, scope := range b.scopes() {
		if found, err := channels.New(b.platform.Runtime().Env(), scope).Load(ctx, id); err == nil {
			told.Platform, told.Name, told.IsOn = found.Type, found.Name, found.On
		}
	}
	return told
}

func (b *branch) toldMember(ctx context.Context, p *person) shownMember {
	actor := p.actor.In(b.platform)
	m := actor.Member() //nolint:contextcheck // The platform takes none: nothing in it waits.
	told := shownMember{
		ID: p.id, Member: p.actor.ID(), Name: p.name, Channel: p.channel(), ExternalID: actor.ExternalID(),
		Position: botctx.NodeRef{CompositeID: m.BotMeta.NodeCompositeID(), Tree: m.BotMeta.Tree()},
		Group:    p.group(), IsInLiveChat: b.isInLiveChat(ctx, p, m), Talk: b.talkOf(p, actor.Tappables()),
	}
	told.Record, _ = document.Encode(m) // It was read from a document.
	return told
}

// isInLiveChat reports whether an agent answers a person: the member is in a live chat that was asked for where the
// person writes, in the group or alone with the bot.
func (b *branch) isInLiveChat(ctx context.Context, p *person, m *member.Member) bool {
	if !m.BotMeta.LiveChat() {
		return false
	}
	open, err := b.platform.Runtime().LiveChats(m.App).FindAssignments(ctx, record.Query{
		Filter: document.O("member", m.ID, "endedAt", document.O("$exists", false)),
	})
	isHere := func(one *livechat.AssignmentRecord) bool {
		return document.Get(one.InletGroupInfo, "externalId", "") == p.group()
	}
	return err != nil || len(open) == 0 || slices.ContainsFunc(open, isHere)
}

func (b *branch) toldAgent(p *person) shownAgent {
	agent := p.agent.In(b.platform)
	told := shownAgent{ID: p.id, Name: p.name, Channel: p.channel(), Groups: orNone(agent.Groups()), Tickets: []shownTicket{}}
	hidden := map[string]bool{}
	for _, ticket := range agent.Tickets() {
		hidden[ticket.MessageID] = true
		if ticket.IsRecalled {
			continue
		}
		told.Tickets = append(told.Tickets, shownTicket{
			Message: ticket.MessageID, At: ticket.SentAt.UTC(), Group: ticket.Group, Text: ticket.Text(),
			IsOpen: ticket.IsOpen() && ticket.Assignment != "",
		})
	}
	told.Talk = slices.DeleteFunc(b.talkOf(p, nil), func(e entry) bool { return !e.IsIn && hidden[e.ID] })
	return told
}

// talkOf returns what a person said and was sent, in order.
func (b *branch) talkOf(p *person, taps []fakes.Tappable) []entry {
	talk, groups, all := []entry{}, []fakes.Group(nil), b.platform.Sent()
	if p.isAgent() {
		groups = b.platform.Groups(p.channel())
	}
	from := 0
	for number, m := range b.past() {
		if m.by != nil && !m.said.isZero() && (m.by == p || p.isWith(m.by)) {
			talk = append(talk, m.entry(number, p))
		}
		to := m.sent
		if number == b.at { // What is under way has sent more.
			to = len(all)
		}
		to = min(to, len(all))
		for _, sent := range all[min(from, to):to] {
			if p.gets(sent, groups) && sent.Shown.Type() != send.TypeTyping {
				told := entryOf(sent, taps)
				told.Moment = number
				talk = append(talk, told)
			}
		}
		from = to
	}
	return talk
}

// entry tells what was said at a moment, as a person sees it.
func (m moment) entry(number int, seenBy *person) entry {
	return entry{
		At: m.at.UTC(), Moment: number, IsIn: m.by == seenBy, IsTap: m.said.isTap, From: m.by.name, Channel: m.by.channel(),
		Type: cmp.Or(m.said.file, send.TypeText), Text: m.said.text, URL: m.said.url, Error: page.ProblemOf(m.err),
	}
}

// tellOutbox tells what was sent, to whomever.
func (b *branch) tellOutbox(w *world) {
	names := map[string]string{}
	for _, p := range b.people() {
		names[p.id] = p.name
		if p.isAgent() {
			names[p.agent.ExternalID()] = p.name
		}
	}
	w.Outbox = []entry{}
	for _, sent := range newest(b.platform.Sent()) {
		told := entryOf(sent, nil)
		told.To = sent.To
		for _, id := range []string{sent.To, sent.Member} {
			if name, isKnown := names[id]; isKnown {
				told.To = name
			}
		}
		w.Outbox = append(w.Outbox, told)
	}
}
