package simulator

import (
	"cmp"
	"context"
	"errors"
	"net/mail"
	"slices"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
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

// mostTold bounds the entries of a data source, messages of the outbox and choices on the page: the newest
// ones.
const mostTold = 200

// world returns the visible state of a branch.
func (s *session) world(ctx context.Context, id string) (world, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.branchOf(id)
	if err != nil {
		return world{}, err
	}
	w := world{
		Instance: s.instance, Revision: s.revision, Busy: s.busy, Bot: s.settings.Bot,
		Branch: b.id, Branches: s.toldBranches(), Now: b.platform.Now().UTC(), Current: b.at, Moments: b.toldMoments(),
		Operations: botctx.Ops(), Codes: boterr.Codes(), Platforms: channel.Types(), Groups: channel.InletGroups.Types(), FileTypes: fileTypes(),
		Accounts: []string{},
		Log:      b.toldLog(), Loads: s.loads, Stale: page.ProblemOf(s.stale), Faults: b.toldFaults(), Transcript: b.platform.Transcript(),
	}
	for _, one := range services {
		w.Services = append(w.Services, one.String())
	}
	for _, one := range s.settings.Accounts {
		w.Accounts = append(w.Accounts, one.Name())
	}
	w.Problem = page.ProblemOf(guarded(func() error { return b.tell(ctx, &w, s.settings) }))
	return w, nil
}

func (s *session) toldBranches() (told []shownBranch) {
	for _, b := range s.branches {
		told = append(told, shownBranch{ID: b.id, Name: b.name, Moments: len(b.moments)})
	}
	return told
}

func (b *branch) toldMoments() (told []shownMoment) {
	for i, m := range b.moments {
		one := shownMoment{Number: i, At: m.at.UTC(), What: m.what, IsKept: m.snapshot != nil, Error: page.ProblemOf(m.err)}
		if m.by != nil {
			one.By = m.by.id
		}
		told = append(told, one)
	}
	return told
}

func (b *branch) toldFaults() shownFaults {
	return shownFaults{Planned: orNone(b.platform.Planned()), Out: orNone(b.now().out), IsDown: b.now().isDown}
}

// tell collects the state of the platform, whatever is out of service: ctx is one of fakes.Observing. Parts
// that cannot be read, as from a failing store of the host, are an error, and the rest is collected.
func (b *branch) tell(ctx context.Context, w *world, settings Simulator) error {
	b.tellPeople(ctx, w)
	b.tellOutbox(w)
	b.tellServices(w, settings) //nolint:contextcheck // The platform takes none: nothing in it waits.
	w.Graph = b.platform.Runtime().Graph()
	w.Choices = b.toldChoices() //nolint:contextcheck // As above.
	return b.tellRecords(ctx, w)
}

// scopes returns the scopes of the apps of the members.
func (b *branch) scopes() (found []record.Scope) {
	for _, p := range b.people() {
		if p.isAgent() {
			continue
		}
		app := record.Scope{App: p.actor.Scope().App}
		if !slices.Contains(found, app) {
			found = append(found, app)
		}
	}
	return found
}

// orNone returns a list that is not nil, so that its JSON is none.
func orNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// newest returns the last of a list.
func newest[T any](list []T) []T { return list[max(0, len(list)-mostTold):] }

// toldChoices returns the choices with their reasons, the newest last.
func (b *branch) toldChoices() []shownChoice {
	told, all, writers := []shownChoice{}, b.platform.Choices(), map[record.Scope]string{}
	from := 0
	for number, m := range b.past() {
		to := m.chosen
		if number == b.at { // What is under way has chosen more.
			to = len(all)
		}
		to = min(to, len(all))
		for _, one := range all[min(from, to):to] {
			if _, isKnown := writers[one.Scope]; !isKnown {
				writers[one.Scope] = b.writerOf(one.Scope)
			}
			told = append(told, toldChoice(number, writers[one.Scope], one))
		}
		from = to
	}
	return slices.Clone(newest(told))
}

func toldChoice(number int, by string, made botctx.Choice) shownChoice {
	return shownChoice{
		Moment: number, By: by, Answer: made.Answer, Node: made.Node, IsMute: made.IsMute, Logic: made.Logic,
		Position: made.Position, Lost: made.Lost, Serving: made.Serving, IsInLiveChat: made.IsInLiveChat,
		Candidates: toldCandidates(made.Candidates), Others: toldCandidates(made.Others),
	}
}

// writerOf returns the id of the person who wrote in a scope, "" if they are not on the page.
func (b *branch) writerOf(scope record.Scope) string {
	i := slices.IndexFunc(b.people(), func(p *person) bool {
		if p.isAgent() {
			return p.agent.In(b.platform).Wrote(scope)
		}
		return p.actor.Scope() == scope
	})
	if i < 0 {
		return ""
	}
	return b.people()[i].id
}

func toldCandidates(all []botctx.Candidate) []shownCandidate {
	told := []shownCandidate{}
	for _, one := range all {
		told = append(told, shownCandidate{Node: one.Node, Rule: string(one.Rule), Why: one.Why})
	}
	return told
}

// tellPeople collects the people, their channels and their messages.
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

// channelIDs returns the channels of people, the channels that serve them, and the added ones.
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
	open, err := b.platform.Runtime().FindAssignments(ctx, m.App, botctx.Query{
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

// entry describes the message of a moment, as a person sees it.
func (m moment) entry(number int, seenBy *person) entry {
	return entry{
		At: m.at.UTC(), Moment: number, IsIn: m.by == seenBy, IsTap: m.said.isTap, From: m.by.name, Channel: m.by.channel(),
		Type: cmp.Or(m.said.file, send.TypeText), Text: m.said.text, URL: m.said.url, Error: page.ProblemOf(m.err),
	}
}

// tellOutbox collects all sent messages.
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

// tellRecords tells the agendas, the requests for a person and the data.
func (b *branch) tellRecords(ctx context.Context, w *world) error {
	w.Agendas, w.Assignments, w.Data = []document.Object{}, []document.Object{}, []shownData{}
	var problems []error
	for _, p := range b.people() {
		if !p.isAlone() {
			continue
		}
		for _, due := range p.actor.In(b.platform).Agendas() { //nolint:contextcheck // The platform takes none: nothing in it waits.
			told, err := document.Encode(*due)
			w.Agendas, problems = append(w.Agendas, told), append(problems, err)
		}
	}
	for _, name := range b.platform.DataSources() {
		all := b.platform.Data(name) //nolint:contextcheck // The platform takes none: nothing in it waits.
		w.Data = append(w.Data, shownData{Name: name, Count: len(all), Entries: newest(all)})
	}
	for _, scope := range b.scopes() {
		problems = append(problems, b.tellAssignments(ctx, w, scope))
	}
	return errors.Join(problems...)
}

// tellAssignments tells the requests of an app, the oldest first, each with its state.
func (b *branch) tellAssignments(ctx context.Context, w *world, scope record.Scope) error {
	found, err := b.platform.Runtime().FindAssignments(ctx, scope.App, botctx.Query{SortBy: document.O("createdAt", 1)})
	if err != nil {
		return err
	}
	for _, one := range newest(found) {
		told, err := document.Encode(*one)
		if err != nil {
			return err
		}
		w.Assignments = append(w.Assignments, told.With("state", string(one.State())))
	}
	return nil
}

// tellServices collects the bot's effects other than messages, and the dead letters.
func (b *branch) tellServices(w *world, settings Simulator) {
	w.Mails, w.Files, w.Payments, w.DeadLetters = []shownMail{}, []shownFile{}, []shownPayment{}, []shownDeadLetter{}
	for _, one := range newest(b.platform.Mails()) {
		w.Mails = append(w.Mails, toldMail(one))
	}
	for _, one := range newest(b.platform.Files()) {
		w.Files = append(w.Files, shownFile{At: one.StoredAt.UTC(), Key: one.Key, Type: one.ContentType, Size: len(one.Content)})
	}
	for _, account := range settings.Accounts {
		for _, one := range newest(account.In(b.platform).Payments()) {
			w.Payments = append(w.Payments, shownPayment{one})
		}
	}
	for _, one := range newest(b.platform.DeadLetters()) {
		w.DeadLetters = append(w.DeadLetters, shownDeadLetter{
			ID: one.ID, From: one.Event.From, At: one.DiedAt.UTC(), Failures: one.Failures, Code: one.Code, Error: one.Error,
		})
	}
}

// toldMail tells a mail by its text, and where it has none by its HTML.
func toldMail(sent fakes.Mail) shownMail {
	told := shownMail{At: sent.SentAt.UTC(), To: addresses(sent.To), CC: addresses(sent.CC), Subject: sent.Subject.Data}
	switch {
	case sent.Text != nil:
		told.Text = sent.Text.Data
	case sent.HTML != nil:
		told.Text, told.IsHTML = sent.HTML.Data, true
	}
	return told
}

func addresses(all []mail.Address) []string {
	told := []string{}
	for _, one := range all {
		told = append(told, one.String())
	}
	return told
}
