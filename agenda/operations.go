package agenda

import (
	"context"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/cron"
)

// Operations are the operations on agendas. A missing required parameter is InvalidArgument.
//
// Specification: Agenda operations.
type Operations interface {
	// NewAgenda schedules a node to run for a member: once at NextRunAt, or by Pattern until RunUntil. With
	// all three, NextRunAt is the first run, and the pattern gives the later ones. NextRunAt overrides a
	// Pattern without RunUntil: the agenda runs once. RunUntil has no effect without Pattern. A NextRunAt in
	// the past is due at once.
	//
	// Pattern is read in the time zone that it names, see InZone, or else in the member's zone from the host,
	// or else in UTC. If the member moves to another zone, the pattern follows: the next run waits if its
	// time of day has not come there yet, and is late if it has passed.
	//
	// Errors:
	//   - InvalidArgument: neither NextRunAt nor Pattern is given, Pattern comes without NextRunAt and
	//     RunUntil, or Replace without Tag.
	//   - InvalidArgument: Pattern is not a CRON pattern, its first run would come after RunUntil, or a time
	//     is not valid.
	//   - InvalidArgument: Pattern names an unknown time zone, or the host gives such a name.
	//   - InvalidArgument: TreeID is missing, several trees have the node, and none of them is the tree of the
	//     current node or of the member.
	//   - NotFound: the app has no member with that id, or the host has no such node.
	//   - Unavailable: the host cannot determine the member's time zone. The host's error may have another
	//     code.
	//
	// Specification: Agenda operations.
	NewAgenda(ctx context.Context, p NewParams) (*Agenda, error)

	// UpdateAgenda changes the open agendas of a member: with Tag, the ones that have it; without Tag, all
	// except the agendas of live chats, whose tags begin with LiveChatTagPrefix. Absent parameters change
	// nothing. A change of a running agenda affects its later runs: NextRunAt, or a new Pattern, gives the next
	// run. With NextRunAt and Pattern but no RunUntil, given or stored, the agenda runs once, at NextRunAt. A new
	// Pattern is read in the same time zone as by NewAgenda, and the result shows its next run. It is not an
	// error if no agenda matches.
	//
	// Errors:
	//   - InvalidArgument: Pattern is not a CRON pattern, or names an unknown zone; or it comes without
	//     NextRunAt and one of the agendas has no RunUntil; or one would have a pattern and its next run
	//     after RunUntil. Then no agenda changes.
	//   - InvalidArgument: Replace comes without Tag, or a time is not valid.
	//   - NotFound: the host has no such node, or not in the tree that one of the agendas has or would get.
	//     Then no agenda changes.
	//   - Unavailable: the host cannot determine the member's time zone. The host's error may have another
	//     code.
	//   - Conflict: the agendas kept ending before they could be changed; try again.
	//
	// Specification: Agenda operations.
	UpdateAgenda(ctx context.Context, p UpdateParams) (UpdateResult, error)

	// DeleteMemberAgenda removes the open agendas of a member: with Tag, the ones that have it; without Tag,
	// all except the agendas of live chats, whose tags begin with LiveChatTagPrefix. A running agenda
	// finishes, but does not run again. It is not an error if no agenda matches.
	//
	// Specification: Agenda operations.
	DeleteMemberAgenda(ctx context.Context, p DeleteParams) (DeleteResult, error)
}

// NewParams are the parameters of NewAgenda.
type NewParams struct {
	// MemberID is the member. Required.
	MemberID string `json:"memberId,omitzero"`
	// TreeID is the tree of the node. The default is the tree of the current node; if that has no such node, the
	// tree that the member is in; and if that has none either, the only tree that has it.
	TreeID string `json:"treeId,omitzero"`
	// NodeCompositeID is the node. Required.
	NodeCompositeID string `json:"nodeCompositeId,omitzero"`
	// NextRunAt is the time of the run, in Unix milliseconds; with Pattern the first run. Required without
	// Pattern.
	NextRunAt document.Timestamp `json:"nextRunAt,omitzero"`
	// Pattern is the CRON pattern of the runs, such as "0 9 * * 1" for each Monday at nine, or
	// "CRON_TZ=Europe/London 0 9 * * 1" for a zone other than the member's. Required without NextRunAt.
	Pattern string `json:"pattern,omitzero"`
	// RunUntil is the last instant for which Pattern may schedule a run, in Unix
	// milliseconds. Required with Pattern, unless NextRunAt is the only run.
	RunUntil document.Timestamp `json:"runUntil,omitzero"`
	// Priority orders agendas that are due: a smaller number runs first. The default is 0.
	Priority *int64 `json:"priority,omitzero"`
	// Meta becomes the node's AgendaMeta.
	Meta document.Object `json:"meta,omitzero"`
	// Replace removes all open agendas of the same member and tag, including a running one, which finishes
	// but cannot run again. The default is false.
	Replace bool `json:"replace,omitzero"`
	// Tag is a name by which the agenda can be replaced, changed and deleted. Required with Replace.
	Tag string `json:"tag,omitzero"`
}

// UpdateParams are the parameters of UpdateAgenda. Absent fields stay unchanged.
type UpdateParams struct {
	// MemberID is the member whose agendas are changed. Required.
	MemberID string `json:"memberId,omitzero"`
	// Meta becomes the node's AgendaMeta, and replaces the previous value.
	Meta document.Object `json:"meta,omitzero"`
	// NodeCompositeID is the node. TreeID is its tree; the default is the tree that the agenda has.
	NodeCompositeID string `json:"nodeCompositeId,omitzero"`
	// NextRunAt is the time of the next run, in Unix milliseconds. Without it a new Pattern gives the next
	// run.
	NextRunAt document.Timestamp `json:"nextRunAt,omitzero"`
	// Pattern is the CRON pattern, as in NewParams.
	Pattern string `json:"pattern,omitzero"`
	// Priority orders agendas that are due: a smaller number runs first.
	Priority *int64 `json:"priority,omitzero"`
	// RunUntil is the last instant for which the pattern, given or stored, may schedule a
	// run, in Unix milliseconds.
	RunUntil document.Timestamp `json:"runUntil,omitzero"`
	// Replace changes only the newest open agenda of the tag, and removes the other open ones of the same
	// member and tag. The default is false.
	Replace bool   `json:"replace,omitzero"`
	TreeID  string `json:"treeId,omitzero"`
	// Tag selects the agendas to change. The default is all agendas except the ones of live chats. In JSON, ""
	// is InvalidArgument. Required with Replace.
	Tag string `json:"tag,omitzero" document:"notEmpty"`
}

// UpdateResult is the result of UpdateAgenda.
type UpdateResult struct {
	// DocsIDs are the ids of the updated agendas.
	DocsIDs DocsIDs `json:"_docsIds"`
	// Docs are the agendas after the change.
	Docs []*Agenda `json:"_docs"`
	// Modified is the number of agendas whose values changed.
	Modified int64 `json:"modified"`
}

// DocsIDs holds the ids of the agendas that an update selected.
type DocsIDs struct {
	// Updated are the ids of the agendas that matched, whether they changed or not.
	Updated []string `json:"updated"`
}

// DeleteParams are the parameters of DeleteMemberAgenda.
type DeleteParams struct {
	// MemberID is the member whose agendas are removed. Required.
	MemberID string `json:"memberId,omitzero"`
	// Tag selects the open agendas to remove. The default is all agendas except the ones of live chats. In JSON, ""
	// is InvalidArgument.
	Tag string `json:"tag,omitzero" document:"notEmpty"`
}

// DeleteResult is the result of DeleteMemberAgenda.
type DeleteResult struct {
	// ClientMutationID is a new id each time.
	ClientMutationID string `json:"clientMutationId"`
}

// LiveChatTagPrefix is the prefix of the tags of agendas that watch over live chats. They are changed and
// deleted only by their tag.
const LiveChatTagPrefix = "livechat:"

// InZone returns a pattern that names its own time zone: InZone("Europe/Berlin", "0 9 * * 1") is
// "CRON_TZ=Europe/Berlin 0 9 * * 1", each Monday at nine in Berlin. Such a pattern stays in its zone,
// regardless of the member's zone. The zone is a name of the IANA database; operations refuse a pattern with
// another name.
func InZone(zone, pattern string) string { return cron.ZonePrefix + zone + " " + pattern }
