package fakes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

// SetPosition makes the conversation of the member stand at a node, so that a test begins there: its children may answer
// next. It ends the test where there is no such node, with the nearest name; where several trees have one, see SetPositionIn;
// and where no conversation ever stands at the node, which neither saves the position nor is an Entry.
//
//	ada.SetPosition("size")
//	ada.Says("large")
func (a *Actor) SetPosition(nodeCompositeID string) {
	a.platform.test.Helper()
	a.standsAt(a.platform.nodes.mustFind(a.platform.test, nodeCompositeID, nil))
}

// SetPositionIn is SetPosition for a node of a tree.
func (a *Actor) SetPositionIn(tree, nodeCompositeID string) {
	a.platform.test.Helper()
	a.standsAt(a.platform.nodes.mustFind(a.platform.test, nodeCompositeID, &tree))
}

func (a *Actor) standsAt(node *botctx.Node) {
	a.platform.test.Helper()
	if node == nil {
		return // The test has ended.
	}
	if !node.SavesPosition && !node.Entry {
		a.platform.test.Fatalf("fakes: no conversation stands at the node %s: it never saves the position. "+
			"Set SavesPosition, or Entry where an action sets the position there", node.Ref())
		return
	}
	a.Patch(document.Set("botMeta.nodeCompositeId", node.ID, "botMeta.tree", node.Tree))
}

// mustFind returns the node with an id, of a tree where one is given. It ends the test where there is none, or more.
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

// perhaps says which name may be meant, "" for none.
func perhaps(near string) string {
	if near == "" {
		return ""
	}
	return fmt.Sprintf(": perhaps %q is meant", near)
}

// Patch changes the stored member as patchMembers does, outside of any run: by modifiers, or, where the patch has
// none, by setting its fields. AddMember takes a whole member as it is to begin. It ends the test where the patch is
// refused.
//
//	ada.Patch(document.Set("meta.coupon", "SPRING", "customLocale", "nb"))
func (a *Actor) Patch(patch document.Object) {
	a.platform.test.Helper()
	_, err := a.members().PatchMembers(testContext(), member.PatchMembersParams{
		MemberID: a.ID(), Patch: patch, WithModifier: hasModifier(patch),
	})
	if err != nil {
		a.platform.test.Fatalf("fakes: %s cannot become %s: %v", a.name, patch, err)
		return
	}
	a.platform.notef("the test makes %s %s", a.name, patch)
}

// hasModifier reports whether a patch says by modifiers, such as $set, what changes.
func hasModifier(patch document.Object) bool {
	for name := range patch.All() {
		if strings.HasPrefix(name, "$") {
			return true
		}
	}
	return false
}

// members returns the members of her app, where no call is recorded.
func (a *Actor) members() *members.Service {
	return members.New(a.platform.Runtime().Env(), a.scope, knownChannels{a.platform, a.scope.App})
}

// AddAgenda adds an agenda of the member, as newAgenda makes it, and returns it. MemberID is hers. It ends the test
// where there is no such node, with the nearest name, and where newAgenda would refuse it.
//
//	ada.AddAgenda(agenda.NewAgendaParams{NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(tomorrow)})
func (a *Actor) AddAgenda(p agenda.NewAgendaParams) *agenda.Agenda {
	a.platform.test.Helper()
	var tree *string
	if p.TreeID != "" {
		tree = &p.TreeID
	}
	node := a.platform.nodes.mustFind(a.platform.test, p.NodeCompositeID, tree)
	if node == nil {
		return nil // The test has ended.
	}
	p.MemberID, p.TreeID = a.ID(), node.Tree
	agendas := agenda.New(a.platform.Runtime().Env(), a.scope, agenda.Ports{Members: a.members()})
	made, err := agendas.NewAgenda(testContext(), p)
	if err != nil {
		a.platform.test.Fatalf("fakes: the agenda of %s: %v", a.name, err)
		return nil
	}
	a.platform.notef("the test adds the agenda %s: node %s for %s", made.ID, made.NodeCompositeID, a.name)
	return made
}

// AddAssignment adds a request of the member for a person, as createAssignment makes it, and returns it: agents have
// its tickets. Member is she. What is sent meanwhile is nothing that expectations read. It ends the test where
// createAssignment would refuse it, and where she has one already.
func (a *Actor) AddAssignment(p livechat.CreateAssignmentParams) *livechat.Assignment {
	a.platform.test.Helper()
	if open := a.openAssignment(); open != nil {
		a.platform.test.Fatalf("fakes: %s has the assignment %s already", a.name, open.ID)
		return nil
	}
	p.Member = &member.Member{ID: a.ID()}
	err := a.platform.outbox.unlooked(func() error {
		_, err := a.platform.Runtime().LiveChats(a.scope.App).CreateAssignment(testContext(), p)
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

// openAssignment returns the member's request that is sent, pending or taken, nil where she has none.
func (a *Actor) openAssignment() *livechat.Assignment {
	a.platform.test.Helper()
	found, err := a.platform.Runtime().LiveChats(a.scope.App).FindAssignments(testContext(), record.Query{
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

// AddConversation puts the agent into a live chat with a member, as where the member has asked for a person, by
// AddAssignment or the bot, and the agent took it; where she has not asked, she does now. What is sent meanwhile is
// nothing that expectations read. It ends the test where the agent cannot take it.
func (a *Agent) AddConversation(partner *Actor) {
	a.platform.test.Helper()
	open := partner.openAssignment()
	if open == nil {
		open = partner.AddAssignment(livechat.CreateAssignmentParams{})
	}
	if open == nil {
		return // The test has ended.
	}
	if err := a.platform.outbox.unlooked(func() error { return a.take(open.ID) }); err != nil {
		a.platform.test.Fatalf("fakes: %s cannot take the request of %s: %v", a.name, partner.name, err)
	}
}
