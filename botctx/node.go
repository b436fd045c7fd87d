package botctx

import (
	"cmp"
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

// Action is a piece of bot logic. An error stops the run. When the run ends, its ctx ends, too.
//
// An action may change the fields of bot.Member. If the run succeeds, changes to botMeta, meta, customLocale
// and group are written back to the store. Changes to other fields, such as FirstName, last only for the run: to store
// them, use the operations on members.
//
// An action may also replace bot.Member with another record of the same member, such as the result of an
// operation. Earlier changes of the run, to the previous record, are then lost.
type Action func(ctx context.Context, bot *Context) error

// Node is one step of a conversation. Trigger, Parent, Priority and Global decide when it answers. Its parts
// run in the order of the fields: Pre, Responses, Post, and finally Redirect.
type Node struct {
	// ID is the node's nodeCompositeId. Required, and unique within the tree.
	ID string
	// Tree is the id of the tree that the node belongs to. "" is a valid id, for bots with only one tree.
	Tree string
	// Parent is the ID of a node of the same tree. The node may answer if the member's position is its parent.
	// A node without a parent is a head node: it may answer if the member has no position in its tree.
	Parent string
	// Trigger decides whether the node answers an event. Only redirects and agendas run a node without a
	// trigger.
	Trigger Trigger
	// Priority decides between nodes whose triggers match: the node with the smallest number answers. Nodes
	// with FallbackPriority or more are fallbacks. Nodes with MutePriority or less are mute: they run first, and
	// then another node may answer, too.
	Priority int
	// Global lets the node answer at any position of the conversation.
	Global Global
	// Pre are the actions that run before the responses are sent.
	Pre []Action
	// Responses are the messages to the member. {{path}} in a template is replaced by the member's value,
	// including changes by the run.
	Responses []send.Response
	// Post are the actions that run after the responses were sent.
	Post []Action
	// Redirect decides which node runs next: To("menu") for a fixed node, or ToOneOf for the result of a
	// function.
	Redirect Redirector
	// SavesPosition makes the node the member's position after it runs, so that its children may answer next.
	// The position is stored in botMeta.nodeCompositeId and botMeta.tree. It remains until another such node
	// runs or an action calls BotMeta.SetPosition.
	SavesPosition bool
	// Schedules declares the nodes that the actions schedule with NewAgenda and UpdateAgenda. Handle checks
	// that they exist, and Graph shows them. It has no effect on runs. See the function Nodes.
	Schedules []NodeRef
	// Entry declares that code leads to this node: a call of RedirectMemberToNode, an agenda that the host
	// creates, or a call of SetPosition. It prevents the warning of Graph that nothing leads to the node, and
	// has no effect on runs.
	Entry bool
}

const (
	// MutePriority is the largest priority of a mute node.
	MutePriority = -10
	// FallbackPriority is the smallest priority of a fallback. Fallbacks do not answer agents' messages in a
	// live chat, because these messages are for the member.
	FallbackPriority = 1000
)

// isMute reports whether another node may answer after this one.
func (n *Node) isMute() bool { return n.Priority <= MutePriority }

// Ref returns the node's id and tree.
func (n *Node) Ref() NodeRef { return NodeRef{CompositeID: n.ID, Tree: n.Tree} }

// Global declares positions at which a node may answer, in addition to its place as a child or a head node.
type Global int

// The values of Global.
const (
	// GlobalNowhere: no additional positions.
	GlobalNowhere Global = iota
	// GlobalInTree: at any position in its tree.
	GlobalInTree
	// GlobalInChannel: at any position, if its tree serves the channel. A channel's priority groups can also
	// make a node global by its id.
	GlobalInChannel
)

// NodeRef names a node.
type NodeRef struct {
	// CompositeID is the node's nodeCompositeId.
	CompositeID string `json:"compositeId"`
	// Tree is the id of its tree. In Node.Schedules and in targets of a redirect, "" means the tree of the
	// declaring node or, if that has no such node, the only tree that has it.
	Tree string `json:"tree"`
}

// String returns the id, followed by the tree if it has a name.
func (n NodeRef) String() string {
	if n.Tree == "" {
		return n.CompositeID
	}
	return n.CompositeID + " (tree " + n.Tree + ")"
}

// NodeOperations are the operations on nodes. A missing required parameter is InvalidArgument.
//
// Specification: Node redirect.
type NodeOperations interface {
	// RedirectMemberToNode runs a node for a member, and then the nodes that it redirects to. It returns after
	// the last of them. For the member of the current run, the nodes are part of that run: they see its changes
	// to the member and its Values, and their changes are written back with the run. For another member, the
	// nodes are a separate run, which waits for the current run of that member. If a node fails, the error has
	// the code of that failure and wraps a *RunError with the place.
	//
	// Errors:
	//   - InvalidArgument: ChannelID is not the member's channel, or TreeID is missing and several trees have
	//     such a node.
	//   - NotFound: the app has no such member or channel, or the host has no such node.
	//   - FailedPrecondition: the other member's run is waiting, directly or indirectly, for this run, so
	//     neither could continue.
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
	// TreeID is the tree of the node. The default is the tree of the current node, or outside of nodes the tree
	// that the member is in; if that has no such node, the only tree that has it.
	TreeID string `json:"treeId,omitzero"`
	// NodeCompositeID is the node. Required.
	NodeCompositeID string `json:"nodeCompositeId,omitzero"`
	// RedirectOptions select the parts of the node that run. The default is all.
	RedirectOptions RedirectOptions `json:"redirectOptions,omitzero"`
	// Meta is the AgendaMeta that the node sees.
	Meta document.Object `json:"meta,omitzero"`
}

// RedirectOptions select the parts of a node that run.
type RedirectOptions struct {
	// RunPreAction is true to run the pre-actions. The default is true.
	RunPreAction *bool `json:"runPreAction,omitzero"`
	// SendResponse is true to send the responses. The default is true.
	SendResponse *bool `json:"sendResponse,omitzero"`
	// RunPostAction is true to run the post-actions. The default is true.
	RunPostAction *bool `json:"runPostAction,omitzero"`
	// Unknown holds unknown options. The operation returns InvalidArgument if there are any.
	Unknown document.Object `json:"-" document:"unknown"`
}

// check returns an error for unknown options: a misspelt option, if ignored, would run a part that the caller
// wanted to skip.
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
	// SendResults has one element for each node that ran, in order. The first is the requested node.
	SendResults []NodeSendResult `json:"sendResults"`
}

// NodeSendResult is the result of the messages that one node sent.
type NodeSendResult struct {
	// OK is 1.
	OK int64 `json:"ok"`
	// Member is the id of the member.
	Member string `json:"member"`
	// Result has one element for each response of the node. It is empty if SendResponse was false.
	Result []send.Result `json:"result"`
}

// nodes is a Runtime's set of nodes. It is immutable; the method with returns a larger set.
type nodes struct {
	// list holds all nodes in the order of Handle.
	list []*Node
	// byRef maps a reference to its node. byID maps an id to the nodes with this id in all trees.
	byRef map[NodeRef]*Node
	byID  map[string][]*Node
	// children maps a parent to its children.
	children map[NodeRef][]*Node
	inTree   map[string][]*Node
}

// newNodes returns a set of copies of nodes, or the first error of gather.
func newNodes(list []*Node) (*nodes, error) {
	n, faults := gather(list)
	if len(faults) > 0 {
		return nil, faults[0].Err
	}
	return n, nil
}

// gather returns the nodes of a list and all errors in them. It leaves out nodes without an id or with the id of
// an earlier node.
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

// add adds a copy of a node, so that later changes by the caller have no effect.
func (n *nodes) add(given *Node) error {
	if given == nil {
		return boterr.Invalid("", "the node is nil: leave it out")
	}
	ref := given.Ref()
	switch {
	case given.ID == "":
		return boterr.Missing("ID", "the nodeCompositeId of the node")
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

// find returns the node with an id in the given tree. If tree is "", it looks in the current tree, and then in
// the only tree that has such a node.
func (n *nodes) find(tree, id, current string) (*Node, error) {
	if id == "" {
		return nil, boterr.Missing("nodeCompositeId", "the id of a node")
	}
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

// ofAgenda returns the node of an agenda. A stored tree of "" is the unnamed tree, which comes before the current one.
func (n *nodes) ofAgenda(stored NodeRef, current string) (*Node, error) {
	if node := n.byRef[stored]; node != nil {
		return node, nil
	}
	return n.find(stored.Tree, stored.CompositeID, current)
}

// unknown returns the error for a node that does not exist.
func (n *nodes) unknown(id, where string) error {
	hint := "the host handles no nodes"
	if others := n.byID[id]; len(others) > 0 {
		hint = "it is in " + treesOf(others)
	} else if len(n.list) > 0 {
		hint = "check the id, or give the node to Handle" + perhaps(id, n.list)
	}
	missing := boterr.New(boterr.NotFound, "", "there is no node %s%s: %s", id, where, hint) // New cuts a long id.
	return boterr.New(boterr.NotFound, "nodeCompositeId", "%w", noNodeError(missing.Message()))
}

// noNodeError is the error for a node that this process does not have. While a new version of the bot is being
// deployed, another process may have the node.
type noNodeError string

func (e noNodeError) Error() string { return string(e) }

// perhaps returns a hint with the id that is most similar to an unknown id, or "" if none is similar.
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

// faultsOf returns the errors of a node, including references to nodes that n does not have.
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
	case n.Global < GlobalNowhere || n.Global > GlobalInChannel:
		return boterr.Invalid("Global", "the node %s has the unknown value %d: use a constant such as GlobalInTree", n.Ref(), n.Global)
	case hasNil(n.Trigger):
		return boterr.Invalid("Trigger", "the node %s has a trigger with a nil part, or one such as TextIs without texts: "+
			"give a trigger, a function or a text, or remove it", n.Ref())
	default:
		return cmp.Or(n.checkResponses(), n.checkRedirect())
	}
}

// checkResponses returns an error for a response that can never be sent.
func (n *Node) checkResponses() error {
	for i, response := range n.Responses {
		if e, isWrong := boterr.AsError(response.Validate()); isWrong {
			return boterr.PrefixField("Responses"+boterr.Index(i), boterr.Invalid(e.Field, "%w (node %s)", e.Err, n.Ref()))
		}
	}
	return nil
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

// CheckNodes returns all errors in nodes. Handle returns only the first of them. Programs that build nodes from
// files, for example, use it to report all errors with their places in the files.
func CheckNodes(given ...*Node) []NodeError {
	_, faults := gather(given)
	return faults
}

// checkParents returns an error if the parent of a node does not exist or if the node is its own ancestor.
func (n *nodes) checkParents(node *Node) error {
	for at, steps := node, 0; at.Parent != "" && steps <= len(n.list); steps++ {
		parent := n.byRef[NodeRef{CompositeID: at.Parent, Tree: at.Tree}]
		switch {
		case parent == nil && at == node:
			return boterr.Invalid("Parent",
				"the tree %q has no node %s, which is the parent of %s: pass the parent to Handle first, or in the same call%s",
				at.Tree, at.Parent, at.Ref(), perhaps(at.Parent, n.inTree[at.Tree]))
		case parent == nil:
			return nil // The check of that ancestor reports the error.
		case parent == node:
			return boterr.Invalid("Parent", "the node %s is its own ancestor: a head node has no Parent", node.Ref())
		}
		at = parent
	}
	return nil
}

// target is a node that another node declares in Redirect or Schedules.
type target struct {
	NodeRef

	// kind is the kind of the edge, and does is the verb for it. field is the field that declares the target.
	kind        EdgeKind
	does, field string
}

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

// checkTargets returns an error for each declared target that does not exist, unless a later Handle may add it.
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

// mayCome reports whether a later Handle may add the node: its tree has a name and no nodes yet.
func (n *nodes) mayCome(ref NodeRef) bool { return ref.Tree != "" && len(n.inTree[ref.Tree]) == 0 }

// messageOf returns the text of an error without its code or its field.
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
		return nil, boterr.Invalid("nodeCompositeId", "is %s, which is not a declared target of the redirect: "+
			"add it to ToOneOf, or use RedirectFunc instead", node.Ref())
	}
	return node, nil
}
