package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// The scenes of operations on records.
var (
	// anEntry is an entry in the data source, with a place.
	anEntry = &scene{begin: func(t *trial, base *place) *place {
		t.seed(base, document.O("_id", "a", "text", "x", "location", point(1, 0)))
		return base
	}}
	// anAgenda is an agenda of the member.
	anAgenda = &scene{begin: func(t *trial, base *place) *place {
		t.Helper()
		require.NoError(t, errorOf(base.NewAgenda(t.ctx(), agenda.NewAgendaParams{
			MemberID: base.scope.Member, NodeCompositeID: base.node, NextRunAt: later, Tag: "tag",
		})))
		return base
	}}
	// aNode is a node of the place.
	aNode = &scene{needs: []Capability{handleNodes}, begin: func(t *trial, base *place) *place {
		t.Handle(&botctx.Node{ID: base.node, Pre: []botctx.Action{sets("seen")}})
		return base
	}}
	// anAccount is a payment account of the app.
	anAccount = &scene{needs: []Capability{addAccounts}, begin: func(t *trial, base *place) *place {
		t.AddAccount(base.scope.App, base.account())
		return base
	}}
	// aFile is a file at an address, which can be uploaded.
	aFile = &scene{needs: []Capability{readFiles}, begin: func(t *trial, base *place) *place {
		other := *base
		other.url = t.Serve("application/pdf", "bill").URL
		return &other
	}}
)

// The scenes of operations that send, in a channel of a platform.
var (
	onAlpha   = aChannelOn(channel.Alpha)
	onCharlie = aChannelOn(channel.Charlie)
	onDelta   = aChannelOn(channel.Delta)
	onEcho    = aChannelOn(channel.Echo)
	onHotel   = aChannelOn(channel.Hotel)
)

// aChannelOn is a channel of a platform, with what the operations of the platform work on.
func aChannelOn(platform channel.Type) *scene {
	return &scene{platform: platform, begin: func(t *trial, base *place) *place { return t.onIn(base, platform) }}
}

// The scenes of operations of live chat. The place is that of the member who asks, or of the
// agents' side.
var (
	anOpenDesk = &scene{needs: liveChatNeeds()[1:], begin: func(t *trial, base *place) *place {
		asking := t.asking(base)
		asking.chat.desk = t.openDesk(base, t.ticketing())
		return asking
	}}
	atInlet = &scene{needs: liveChatNeeds()[1:], begin: func(t *trial, base *place) *place {
		return t.chatting(t.asking(base), t.ticketing())
	}}
	atDesk = &scene{needs: liveChatNeeds()[1:], begin: func(t *trial, base *place) *place {
		return t.deskOf(t.chatting(t.asking(base), t.ticketing()))
	}}
	// withMeta is atInlet, where the group has a meta.
	withMeta = &scene{needs: liveChatNeeds()[1:], begin: func(t *trial, base *place) *place {
		p := t.chatting(t.asking(base), t.ticketing())
		t.setGroup(p, p.group().ID, "meta", document.O("text", "x"))
		return p
	}}
	// handedOn is atInlet, where the assignment was handed on.
	handedOn = &scene{needs: liveChatNeeds()[1:], begin: func(t *trial, base *place) *place {
		p := t.chatting(t.asking(base), t.ticketing())
		require.NoError(t, errorOf(p.ReassignAssignment(t.ctx(), livechat.ReassignAssignmentParams{
			Channel: p.desk().Channel, Label: "sales", MessageEvent: p.event(),
		})))
		return p
	}}
	atBravoDesk = &scene{platform: channel.Bravo, needs: liveChatNeeds()[1:], begin: beginOnBravo}
	// atBravoPictures is atBravoDesk with a picture at an address.
	atBravoPictures = &scene{
		platform: channel.Bravo, needs: append(liveChatNeeds()[1:], serveFiles), begin: func(t *trial, base *place) *place {
			p := beginOnBravo(t, base)
			p.url = t.Serve("image/gif", picture).URL
			return p
		},
	}
	// inFamily is a live chat of a member who has asked in a group on Bravo.
	inFamily = &scene{platform: channel.Bravo, needs: liveChatNeeds()[1:], begin: func(t *trial, base *place) *place {
		inlet := t.at(base, t.newChannelOf(base, channel.Bravo), nil)
		asking := t.asking(inlet)
		return t.chatting(t.inGroup(asking, familyOf(asking.member.ID)), t.ticketing())
	}}
)

// chat is a live chat that calls of operations work with.
type chat struct {
	desk *desk
	// assignment has been taken, group is that of it, and event was written there.
	assignment *livechat.Assignment
	group      *livechat.Group
	event      *send.MessageEvent
	// waiting is the request of another member, which nobody has taken.
	waiting *livechat.Assignment
}

// beginOnBravo begins a live chat on Bravo, and makes a group beside it.
func beginOnBravo(t *trial, base *place) *place {
	t.Helper()
	p := t.deskOf(t.chatting(t.asking(base), channel.Bravo))
	made, err := p.CreateBravoGroup(t.ctx(), livechat.CreateBravoGroupParams{ChannelID: p.channel.ID, Name: "Orders"})
	require.NoError(t, err)
	p.prepared.bravoGroup = made.GroupID
	return p
}

// asking makes another member of the channel of a place, and returns the place as it is for it.
func (t *trial) asking(base *place) *place {
	t.Helper()
	c := base.channel
	return t.at(base, c, t.newMember(member.Member{App: c.App, Channel: c.ID, FirstName: "Eve"}))
}

// chatting begins a live chat of the member of a place, and returns that place.
func (t *trial) chatting(asking *place, platform channel.Type) *place {
	t.Helper()
	c := chat{desk: t.openDesk(asking, platform)}
	c.assignment = t.requestTaken(asking, c.desk, livechat.CreateAssignmentParams{Meta: document.O("text", "x")})
	c.group = t.groupOf(asking, c.assignment)
	c.event = eventIn(c.group)
	c.waiting = t.request(asking, livechat.CreateAssignmentParams{Member: t.asking(asking).member})
	asking.chat = c
	return asking
}

// deskOf returns the agents' side of the live chat of a place.
func (t *trial) deskOf(asking *place) *place {
	t.Helper()
	return t.at(asking, asking.chat.desk.Channel, nil)
}

// What follows names what there is in a scene, and what does not exist where there is none.

// account is the name of the payment account of the app.
func (p *place) account() string { return "account of " + p.scope.App }

// desk returns the outlet of the live chat.
func (p *place) desk() *desk {
	if p.chat.desk == nil {
		return &desk{Channel: p.channel, agent: &Agent{ExternalID: "agent", AdminID: "admin"}}
	}
	return p.chat.desk
}

// assignmentID returns the id of the assignment of the live chat.
func (p *place) assignmentID() string {
	if p.chat.assignment == nil {
		return "assignment"
	}
	return p.chat.assignment.ID
}

// waitingID returns the id of the request that nobody has taken.
func (p *place) waitingID() string {
	if p.chat.waiting == nil {
		return "assignment"
	}
	return p.chat.waiting.ID
}

// group returns the group of the live chat.
func (p *place) group() *livechat.Group {
	if p.chat.group == nil {
		return &livechat.Group{ID: "group", ExternalID: "group"}
	}
	return p.chat.group
}

// event returns what the agent wrote in the group of the live chat.
func (p *place) event() *send.MessageEvent {
	if p.chat.event == nil {
		return &send.MessageEvent{From: "agent", To: "group"}
	}
	return p.chat.event
}
