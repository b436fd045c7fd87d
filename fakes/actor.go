package fakes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Actor is a member in a test. It sends messages to the bot and reads the bot's messages.
type Actor struct {
	speaker

	added member.Member
}

// AddMember adds a member and returns its Actor. The defaults are DefaultApp, a webchat channel and a new id on the
// platform. If Config sets Arrive, that function creates the member and assigns the id; it gets added as
// Inbound.Profile. AddMember ends the test if Arrive returns no member, or if the Override of Config does not find
// the new member.
func (p *Platform) AddMember(added member.Member) *Actor {
	p.test.Helper()
	given := added
	if added.App == "" {
		added.App = DefaultApp
	}
	if added.Channel == "" {
		added.Channel = p.defaultChannel(added.App)
	}
	in, err := p.channelOf(added.App, added.Channel)
	if err != nil || in.Type == "" {
		p.test.Fatalf("fakes: AddMember: there is no channel %q in %s: add it with AddChannel first", added.Channel, added.App)
		return nil
	}
	if added.ID == "" {
		added.ID = p.ids.next("member")
	}
	if added.ExternalID == "" {
		added.ExternalID = p.outbox.userID(in.Type, added.ID)
	}
	scope := botctx.Scope{App: added.App, Channel: added.Channel, Member: added.ID}
	stored, err := p.insert(scope, in, added)
	if err == nil && p.isOverridden && p.arrive == nil {
		err = p.checkIsKnown(scope)
	}
	if err != nil {
		p.test.Fatalf("fakes: AddMember: %v", err)
	}
	scope.Member = stored.ID
	a := &Actor{speaker{platform: p, scope: scope, externalID: stored.ExternalID, name: nameOf(stored)}, given}
	p.outbox.addMember(a.address(), person{memberID: a.ID(), name: a.name})
	return a
}

// checkIsKnown returns an error if the Override of Config does not find the member of a scope.
func (p *Platform) checkIsKnown(scope botctx.Scope) error {
	_, err := p.Runtime().Context(testContext(), scope)
	if errors.Is(err, boterr.NotFound) {
		return fmt.Errorf("the Override of Config does not find the member that was added to the store: "+
			"set Arrive, so that the host makes its members: %w", err)
	}
	return err
}

// arrive is the type of botctx.Config.Arrive.
type arrive func(ctx context.Context, inbound botctx.Inbound) (*member.Member, error)

// insert creates a member: by the Arrive of Config if there is one, otherwise in the store.
func (p *Platform) insert(scope botctx.Scope, in *channel.Channel, added member.Member) (*member.Member, error) {
	if p.arrive != nil {
		return p.arrived(added)
	}
	return members.New(p.Runtime().Env(), record.Scope(scope), foundChannel{scope}).Insert(testContext(), members.On(added, in))
}

func (p *Platform) arrived(added member.Member) (*member.Member, error) {
	made, err := p.arrive(testContext(), botctx.Inbound{
		App: added.App, Channel: added.Channel, Profile: added, Event: send.MessageEvent{From: added.ExternalID},
	})
	if err == nil && made == nil {
		err = boterr.New(boterr.Internal, "", "Config.Arrive returned neither a member nor an error")
	}
	return made, err
}

// nameOf returns the name of a member in a transcript.
func nameOf(m *member.Member) string {
	if m.FirstName != "" {
		return m.FirstName
	}
	return m.ID
}

// ID returns the member's id.
func (a *Actor) ID() string { return a.scope.Member }

// Added returns the member that was given to AddMember.
func (a *Actor) Added() member.Member { return a.added }

// Scope returns the member's app, channel and id.
func (a *Actor) Scope() botctx.Scope { return a.scope }

// In returns the same member on a fork of its platform.
func (a *Actor) In(fork *Platform) *Actor {
	other := *a
	other.platform = fork
	return &other
}

// InGroup returns the same member in a group of the channel's platform. It writes to the group and reads the
// group's messages. The group is created if the platform has none with that id.
//
//	ada.InGroup("family").Says("hi")
func (a *Actor) InGroup(externalID string) *Actor {
	a.platform.outbox.join(address{a.scope.Channel, externalID}, a.externalID)
	other := *a
	other.scope.GroupExternalID = externalID
	return &other
}

// Context returns a context of the member outside of a run.
func (a *Actor) Context() *botctx.Context {
	a.platform.test.Helper()
	bot, err := a.platform.Runtime().Context(testContext(), a.scope)
	if err != nil {
		a.platform.test.Fatalf("fakes: %s: %v", a.name, err)
	}
	return bot
}

// Member returns the member as it is stored now.
func (a *Actor) Member() *member.Member {
	a.platform.test.Helper()
	return a.Context().Member
}

// Agendas returns the member's open agendas, including those that have failed for good, in the order in which
// Advance runs them.
func (a *Actor) Agendas() []*agenda.Record {
	a.platform.test.Helper()
	return a.agendas()
}

func (s *speaker) agendas() []*agenda.Record {
	s.platform.test.Helper()
	open, err := agendas.New(s.platform.Runtime().Env(), record.Scope(s.scope), agendas.Ports{}).Find(testContext(), record.Query{
		Filter: document.O("member", s.scope.Member, "completed", false),
		SortBy: document.O("nextRunAt", 1, "priority", 1, "createdAt", 1),
	})
	if err != nil {
		s.platform.test.Fatalf("fakes: the agendas of %s: %v", s.name, err)
	}
	return open
}

// Taps sends a button's or quick reply's payload to the bot, as Says does, even if the member was never shown
// it. TapsOn taps one that the member sees.
func (a *Actor) Taps(payload string) {
	a.platform.test.Helper()
	a.Sends(send.MessageEvent{Type: send.TypePayload, Data: document.O("payload", payload)})
}

// SetPosition sets the member's position to a node, so that the test begins there: the node's children may
// answer next. It ends the test if there is no such node, suggesting the nearest name; if several trees have
// one (see SetPositionIn); or if the node can never be a position, because it neither saves the position nor
// is an Entry.
//
//	ada.SetPosition("size")
//	ada.Says("large")
func (a *Actor) SetPosition(nodeCompositeID string) {
	a.platform.test.Helper()
	a.standsAt(a.platform.nodes.mustFind(a.platform.test, nodeCompositeID, nil))
}

// SetPositionIn is SetPosition for a node of a particular tree.
func (a *Actor) SetPositionIn(tree, nodeCompositeID string) {
	a.platform.test.Helper()
	a.standsAt(a.platform.nodes.mustFind(a.platform.test, nodeCompositeID, &tree))
}

func (a *Actor) standsAt(node *botctx.Node) {
	a.platform.test.Helper()
	if node == nil {
		return // Fatalf of a real test does not return.
	}
	if !node.SavesPosition && !node.Entry {
		a.platform.test.Fatalf("fakes: the node %s is never a position: it does not save the position. "+
			"Set SavesPosition, or Entry where an action sets the position there", node.Ref())
		return
	}
	a.Patch(document.Set("botMeta.nodeCompositeId", node.ID, "botMeta.tree", node.Tree))
}

// has reports whether a tree has a node with an id.
func (h *handled) has(tree, id string) bool {
	return slices.ContainsFunc(h.all(), func(node *botctx.Node) bool { return node.Tree == tree && node.ID == id })
}

// mustFind returns the node with an id, in tree unless that is nil. It ends the test unless there is exactly
// one.
func (h *handled) mustFind(test TB, id string, tree *string) *botctx.Node {
	test.Helper()
	var found []*botctx.Node
	var names, trees []string
	for _, node := range h.all() {
		if tree != nil && node.Tree != *tree {
			continue
		}
		names = append(names, node.ID)
		if node.ID == id {
			found, trees = append(found, node), append(trees, fmt.Sprintf("%q", node.Tree))
		}
	}
	switch {
	case len(found) == 1:
		return found[0]
	case len(found) > 1:
		test.Fatalf("fakes: several trees have a node %q: %s. Name the tree", id, strings.Join(trees, ", "))
	case len(names) == 0:
		test.Fatalf("fakes: there is no node %q: the platform handles none. Give Handle the nodes first", id)
	default:
		test.Fatalf("fakes: there is no node %q%s", id, perhaps(nearest.To(id, names)))
	}
	return nil
}

// perhaps formats a suggestion, or "" if near is empty.
func perhaps(near string) string {
	if near == "" {
		return ""
	}
	return fmt.Sprintf(": did you mean %q?", near)
}

// Patch changes the stored member as patchMembers does, outside any run: with modifiers, or by setting its
// fields if the patch has no modifiers. It ends the test if the patch is refused. To store a whole member,
// use AddMember.
//
//	ada.Patch(document.Set("meta.coupon", "SPRING", "customLocale", "nb"))
func (a *Actor) Patch(patch document.Object) {
	a.platform.test.Helper()
	_, err := a.members().PatchMembers(testContext(), member.PatchParams{
		MemberID: a.ID(), Patch: patch, WithModifier: hasModifier(patch),
	})
	if err != nil {
		a.platform.test.Fatalf("fakes: the patch of %s with %s: %v", a.name, patch, err)
		return
	}
	a.platform.notef("the test makes %s %s", a.name, patch)
}

// hasModifier reports whether a patch uses modifiers such as $set.
func hasModifier(patch document.Object) bool {
	for name := range patch.All() {
		if strings.HasPrefix(name, "$") {
			return true
		}
	}
	return false
}

// members returns the service for the members of this app. It does not record calls.
func (a *Actor) members() *members.Service {
	return members.New(a.platform.Runtime().Env(), record.Scope(a.scope), knownChannels{a.platform, a.scope.App})
}

// AddAgenda adds an agenda of the member as newAgenda does, and returns it. MemberID is set to the member's.
// It ends the test if there is no such node, suggesting the nearest name, or if newAgenda would refuse the
// agenda.
//
//	ada.AddAgenda(agenda.NewParams{NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(tomorrow)})
func (a *Actor) AddAgenda(p agenda.NewParams) *agenda.Agenda {
	a.platform.test.Helper()
	var tree *string
	if current := a.Member().BotMeta.Tree(); p.TreeID != "" {
		tree = &p.TreeID
	} else if a.platform.nodes.has(current, p.NodeCompositeID) {
		tree = &current
	}
	node := a.platform.nodes.mustFind(a.platform.test, p.NodeCompositeID, tree)
	if node == nil {
		return nil // Fatalf of a real test does not return.
	}
	p.MemberID = a.ID()
	agendas := agendas.New(a.platform.Runtime().Env(), record.Scope(a.scope), agendas.Ports{
		Members: a.members(), Zone: a.platform.hosted.Zone,
		Tree: func(context.Context, *member.Member, string) (string, error) { return node.Tree, nil },
	})
	made, err := agendas.NewAgenda(testContext(), p)
	if err != nil {
		a.platform.test.Fatalf("fakes: the agenda of %s: %v", a.name, err)
		return nil
	}
	a.platform.notef("the test adds the agenda %s: node %s for %s", made.ID, made.NodeCompositeID, a.name)
	return made
}

// AddAssignment adds the member's request for a person as createAssignment does, and returns it. Agents get its
// tickets. Member is set to this member. Expectations such as Sees skip the messages that AddAssignment causes. It
// ends the test if createAssignment would refuse the request or if the member already has an open one.
func (a *Actor) AddAssignment(p livechat.CreateAssignmentParams) *livechat.Assignment {
	a.platform.test.Helper()
	if open := a.openAssignment(); open != nil {
		a.platform.test.Fatalf("fakes: %s already has the assignment %s: end it first, or do without a new one", a.name, open.ID)
		return nil
	}
	p.Member = &member.Member{ID: a.ID()}
	err := a.platform.outbox.unlooked(func() error {
		_, err := a.platform.Runtime().CreateAssignment(testContext(), a.scope.App, p)
		return err
	})
	if err != nil {
		a.platform.test.Fatalf("fakes: the assignment of %s: %v", a.name, err)
		return nil
	}
	made := a.openAssignment()
	a.platform.notef("the test adds the assignment %s of %s", made.ID, a.name)
	return made
}

// openAssignment returns the member's assignment that is sent, pending or taken, or nil if there is none.
func (a *Actor) openAssignment() *livechat.Assignment {
	a.platform.test.Helper()
	found, err := a.platform.Runtime().FindAssignments(testContext(), a.scope.App, botctx.Query{
		Filter: document.O("member", a.ID()), SortBy: document.O("createdAt", 1),
	})
	if err != nil {
		a.platform.test.Fatalf("fakes: the assignments of %s: %v", a.name, err)
	}
	for _, one := range slices.Backward(found) {
		if one.State() != livechat.Ended {
			return &one.Assignment
		}
	}
	return nil
}

// AddConversation puts the agent into a live chat with a member, as if the member had asked for a person and the
// agent had taken the request. It uses the member's open request or adds one. Expectations such as Sees skip the
// messages that AddConversation causes. It ends the test if the agent cannot take the request.
func (a *Agent) AddConversation(partner *Actor) {
	a.platform.test.Helper()
	open := partner.openAssignment()
	if open == nil {
		open = partner.AddAssignment(livechat.CreateAssignmentParams{})
	}
	if open == nil {
		return // Fatalf of a real test does not return.
	}
	if err := a.platform.outbox.unlooked(func() error { return a.take(open.ID) }); err != nil {
		a.platform.test.Fatalf("fakes: %s cannot take the request of %s: %v", a.name, partner.name, err)
	}
}

// Choices returns the chosen answer to each event, with the reasons, in order. After a mute node, a second
// choice for the same event follows.
func (p *Platform) Choices() []botctx.Choice { return slices.Clone(p.choices.all()) }

// noteChoice returns an OnChoice function that records the choice in the transcript and then calls own, which
// may be nil.
func (p *Platform) noteChoice(own func(context.Context, botctx.Choice)) func(context.Context, botctx.Choice) {
	return func(ctx context.Context, choice botctx.Choice) {
		p.choices.add(choice)
		p.note(choice.String())
		if own != nil {
			own(ctx, choice)
		}
	}
}
