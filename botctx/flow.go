package botctx

import (
	"cmp"
	"context"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
)

// Flow decides which nodes may answer an event. A zero field has its default value. The functions are called
// before a node is chosen. They get the context of the run, with its channel, member and event.
type Flow struct {
	// PriorityGroup returns the name of the channel's priority group that serves the member. If it is nil or
	// returns "", the first group serves the member.
	PriorityGroup func(ctx context.Context, bot *Context) (string, error)
	// IsOpen reports whether the time is within office hours. Outside of them, the off trees of the priority
	// group answer. The default is always true.
	IsOpen func(ctx context.Context, bot *Context) (bool, error)
	// HeadNodes returns the nodes that may answer a member without a position in the trees that serve the member. By
	// default, these are the nodes without a parent in these trees.
	HeadNodes func(ctx context.Context, bot *Context) ([]NodeRef, error)
	// LiveChatTree returns the tree whose nodes answer while the member is in a live chat. If it is nil or
	// returns "", no node answers then.
	LiveChatTree func(bot *Context) string
}

// reach is a set of nodes that may answer an event: the nodes of some trees, and global nodes with some ids.
type reach struct {
	// name describes the trees, such as "the off trees". since is the reason for using them, or "".
	name  string
	since string
	// trees are the trees or, if but is not nil, the trees that are left out, in addition to those that answer only on some
	// occasions in that channel.
	trees  []string
	but    *channel.Channel
	global []string
}

// has reports whether the nodes of a tree may answer.
func (r *reach) has(tree string) bool {
	isNamed := slices.Contains(r.trees, tree)
	return isNamed && r.but == nil || r.but != nil && !isNamed && !isForOccasions(r.but, tree)
}

// reach returns the nodes that may answer: the live-chat tree, the off trees, the group trees or all other trees.
func (f Flow) reach(ctx context.Context, bot *Context) (reach, error) {
	liveChat := f.liveChatTrees(bot)
	if bot.run.isInLiveChat.Load() {
		return reach{name: "the live-chat tree", trees: liveChat}, nil
	}
	group, err := f.priorityGroup(ctx, bot)
	if err != nil {
		return reach{}, err
	}
	isOpen, closed := bot.Channel.On, ", since the channel is not On"
	if isOpen && f.IsOpen != nil {
		closed = ", since Flow.IsOpen says that it is closed"
		if isOpen, err = f.IsOpen(ctx, bot); err != nil {
			return reach{}, err
		}
	}
	switch {
	case !isOpen:
		return reach{name: "the off trees", since: closed, trees: group.OffTrees, global: group.OffGlobalNodes}, nil
	case bot.run.isForGroupTrees(group):
		return reach{name: "the group trees", trees: group.GroupTrees, global: group.GroupGlobalNodes}, nil
	case len(group.Trees) > 0:
		return reach{name: "the trees of the priority group", trees: group.Trees, global: group.GlobalNodes}, nil
	default:
		return reach{name: "the trees of the channel", trees: liveChat, but: bot.Channel, global: group.GlobalNodes}, nil
	}
}

// isForGroupTrees reports whether the group trees answer the run's event. They answer events from a group on Bravo.
// If the priority group has no group trees, there are two exceptions: the usual trees answer an agent in the group of
// a live chat, and they answer every event if the channel has no priority groups.
func (r *run) isForGroupTrees(group channel.PriorityGroup) bool {
	isFromGroup := r.bot.Channel.Type.Has(channel.GroupTrees) && r.bot.scope.GroupExternalID != ""
	needsNone := r.byAgent || len(r.bot.Channel.PriorityGroups) == 0
	return isFromGroup && (!needsNone || len(group.GroupTrees) > 0)
}

// liveChatTrees returns the tree for members in a live chat, if there is one.
func (f Flow) liveChatTrees(bot *Context) []string {
	if f.LiveChatTree == nil {
		return nil
	}
	if tree := f.LiveChatTree(bot); tree != "" {
		return []string{tree}
	}
	return nil
}

// priorityGroup returns the group that serves the member, or zero if the channel has no groups.
func (f Flow) priorityGroup(ctx context.Context, bot *Context) (channel.PriorityGroup, error) {
	var name string
	if f.PriorityGroup != nil {
		var err error
		if name, err = f.PriorityGroup(ctx, bot); err != nil {
			return channel.PriorityGroup{}, err
		}
	}
	groups := bot.Channel.PriorityGroups
	if name == "" && len(groups) == 0 {
		return channel.PriorityGroup{}, nil
	}
	if name == "" {
		return groups[0], nil
	}
	i := slices.IndexFunc(groups, func(g channel.PriorityGroup) bool { return g.Group == name })
	if i < 0 {
		return channel.PriorityGroup{}, boterr.New(boterr.NotFound, "",
			"the channel %s has no priority group %q: add it to the channel, or return another name from Flow.PriorityGroup", bot.Channel.ID, name)
	}
	return groups[i], nil
}

// isForOccasions reports whether a tree answers only outside office hours or only in groups of a channel.
func isForOccasions(c *channel.Channel, tree string) bool {
	return slices.ContainsFunc(c.PriorityGroups, func(g channel.PriorityGroup) bool {
		return slices.Contains(g.OffTrees, tree) || slices.Contains(g.GroupTrees, tree)
	})
}

// field holds the nodes that may answer an event.
type field struct {
	within reach
	// position is the member's position.
	position NodeRef
	// candidates are the nodes, in the order in which their triggers are evaluated.
	candidates []candidate
}

// candidate is a node that may answer an event, and the rule that allows it.
type candidate struct {
	node *Node
	rule Rule
}

// candidates returns the nodes that may answer the event, smallest priority first. Nodes with equal priorities
// are in this order: children of the member's position or head nodes, global nodes of the tree, global nodes of
// the channel. Within each of these groups they are in the order of Handle.
func (n *nodes) candidates(ctx context.Context, flow Flow, bot *Context) (field, error) {
	position := NodeRef{CompositeID: bot.Member.BotMeta.NodeCompositeID(), Tree: bot.Member.BotMeta.Tree()}
	within, err := flow.reach(ctx, bot)
	if err != nil {
		return field{}, err
	}
	found, err := n.atPosition(ctx, flow, bot, position, within)
	if err != nil {
		return field{}, err
	}
	found = append(found, n.globalInChannel(within)...)
	seen := map[*Node]bool{}
	found = slices.DeleteFunc(found, func(one candidate) bool {
		isOut := one.node.Trigger == nil || seen[one.node] || bot.run.byAgent && one.node.Priority >= FallbackPriority
		seen[one.node] = true
		return isOut
	})
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(a.node.Priority, b.node.Priority) })
	return field{within: within, position: position, candidates: found}, nil
}

func (n *nodes) isAt(position NodeRef, within reach) bool {
	return n.byRef[position] != nil && within.has(position.Tree)
}

// atPosition returns the children of the node at the position and the global nodes of its tree, or the head
// nodes if the position is not a node within reach.
func (n *nodes) atPosition(
	ctx context.Context, flow Flow, bot *Context, position NodeRef, within reach,
) ([]candidate, error) {
	if !n.isAt(position, within) {
		return n.headNodes(ctx, flow, bot, within)
	}
	children := n.children[position]
	found := make([]candidate, 0, len(children))
	for _, node := range children {
		found = append(found, candidate{node, RuleChild})
	}
	for _, node := range n.inTree[position.Tree] {
		if node.Global == GlobalInTree {
			found = append(found, candidate{node, RuleGlobalInTree})
		}
	}
	return found, nil
}

// headNodes returns the head nodes within reach: from Flow.HeadNodes, or the nodes without a parent.
func (n *nodes) headNodes(ctx context.Context, flow Flow, bot *Context, within reach) ([]candidate, error) {
	var found []candidate
	if flow.HeadNodes == nil {
		for _, node := range n.list {
			if node.Parent == "" && within.has(node.Tree) {
				found = append(found, candidate{node, RuleHead})
			}
		}
		return found, nil
	}
	refs, err := flow.HeadNodes(ctx, bot)
	if err != nil {
		return nil, err
	}
	for _, ref := range refs {
		node := n.byRef[ref]
		if node == nil {
			missing := noNodeError("Flow.HeadNodes returned an unknown node: " + ref.String() + "; give it to Handle")
			return nil, boterr.New(boterr.NotFound, "", "%w", missing)
		}
		if within.has(node.Tree) {
			found = append(found, candidate{node, RuleHead})
		}
	}
	return found, nil
}

// globalInChannel returns the nodes that answer at any position: global nodes within reach, and nodes named
// by the priority group. It returns a named node outside the group's trees only if no node in them has the same id.
func (n *nodes) globalInChannel(within reach) []candidate {
	var found []candidate
	for _, node := range n.list {
		switch {
		case node.Global == GlobalInChannel && within.has(node.Tree):
			found = append(found, candidate{node, RuleGlobalInChannel})
		case slices.Contains(within.global, node.ID) && (within.has(node.Tree) || !n.has(node.ID, within)):
			found = append(found, candidate{node, RuleGlobalInGroup})
		}
	}
	return found
}

// has reports whether a tree within reach has a node with an id.
func (n *nodes) has(id string, within reach) bool {
	return slices.ContainsFunc(n.list, func(one *Node) bool { return one.ID == id && within.has(one.Tree) })
}
