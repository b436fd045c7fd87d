package botctx

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// NodeOperations are the operations on nodes. A required parameter that is missing is
// InvalidArgument.
//
// Specification: Node redirect.
type NodeOperations interface {
	// RedirectMemberToNode runs a node for a member now, and those that it redirects to,
	// and returns when they have run. In a run of the same member it joins that run: the
	// node works on the member as the run has changed it, what it changes is written back
	// with the run, and the run's Values are its own. For another member it is a run of its
	// own, which waits until that member's run under way has ended. The error of a run comes
	// back with its code, and *RunError behind it tells where it arose.
	//
	// Errors:
	//   - InvalidArgument: ChannelID is not the channel that the member is in, or TreeID is
	//     missing and several trees have such a node.
	//   - NotFound: the app has no such member or channel, or the host has no such node.
	//   - FailedPrecondition: the run of the other member waits, perhaps by way of others,
	//     for this one, so that neither could go on.
	//   - ResourceExhausted: the redirects are deeper than the host allows; the error shows
	//     their path.
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
	// Meta is what the node sees as AgendaMeta.
	Meta document.Object `json:"meta,omitzero"`
}

// RedirectOptions say which parts of a node run.
type RedirectOptions struct {
	// RunPreAction is whether its pre-actions run. The default is true.
	RunPreAction *bool `json:"runPreAction,omitzero"`
	// SendResponse is whether its responses are sent. The default is true.
	SendResponse *bool `json:"sendResponse,omitzero"`
	// RunPostAction is whether its post-actions run. The default is true.
	RunPostAction *bool `json:"runPostAction,omitzero"`
	// Unknown holds the options of other names, which are InvalidArgument.
	Unknown document.Object `json:"-" document:"unknown"`
}

// check refuses options that do not exist: one that is ignored would run what it was to
// leave out.
func (o RedirectOptions) check() error {
	if unknown := o.Unknown.Keys(); len(unknown) > 0 {
		return boterr.Invalid(unknown[0], "is no option; there are runPreAction, sendResponse and runPostAction")
	}
	return nil
}

// isOn reports whether an option that is true by default is on.
func isOn(option *bool) bool { return option == nil || *option }

// RedirectMemberToNodeResult is the result of RedirectMemberToNode.
type RedirectMemberToNodeResult struct {
	// OK is 1.
	OK int64 `json:"ok"`
	// Member is the id of the member.
	Member string `json:"member"`
	// SendResults has one element for each node that ran: the node itself first, then
	// those that it redirected to.
	SendResults []NodeSendResult `json:"sendResults"`
}

// NodeSendResult is what one node sent.
type NodeSendResult struct {
	// OK is 1.
	OK int64 `json:"ok"`
	// Member is the id of the member.
	Member string `json:"member"`
	// Result has one element for each response of the node. It is empty where the responses
	// were not to be sent.
	Result []send.Result `json:"result"`
}
