package fakes

import (
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// Snapshot is the state of a platform at one moment: its records, clock, messages, calls, messaging
// platforms, mails, files, payments and planned faults. It is immutable.
type Snapshot struct {
	store    memstore.Snapshot
	web      *web.Replies
	now      time.Time
	ids      table[string, int]
	faults   plannedFaults
	calls    []Call
	outbox   kept
	lines    []line
	choices  []botctx.Choice
	channels table[string, string]
	mails    keptMails
	files    table[string, File]
	payments keptPayments
	data     table[dataSource, bool]
	isDown   bool
}

// Snapshot returns the platform's current state. It copies no records. No call may be in progress.
func (p *Platform) Snapshot() *Snapshot {
	p.test.Helper()
	now := p.state(p.memory())
	return &now
}

// state returns the platform's current state, with a snapshot of the given store.
func (p *Platform) state(memory *memstore.Store) Snapshot {
	return Snapshot{
		store: memory.Snapshot(), web: p.HTTP.Clone(), now: p.Now(), ids: p.ids.state(), faults: p.faults.state(),
		calls: p.calls.all(), outbox: p.outbox.state(), lines: p.transcript.all(), choices: p.choices.all(), channels: p.channels.state(),
		mails: p.mails.state(), files: p.files.state(), payments: p.payments.state(), data: p.dataSources.state(),
		isDown: p.IsDown(),
	}
}

// clone returns a copy that a platform can take over.
func (s *Snapshot) clone() *Snapshot {
	return &Snapshot{
		store: s.store, web: s.web.Clone(), now: s.now, ids: s.ids.clone(), faults: s.faults.clone(),
		calls: s.calls, outbox: s.outbox.clone(), lines: s.lines, choices: s.choices,
		channels: s.channels.clone(), mails: s.mails.clone(), files: s.files.clone(), payments: s.payments.clone(), data: s.data.clone(),
		isDown: s.isDown,
	}
}

// Restore sets the platform back to an earlier state of itself, or of the platform that it was forked from.
// No call may be in progress. HTTP is replaced. It ends the test if the snapshot is nil.
func (p *Platform) Restore(s *Snapshot) {
	p.test.Helper()
	if s == nil {
		p.test.Fatalf("fakes: Restore: the snapshot is nil; take one with Snapshot")
		return
	}
	p.restoreProcess(s)
	p.goOnFrom(p.memory(), s.clone())
}

// goOnFrom sets the platform, whose store is memory, to the state s, and takes ownership of s.
func (p *Platform) goOnFrom(memory *memstore.Store, s *Snapshot) {
	memory.Restore(s.store)
	p.HTTP = s.web
	p.clock.set(s.now)
	p.ids.set(s.ids)
	p.faults.set(s.faults)
	p.calls.set(s.calls)
	p.outbox.set(s.outbox)
	p.transcript.set(s.lines)
	p.choices.set(s.choices)
	p.channels.set(s.channels)
	p.mails.set(s.mails)
	p.files.set(s.files)
	p.payments.set(s.payments)
	p.dataSources.set(s.data)
	if err := p.countAccepted(); err != nil {
		p.test.Helper()
		p.test.Fatalf("fakes: Restore: %v", err)
	}
}

// restoreProcess makes the process run or be down, as in the snapshot.
func (p *Platform) restoreProcess(s *Snapshot) {
	if s.isDown {
		p.Crash()
	} else if p.IsDown() {
		p.test.Helper()
		p.Restart()
	}
}

// countAccepted makes the inbox count its waiting events again, because they have changed.
func (p *Platform) countAccepted() error {
	if !p.settings.hasInbox {
		return nil
	}
	_, err := p.Runtime().InboxStats(testContext())
	return err
}

// Fork returns a separate platform that continues from the state of this one, with the same logic and test,
// but without the OnEvent functions of payment accounts. Changes on one of the two are not visible on the
// other. Actor.In and Account.In return an actor or account of the fork. No call may be in progress.
func (p *Platform) Fork() *Platform {
	p.test.Helper()
	now := p.state(p.memory())
	fork := assemble(p.settings)
	fork.restoreProcess(&now)
	fork.goOnFrom(fork.memory(), &now)
	if action := p.action.Load(); action != nil {
		fork.HandleFunc(*action)
	}
	if nodes := p.nodes.all(); len(nodes) > 0 {
		fork.Handle(nodes...)
	}
	fork.expectEveryMessage()
	return fork
}

// memory returns the platform's in-memory store, which can be copied. It ends the test if the platform has a
// different store.
func (p *Platform) memory() *memstore.Store {
	memory, ok := p.store.(*memstore.Store)
	if !ok {
		p.test.Helper()
		p.test.Fatalf("fakes: the platform keeps its records in a %T, which cannot be copied: leave the Store of Config as it is", p.store)
		return memstore.New()
	}
	return memory
}

// Channels is a fake of the operations on channels, backed by a whole platform.
type Channels struct {
	channel.Operations
	OneMember
}

// NewChannels returns the operations on channels, on a new platform.
func NewChannels(options ...Option) *Channels {
	one := newOneMember(options)
	return &Channels{one.Member.Context(), one}
}

// Members is a fake of the operations on members, backed by a whole platform.
type Members struct {
	member.Operations
	OneMember
}

// NewMembers returns the operations on members, on a new platform.
func NewMembers(options ...Option) *Members {
	one := newOneMember(options)
	return &Members{one.Member.Context(), one}
}

// DataSources is a fake of the operations on data sources, backed by a whole platform.
type DataSources struct {
	datasource.Operations
	OneMember
}

// NewDataSources returns the operations on data sources, on a new platform.
func NewDataSources(options ...Option) *DataSources {
	one := newOneMember(options)
	return &DataSources{one.Member.Context(), one}
}

// Agendas is a fake of the operations on agendas, backed by a whole platform.
type Agendas struct {
	agenda.Operations
	OneMember
}

// NewAgendas returns the operations on agendas, on a new platform.
func NewAgendas(options ...Option) *Agendas {
	one := newOneMember(options)
	return &Agendas{one.Member.Context(), one}
}

// LiveChats is a fake of the operations for live chat, backed by a whole platform with one agent who serves the
// member.
type LiveChats struct {
	livechat.Operations
	OneMember

	// Agent serves the member, in an outlet of type charlie with one broadcast group.
	Agent *Agent
}

// NewLiveChats returns the operations for live chat on a new platform.
func NewLiveChats(options ...Option) *LiveChats {
	one := newOneMember(options)
	p := one.Platform
	outlet := p.AddChannel(channel.Channel{Type: channel.Charlie, BroadcastGroups: []channel.BroadcastGroup{{
		Label: livechat.DefaultLabel, Groups: []channel.BroadcastGroupMember{{ID: "agents", Type: "public_channel"}},
	}}})
	p.Pair(one.Member.Scope().Channel, outlet.ID)
	return &LiveChats{one.Member.Context(), one, p.AddAgent(outlet.ID, "Grace")}
}

// Nodes is a fake of the operations on nodes, backed by a whole platform. Add the nodes with the platform's Handle.
type Nodes struct {
	botctx.NodeOperations
	OneMember
}

// NewNodes returns the operations on nodes, on a new platform.
func NewNodes(options ...Option) *Nodes {
	one := newOneMember(options)
	return &Nodes{one.Member.Context(), one}
}

// Sends is a fake of the operations for sending, backed by a whole platform.
type Sends struct {
	send.Operations
	OneMember
}

// NewSends returns the operations for sending on a new platform.
func NewSends(options ...Option) *Sends {
	one := newOneMember(options)
	return &Sends{one.Member.Context(), one}
}

// OneMember is a new platform with one member in one webchat channel.
type OneMember struct {
	// Platform carries out the operations, in the scope of Member.
	Platform *Platform
	Member   *Actor
}

func newOneMember(options []Option) OneMember {
	p := New(options...)
	return OneMember{Platform: p, Member: p.AddMember(member.Member{})}
}
