package simulator

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/page"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/render"
	"github.com/botctx/go-sdk/internal/session"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// mostTold bounds the shown entries of a data source, messages of the outbox and choices: the newest ones are
// shown.
const mostTold = 200

// world returns the visible state of a branch.
func (s *simulation) world(ctx context.Context, id string) (world, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := s.branchOf(id)
	if err != nil {
		return world{}, err
	}
	w := world{
		Instance: s.instance, Revision: s.revision, Busy: s.busy, Bot: s.settings.Bot,
		Branch: b.id, Branches: s.toldBranches(), Now: b.Platform().Now().UTC(), Current: b.at, Moments: b.toldMoments(),
		Operations: botctx.Ops(), Codes: boterr.Codes(), Platforms: channel.Types(), Groups: channel.InletGroups.Types(), FileTypes: fileTypes(),
		Accounts: []string{},
		Log:      b.toldLog(), Loads: s.loads, Stale: page.ProblemOf(s.stale), Faults: b.toldFaults(), Transcript: b.Platform().Transcript(),
	}
	for _, one := range services {
		w.Services = append(w.Services, one.String())
	}
	for _, one := range s.settings.Accounts {
		w.Accounts = append(w.Accounts, one.Name())
	}
	w.Problem = page.ProblemOf(session.Guarded(func() error { return b.tell(ctx, &w, s.settings) }))
	return w, nil
}

func (s *simulation) toldBranches() (told []shownBranch) {
	for _, b := range s.branches {
		told = append(told, shownBranch{ID: b.id, Name: b.name, Moments: len(b.moments)})
	}
	return told
}

func (b *branch) toldMoments() (told []shownMoment) {
	for i, m := range b.moments {
		one := shownMoment{Number: i, At: m.at.UTC(), What: m.what, IsKept: m.place.IsKept(), Error: page.ProblemOf(m.err)}
		if m.by != nil {
			one.By = m.by.ID
		}
		told = append(told, one)
	}
	return told
}

func (b *branch) toldFaults() shownFaults {
	told := shownFaults{Planned: orNone(b.Platform().Planned()), Out: []string{}, IsDown: b.now().isDown}
	for _, lasting := range b.Platform().LastingFaults() {
		told.Out = append(told.Out, b.out(lasting))
	}
	return told
}

// out returns the name of what a lasting fault takes out of service: "mail", "the channel page", "messages to Ada".
func (b *branch) out(lasting fakes.Fault) string {
	isRefusal := lasting.Kind == fakes.KindRefuses
	switch {
	case isRefusal && lasting.Service == fakes.ServiceMail:
		return "mail to " + lasting.To
	case isRefusal:
		return "messages to " + b.recipient(lasting)
	case lasting.Kind == fakes.KindDown && lasting.Part == "":
		return lasting.Service.String()
	case lasting.Kind == fakes.KindDown && lasting.Service == fakes.ServiceMessages:
		return "the channel " + lasting.Part
	default:
		return lasting.String()
	}
}

// recipient returns the name of the person whose messages are refused, or an id on the platform.
func (b *branch) recipient(refused fakes.Fault) string {
	for _, p := range b.people() {
		if to := p.Refused(refused.Err); to.Part == refused.Part && to.App == refused.App && to.To == refused.To {
			return p.Name
		}
	}
	return refused.To
}

// tell collects the state of the platform, even of services that are down, because ctx comes from fakes.Observing. If
// a part cannot be read, such as from a failing store of the host, it returns an error and collects the rest.
func (b *branch) tell(ctx context.Context, w *world, settings Simulator) error {
	b.tellPeople(ctx, w)
	b.tellOutbox(w)
	b.tellServices(w, settings) //nolint:contextcheck // The platform takes none: nothing in it waits.
	w.Graph = b.Platform().Runtime().Graph()
	w.Choices = b.toldChoices()
	return b.tellRecords(ctx, w)
}

// scopes returns the scopes of the apps of the members.
func (b *branch) scopes() (found []botctx.Scope) {
	for _, p := range b.people() {
		if p.IsAgent() {
			continue
		}
		app := botctx.Scope{App: p.Actor.Scope().App}
		if !slices.Contains(found, app) {
			found = append(found, app)
		}
	}
	return found
}

// orNone returns a list that is not nil, so that its JSON is [].
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
	told, all, writers := []shownChoice{}, b.Platform().Choices(), map[botctx.Scope]string{}
	from := 0
	for number, m := range b.past() {
		to := m.chosen
		if number == b.at { // The action in progress has chosen more.
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

// writerOf returns the id of the person who wrote in a scope, or "" if they are not on the page.
func (b *branch) writerOf(scope botctx.Scope) string {
	i := slices.IndexFunc(b.people(), func(p *session.Person) bool { return p.Wrote(scope, b.Platform()) })
	if i < 0 {
		return ""
	}
	return b.people()[i].ID
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
		if p.IsAgent() {
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
		add(p.Channel())
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
		paired, err := channels.New(b.Platform().Runtime().Env(), record.Scope(scope)).Pairing(ctx, id)
		if err == nil && len(paired.Outlets) > 0 {
			return paired.Outlets
		}
	}
	return []string{}
}

// toldChannel describes a channel, as far as it can be read.
func (b *branch) toldChannel(ctx context.Context, id string) shownChannel {
	told := shownChannel{ID: id, Outlets: b.outletsOf(ctx, id)}
	for _, scope := range b.scopes() {
		if found, err := channels.New(b.Platform().Runtime().Env(), record.Scope(scope)).Load(ctx, id); err == nil {
			told.Platform, told.Name, told.IsOn = found.Type, found.Name, found.On
		}
	}
	return told
}

func (b *branch) toldMember(ctx context.Context, p *session.Person) shownMember {
	actor := p.Actor.In(b.Platform())
	m := actor.Member() //nolint:contextcheck // The platform takes none: nothing in it waits.
	told := shownMember{
		ID: p.ID, Member: p.Actor.ID(), Name: p.Name, Channel: p.Channel(), ExternalID: actor.ExternalID(),
		Position: botctx.NodeRef{CompositeID: m.BotMeta.NodeCompositeID(), Tree: m.BotMeta.Tree()},
		Group:    p.Group(), IsInLiveChat: b.isInLiveChat(ctx, p, m), Talk: b.talkOf(p, actor.Tappables()), //nolint:contextcheck // As above.
	}
	told.Record, _ = document.Encode(m) // It was read from a document.
	return told
}

// isInLiveChat reports whether an agent answers a person: the member is in a live chat that was requested in
// the same place, the group or alone with the bot.
func (b *branch) isInLiveChat(ctx context.Context, p *session.Person, m *member.Member) bool {
	if !m.BotMeta.LiveChat() {
		return false
	}
	open, err := b.Platform().Runtime().FindAssignments(ctx, m.App, botctx.Query{
		Filter: document.O("member", m.ID, "endedAt", document.O("$exists", false)),
	})
	isHere := func(one *livechat.AssignmentRecord) bool {
		return document.Get(one.InletGroupInfo, "externalId", "") == p.Group()
	}
	return err != nil || len(open) == 0 || slices.ContainsFunc(open, isHere)
}

func (b *branch) toldAgent(p *session.Person) shownAgent {
	agent := p.Agent.In(b.Platform())
	told := shownAgent{ID: p.ID, Name: p.Name, Channel: p.Channel(), Groups: orNone(agent.Groups()), Tickets: []shownTicket{}}
	hidden := map[string]bool{}
	for _, ticket := range agent.Tickets() {
		hidden[ticket.MessageID] = true
		if ticket.IsRecalled {
			continue
		}
		told.Tickets = append(told.Tickets, shownTicket{
			Message: ticket.MessageID, At: ticket.SentAt.UTC(), Group: ticket.Group, Text: ticket.Text(),
			IsOpen: ticket.IsOpen(),
		})
	}
	told.Talk = slices.DeleteFunc(b.talkOf(p, nil), func(e entry) bool { return !e.IsIn && hidden[e.ID] })
	return told
}

// talkOf returns the messages by and to a person, in order.
func (b *branch) talkOf(p *session.Person, taps []fakes.Tappable) []entry {
	talk, groups, all := []entry{}, []fakes.Group(nil), b.Platform().Sent()
	if p.IsAgent() {
		groups = b.Platform().Groups(p.Channel())
	}
	from := 0
	for number, m := range b.past() {
		if m.by != nil && !m.said.isZero() && p.IsWith(m.by) {
			talk = append(talk, m.entry(number, p))
		}
		to := m.sent
		if number == b.at { // The action in progress has sent more.
			to = len(all)
		}
		to = min(to, len(all))
		for _, sent := range all[min(from, to):to] {
			if !sent.IsRepeat && p.Gets(sent, groups) && sent.Shown.Type() != send.TypeTyping {
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
func (m moment) entry(number int, seenBy *session.Person) entry {
	return entry{
		At: m.at.UTC(), Moment: number, IsIn: m.by.ID == seenBy.ID, IsTap: m.said.isTap, From: m.by.Name, Channel: m.by.Channel(),
		Type: cmp.Or(m.said.file, send.TypeText), Message: render.Message{Text: m.said.text, URL: m.said.url}, Error: page.ProblemOf(m.err),
	}
}

// tellOutbox collects all sent messages.
func (b *branch) tellOutbox(w *world) {
	names := map[string]string{}
	for _, p := range b.people() {
		names[p.ID] = p.Name
		if p.IsAgent() {
			names[p.Agent.ExternalID()] = p.Name
		}
	}
	w.Outbox = []entry{}
	for _, sent := range newest(b.Platform().Sent()) {
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

// tellRecords collects the agendas, the requests for a person and the data.
func (b *branch) tellRecords(ctx context.Context, w *world) error {
	w.Agendas, w.Assignments, w.Data = []document.Object{}, []document.Object{}, []shownData{}
	var problems []error
	for _, p := range b.people() {
		if !p.IsAlone() {
			continue
		}
		for _, due := range p.Actor.In(b.Platform()).Agendas() { //nolint:contextcheck // The platform takes none: nothing in it waits.
			told, err := document.Encode(*due)
			w.Agendas, problems = append(w.Agendas, told), append(problems, err)
		}
	}
	for _, name := range b.Platform().DataSources() {
		all := b.Platform().Data(name) //nolint:contextcheck // The platform takes none: nothing in it waits.
		w.Data = append(w.Data, shownData{Name: name, Count: len(all), Entries: newest(all)})
	}
	for _, scope := range b.scopes() {
		problems = append(problems, b.tellAssignments(ctx, w, scope))
	}
	return errors.Join(problems...)
}

// tellAssignments collects the requests of an app, the oldest first, each with its state.
func (b *branch) tellAssignments(ctx context.Context, w *world, scope botctx.Scope) error {
	found, err := b.Platform().Runtime().FindAssignments(ctx, scope.App, botctx.Query{SortBy: document.O("createdAt", 1)})
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
	w.Mails, w.Files, w.Payments, w.DeadLetters = []render.Entry{}, []shownFile{}, []utility.Payment{}, []shownDeadLetter{}
	for _, one := range newest(b.Platform().Mails()) {
		w.Mails = append(w.Mails, render.Mail(one.SentAt.UTC(), one.Mail))
	}
	for _, one := range newest(b.Platform().Files()) {
		w.Files = append(w.Files, shownFile{At: one.StoredAt.UTC(), Key: one.Key, Type: one.ContentType, Size: len(one.Content)})
	}
	for _, account := range settings.Accounts {
		w.Payments = append(w.Payments, newest(account.In(b.Platform()).Payments())...)
	}
	for _, one := range newest(b.Platform().DeadLetters()) {
		w.DeadLetters = append(w.DeadLetters, shownDeadLetter{
			ID: one.ID, From: one.Event.From, At: one.DiedAt.UTC(), Failures: one.Failures, Code: one.Code, Error: one.Error,
		})
	}
}
