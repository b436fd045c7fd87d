package botctx

import (
	"context"

	"github.com/botctx/go-sdk/send"
)

// Action is a piece of bot logic. An error stops the run.
//
// It may change bot.Member in place, or put another record of the same member in its
// place for what follows in the run, such as the result of an operation; what the run had
// changed of the record before is then gone. When the run has ended well, what it changed of
// botMeta, meta, customLocale and group is written back to the stored member, and
// nothing else: other fields are changed by the operations on members.
type Action func(ctx context.Context, bot *Context) error

// Node is one step of a conversation: when it answers, and what it does then. Its parts
// run in the order of the fields: Pre, Responses, Post, and at last Redirect.
type Node struct {
	// ID is the node's nodeCompositeId. Required; no two nodes of a tree have the same.
	ID string
	// Tree is the id of the tree that the node belongs to. "" is a tree, too, which suits
	// bots that need only one.
	Tree string
	// Parent is the ID of the node of the same tree after which this one may answer. A
	// node without a parent is a head node, which may answer where the conversation stands
	// at no node of the tree.
	Parent string
	// Trigger tells whether the node answers an event. A node without one is run by
	// redirects and agendas alone.
	Trigger Trigger
	// Priority decides among the nodes whose triggers match: the smallest number answers.
	// A fallback has FallbackPriority or more. One of MutePriority or less is mute: it runs
	// first, and then another node is chosen all the same.
	Priority int
	// Global lets the node answer wherever the conversation stands.
	Global Global
	// Pre are the actions that run before the responses are sent.
	Pre []Action
	// Responses are the messages to the member. {{path}} of a template is filled from the member
	// as the run has changed it.
	Responses []send.Response
	// Post are the actions that run after the responses were sent.
	Post []Action
	// Redirect says where the run goes on: To("menu"), or ToOneOf where a function decides.
	Redirect Redirector
	// SavesPosition makes the node the place where the conversation stands: its children
	// may answer next. It is kept in botMeta.nodeCompositeId and botMeta.tree. The
	// conversation stays there until another node saves its position, or an action sets
	// another one with BotMeta.SetPosition.
	SavesPosition bool
	// Schedules are the nodes that the actions run later, by NewAgenda and UpdateAgenda. That is
	// for Handle, which checks that they are there, and for Graph: it changes nothing of a run.
	// See Nodes.
	Schedules []NodeRef
	// Entry tells that something leads here which cannot be seen: the host or an action calls
	// RedirectMemberToNode, the host makes an agenda, or an action sets the position here. It
	// keeps Graph from warning that nothing does, and changes nothing of a run.
	Entry bool
}

const (
	// MutePriority is the largest priority of a mute node.
	MutePriority = -10
	// FallbackPriority is the smallest priority of a fallback. Fallbacks do not answer what
	// agents write in a live chat, which is for the member.
	FallbackPriority = 1000
)

// isMute reports whether another node is chosen after this one.
func (n *Node) isMute() bool { return n.Priority <= MutePriority }

// Ref returns the node's id and tree.
func (n *Node) Ref() NodeRef { return NodeRef{CompositeID: n.ID, Tree: n.Tree} }

// Global is where a node may answer beside being a child or a head node.
type Global int

// The places where a node may answer.
const (
	// GlobalNowhere: only after its parent, or as a head node.
	GlobalNowhere Global = iota
	// GlobalInTree: wherever in its tree the conversation stands.
	GlobalInTree
	// GlobalInChannel: wherever the conversation stands, where its tree serves the
	// channel. A channel's priority groups can make any node global as well, by its id.
	GlobalInChannel
)

// NodeRef names a node.
type NodeRef struct {
	// CompositeID is the node's nodeCompositeId.
	CompositeID string `json:"compositeId"`
	// Tree is the id of its tree. In Node.Schedules and in targets of a redirect "" is the tree of
	// the node that leads there, or the only tree that has such a node.
	Tree string `json:"tree"`
}

// String returns the id, with the tree behind it where it has a name.
func (n NodeRef) String() string {
	if n.Tree == "" {
		return n.CompositeID
	}
	return n.CompositeID + " (tree " + n.Tree + ")"
}
