package botctx

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/send"
)

// Action is a piece of bot logic. An error stops the run.
//
// It may change bot.Member in place, or replace it for the rest of the run with another record of the same
// member, such as the result of an operation; the run's changes to the previous record are then lost. When
// the run succeeds, its changes to botMeta, meta, customLocale and group are written back to the stored
// member, and nothing else: use the operations on members to change other fields.
type Action func(ctx context.Context, bot *Context) error

// Node is one step of a conversation: it declares when it answers, and what it does then. Its parts run in
// the order of the fields: Pre, Responses, Post, and finally Redirect.
type Node struct {
	// ID is the node's nodeCompositeId. Required, and unique within the tree.
	ID string
	// Tree is the id of the tree that the node belongs to. "" is a valid tree too, for bots that need only
	// one.
	Tree string
	// Parent is the ID of the node of the same tree after which this one may answer. A node without a parent
	// is a head node, which may answer if the member's position is not a node of the tree.
	Parent string
	// Trigger decides whether the node answers an event. A node without a trigger only runs by redirects and
	// agendas.
	Trigger Trigger
	// Priority decides between nodes whose triggers match: the smallest number answers. Fallbacks have
	// FallbackPriority or more. Nodes with MutePriority or less are mute: they run first, and then another
	// node is chosen as well.
	Priority int
	// Global lets the node answer at any position of the conversation.
	Global Global
	// Pre are the actions that run before the responses are sent.
	Pre []Action
	// Responses are the messages to the member. {{path}} of a template is filled from the member
	// as the run has changed it.
	Responses []send.Response
	// Post are the actions that run after the responses were sent.
	Post []Action
	// Redirect decides where the run continues: To("menu"), or ToOneOf if a function decides.
	Redirect Redirector
	// SavesPosition makes the node the member's position after it has run: its children may answer next. The
	// position is stored in botMeta.nodeCompositeId and botMeta.tree. It remains until another node saves its
	// position, or an action sets it with BotMeta.SetPosition.
	SavesPosition bool
	// Schedules declares the nodes that the actions schedule with NewAgenda and UpdateAgenda. Handle checks
	// that they exist, and Graph shows them; runs are not affected. See Nodes.
	Schedules []NodeRef
	// Entry declares that something invisible leads here: the host or an action calls RedirectMemberToNode,
	// the host creates an agenda, or an action sets the position here. It avoids a warning of Graph that
	// nothing leads here, and has no effect on runs.
	Entry bool
}

const (
	// MutePriority is the largest priority of a mute node.
	MutePriority = -10
	// FallbackPriority is the smallest priority of a fallback. Fallbacks do not answer agents' messages in a
	// live chat, which are for the member.
	FallbackPriority = 1000
)

// isMute reports whether another node is chosen after this one.
func (n *Node) isMute() bool { return n.Priority <= MutePriority }

// Ref returns the node's id and tree.
func (n *Node) Ref() NodeRef { return NodeRef{CompositeID: n.ID, Tree: n.Tree} }

// Global is the reach of a node in addition to being a child or a head node.
type Global int

// The positions at which a node may answer.
const (
	// GlobalNowhere: only after its parent, or as a head node.
	GlobalNowhere Global = iota
	// GlobalInTree: at any position in its tree.
	GlobalInTree
	// GlobalInChannel: at any position, if its tree serves the channel. A channel's priority groups can make
	// any node global as well, by its id.
	GlobalInChannel
)

// NodeRef names a node.
type NodeRef struct {
	// CompositeID is the node's nodeCompositeId.
	CompositeID string `json:"compositeId"`
	// Tree is the id of its tree. In Node.Schedules and in targets of a redirect, "" means the tree of the
	// declaring node, or the only tree that has such a node.
	Tree string `json:"tree"`
}

// String returns the id, followed by the tree if it has a name.
func (n NodeRef) String() string {
	if n.Tree == "" {
		return n.CompositeID
	}
	return n.CompositeID + " (tree " + n.Tree + ")"
}

// NodeOperations are the operations on nodes. A required parameter that is missing is
// InvalidArgument.
//
// Specification: Node redirect.
type NodeOperations interface {
	// RedirectMemberToNode runs a node for a member now, and the nodes that it redirects to, and returns once
	// they have run. For the member of the current run, the node joins that run: it sees the run's changes to
	// the member and the run's Values, and its own changes are written back with the run. For another member
	// it is a separate run, which waits until that member's current run has ended. The error of a run keeps
	// its code, and wraps a *RunError with the place.
	//
	// Errors:
	//   - InvalidArgument: ChannelID is not the member's channel, or TreeID is missing and several trees have
	//     such a node.
	//   - NotFound: the app has no such member or channel, or the host has no such node.
	//   - FailedPrecondition: the run of the other member waits, directly or through others, for this one, so
	//     that neither could continue.
	//   - ResourceExhausted: the redirects are deeper than the host allows; the error shows their path.
	//
	// Specification: Node redirect.
	RedirectMemberToNode(ctx context.Context, p RedirectMemberToNodeParams) (RedirectMemberToNodeResult, error)
}

// RedirectMemberToNodeParams are the parameters of RedirectMemberToNode.
type RedirectMemberToNodeParams struct {
	// MemberID is the member. Required.
	MemberID string `json:"memberId,omitzero"`
	// ChannelID is the member's channel. The default is the context's own.
	ChannelID string `json:"channelId,omitzero"`
	// TreeID is the tree of the node. The default is the tree of the current node, or the
	// only tree that has such a node.
	TreeID string `json:"treeId,omitzero"`
	// NodeCompositeID is the node. Required.
	NodeCompositeID string `json:"nodeCompositeId,omitzero"`
	// RedirectOptions say which parts of the node run. The default is all.
	RedirectOptions RedirectOptions `json:"redirectOptions,omitzero"`
	// Meta becomes the node's AgendaMeta.
	Meta document.Object `json:"meta,omitzero"`
}

// RedirectOptions say which parts of a node run.
type RedirectOptions struct {
	// RunPreAction determines whether its pre-actions run. The default is true.
	RunPreAction *bool `json:"runPreAction,omitzero"`
	// SendResponse determines whether its responses are sent. The default is true.
	SendResponse *bool `json:"sendResponse,omitzero"`
	// RunPostAction determines whether its post-actions run. The default is true.
	RunPostAction *bool `json:"runPostAction,omitzero"`
	// Unknown holds options with unknown names, which are InvalidArgument.
	Unknown document.Object `json:"-" document:"unknown"`
}

// check returns an error for unknown options: ignoring one would run a part that the caller wanted to leave
// out.
func (o RedirectOptions) check() error {
	if unknown := o.Unknown.Keys(); len(unknown) > 0 {
		return boterr.Invalid(unknown[0], "is not an option; the options are runPreAction, sendResponse and runPostAction")
	}
	return nil
}

func isOn(option *bool) bool { return option == nil || *option }

// RedirectMemberToNodeResult is the result of RedirectMemberToNode.
type RedirectMemberToNodeResult struct {
	// OK is 1.
	OK int64 `json:"ok"`
	// Member is the id of the member.
	Member string `json:"member"`
	// SendResults has one element for each node that ran: the node itself first, then the nodes that it
	// redirected to.
	SendResults []NodeSendResult `json:"sendResults"`
}

// NodeSendResult is the result of the messages that one node sent.
type NodeSendResult struct {
	// OK is 1.
	OK int64 `json:"ok"`
	// Member is the id of the member.
	Member string `json:"member"`
	// Result has one element for each response of the node. It is empty if the options left the responses
	// out.
	Result []send.Result `json:"result"`
}

// nodes is a Runtime's set of nodes. It never changes: with returns a new one.
type nodes struct {
	// list is all nodes, in the order in which they were given.
	list []*Node
	// byRef maps a reference to its node. byID maps an id to the nodes of all trees with it.
	byRef map[NodeRef]*Node
	byID  map[string][]*Node
	// children are the nodes of a parent.
	children map[NodeRef][]*Node
	inTree   map[string][]*Node
}

// newNodes returns a set of nodes. They are copied, so that later changes by the caller have no effect.
func newNodes(list []*Node) (*nodes, error) {
	n, faults := gather(list)
	if len(faults) > 0 {
		return nil, faults[0].Err
	}
	return n, nil
}

// gather returns the nodes of a list that have a unique name, and all faults of the list.
func gather(list []*Node) (n *nodes, faults []NodeError) {
	n = &nodes{
		byRef: map[NodeRef]*Node{}, byID: map[string][]*Node{},
		children: map[NodeRef][]*Node{}, inTree: map[string][]*Node{},
	}
	indexes := make([]int, 0, len(list))
	for i, node := range list {
		if err := n.add(node); err != nil {
			faults = append(faults, NodeError{i, err})
			continue
		}
		indexes = append(indexes, i)
	}
	for i, node := range n.list {
		for _, err := range n.faultsOf(node) {
			faults = append(faults, NodeError{indexes[i], err})
		}
	}
	return n, faults
}

func (n *nodes) with(added []*Node) (*nodes, error) {
	if len(added) == 0 {
		return n, nil
	}
	return newNodes(slices.Concat(n.list, added))
}

// add adds a copy of a node.
func (n *nodes) add(given *Node) error {
	if given == nil {
		return boterr.Invalid("", "a node is nil")
	}
	ref := given.Ref()
	switch {
	case given.ID == "":
		return boterr.Missing("ID", "every node its nodeCompositeId")
	case n.byRef[ref] != nil:
		return boterr.New(boterr.AlreadyExists, "ID", "there is a node %s already: give each node of a tree a different ID", ref)
	}
	node := *given
	node.Pre, node.Responses, node.Post = slices.Clone(node.Pre), slices.Clone(node.Responses), slices.Clone(node.Post)
	node.Schedules = slices.Clone(node.Schedules)
	n.list = append(n.list, &node)
	n.byRef[ref] = &node
	n.byID[node.ID] = append(n.byID[node.ID], &node)
	n.inTree[node.Tree] = append(n.inTree[node.Tree], &node)
	if node.Parent != "" {
		parent := NodeRef{CompositeID: node.Parent, Tree: node.Tree}
		n.children[parent] = append(n.children[parent], &node)
	}
	return nil
}

// find returns the node with an id: in the given tree; without a tree, in the current tree, or else in the
// only tree that has such a node.
func (n *nodes) find(tree, id, current string) (*Node, error) {
	if tree != "" {
		if node := n.byRef[NodeRef{CompositeID: id, Tree: tree}]; node != nil {
			return node, nil
		}
		return nil, n.unknown(id, " in tree "+tree)
	}
	if node := n.byRef[NodeRef{CompositeID: id, Tree: current}]; node != nil {
		return node, nil
	}
	switch named := n.byID[id]; len(named) {
	case 0:
		return nil, n.unknown(id, "")
	case 1:
		return named[0], nil
	default:
		return nil, boterr.Invalid("treeId", "is missing: %s", several(named))
	}
}

// unknown returns the error for a node that does not exist.
func (n *nodes) unknown(id, where string) error {
	hint := "the host handles no nodes"
	if others := n.byID[id]; len(others) > 0 {
		hint = "it is in " + treesOf(others)
	} else if len(n.list) > 0 {
		hint = "check the id, or give the node to Handle" + perhaps(id, n.list)
	}
	return boterr.New(boterr.NotFound, "nodeCompositeId", "%w", noNodeError("there is no node "+id+where+": "+hint))
}

// noNodeError is the error for a node that this process does not have. During the rollout of a new version of
// the bot, another process may have it.
type noNodeError string

func (e noNodeError) Error() string { return string(e) }

// perhaps suggests the node with the id nearest to an unknown one, or "" if there is none.
func perhaps(id string, among []*Node) string {
	ids := make([]string, len(among))
	for i, node := range among {
		ids[i] = node.ID
	}
	if near := nearest.To(id, ids); near != "" {
		return ": did you mean " + strconv.Quote(near) + "?"
	}
	return ""
}

// several describes nodes of several trees with the same id.
func several(named []*Node) string {
	return "several trees have a node " + named[0].ID + ": " + treesOf(named)
}

func treesOf(named []*Node) string {
	trees := make([]string, len(named))
	for i, node := range named {
		trees[i] = strconv.Quote(node.Tree)
	}
	return strings.Join(trees, ", ")
}

// faultsOf returns the faults of a node among other nodes.
func (n *nodes) faultsOf(node *Node) (wrong []error) {
	unusable := node.check()
	if unusable == nil {
		wrong = n.checkTargets(node)
	}
	for _, err := range []error{n.checkParents(node), unusable} {
		if err != nil {
			wrong = slices.Insert(wrong, 0, err)
		}
	}
	return wrong
}

// check returns an error for a node that could not run.
func (n *Node) check() error {
	isNil := func(action Action) bool { return action == nil }
	switch {
	case slices.ContainsFunc(n.Pre, isNil):
		return boterr.Invalid("Pre", "the node %s has a nil action: give a function, or remove it", n.Ref())
	case slices.ContainsFunc(n.Post, isNil):
		return boterr.Invalid("Post", "the node %s has a nil action: give a function, or remove it", n.Ref())
	case slices.ContainsFunc(n.Responses, send.Response.IsZero):
		return boterr.Invalid("Responses", "the node %s has a zero response: make it with a function such as send.Text", n.Ref())
	case n.Global < GlobalNowhere || n.Global > GlobalInChannel:
		return boterr.Invalid("Global", "the node %s has an unknown kind of Global", n.Ref())
	case hasNil(n.Trigger):
		return boterr.Invalid("Trigger", "the node %s has a trigger with a nil part", n.Ref())
	default:
		return n.checkRedirect()
	}
}

// NodeError is an error in one of several nodes.
type NodeError struct {
	// Index is the node's index among the given nodes.
	Index int
	// Err is the error. Its Field is a field of Node.
	Err error
}

// Error returns the index and the error.
func (e NodeError) Error() string { return boterr.Index(e.Index) + "." + e.Err.Error() }

// Unwrap returns Err.
func (e NodeError) Unwrap() error { return e.Err }

// CheckNodes returns all errors for which Handle would refuse the nodes; Handle only returns the first. It is
// for programs that build nodes from something else, such as files, and can name the place of every error.
func CheckNodes(given ...*Node) []NodeError {
	_, faults := gather(given)
	return faults
}

// checkParents refuses a node that no conversation could reach, because it is its own ancestor.
func (n *nodes) checkParents(node *Node) error {
	for at, steps := node, 0; at.Parent != "" && steps <= len(n.list); steps++ {
		parent := n.byRef[NodeRef{CompositeID: at.Parent, Tree: at.Tree}]
		switch {
		case parent == nil && at == node:
			return boterr.Invalid("Parent", "the tree %q has no node %s, which is the parent of %s: give it to Handle before or together with it%s",
				at.Tree, at.Parent, at.Ref(), perhaps(at.Parent, n.inTree[at.Tree]))
		case parent == nil:
			return nil // The error belongs to the ancestor.
		case parent == node:
			return boterr.Invalid("Parent", "the node %s is its own ancestor: a head node has no Parent", node.Ref())
		}
		at = parent
	}
	return nil
}

// target is a node to which another node declares to lead.
type target struct {
	NodeRef

	// kind is the kind of the edge. does is the same as a verb. field is the declaring field.
	kind        EdgeKind
	does, field string
}

// targets returns the nodes to which a node declares to lead.
func (n *Node) targets() []target {
	var all []target
	if n.Redirect != nil {
		redirects, _ := n.Redirect.Targets()
		for _, ref := range redirects {
			all = append(all, target{ref, EdgeRedirect, "redirects to", "Redirect"})
		}
	}
	for _, ref := range n.Schedules {
		all = append(all, target{ref, EdgeAgenda, "schedules", "Schedules"})
	}
	return all
}

// checkTargets returns an error for each declared target that does not exist. Targets in a tree without nodes
// may be added by a later Handle.
func (n *nodes) checkTargets(node *Node) (wrong []error) {
	for _, to := range node.targets() {
		if err := n.checkTarget(node, to); err != nil {
			wrong = append(wrong, err)
		}
	}
	return wrong
}

func (n *nodes) checkTarget(node *Node, to target) error {
	if to.CompositeID == "" {
		return boterr.Invalid(to.field, "the node %s %s a node without an id: give its nodeCompositeId", node.Ref(), to.does)
	}
	if n.mayCome(to.NodeRef) {
		return nil
	}
	_, err := n.find(to.Tree, to.CompositeID, node.Tree)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, boterr.NotFound):
		return boterr.Invalid(to.field, "the node %s %s %s, but %s", node.Ref(), to.does, to.NodeRef, messageOf(err))
	default:
		return boterr.Invalid(to.field, "the node %s %s %s, but %s: name the tree, too",
			node.Ref(), to.does, to.NodeRef, several(n.byID[to.CompositeID]))
	}
}

// mayCome reports whether a node may be added later, because its tree has no nodes yet.
func (n *nodes) mayCome(ref NodeRef) bool { return ref.Tree != "" && len(n.inTree[ref.Tree]) == 0 }

// messageOf returns the text of an error without its code and its field.
func messageOf(err error) string {
	if coded, ok := errors.AsType[*boterr.Error](err); ok {
		return coded.Message()
	}
	return err.Error()
}

func (n *nodes) redirected(from *Node, to *Redirect) (*Node, error) {
	node, err := n.find(to.TreeID, to.NodeCompositeID, from.Tree)
	if err != nil {
		return nil, err
	}
	targets, areKnown := from.Redirect.Targets()
	isTarget := func(ref NodeRef) bool {
		target, err := n.find(ref.Tree, ref.CompositeID, from.Tree)
		return err == nil && target == node
	}
	if areKnown && !slices.ContainsFunc(targets, isTarget) {
		return nil, boterr.Invalid("nodeCompositeId", "is %s, which the redirect does not name among its targets: "+
			"name it in ToOneOf, or give the function as a RedirectFunc", node.Ref())
	}
	return node, nil
}
