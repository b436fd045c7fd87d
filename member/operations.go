package member

import (
	"context"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

// Operations are the operations on members.
//
// A filter sees members of the context's app only, whatever it says. A patch cannot
// change _id, app, channel and createdAt, and what it says about updatedAt, _version
// and etag has no effect: a change renews these. A value of another type than the
// member's field has is InvalidArgument, and so is a required parameter that is missing.
type Operations interface {
	// FindAndModifyMember finds the first member of the whole app that matches, and changes it in
	// one atomic step. Choose filter and patch so that the changed member does not match any more:
	// then an input that is repeated, or several events at once, change it only once.
	//
	// Errors:
	//   - InvalidArgument: a value has another type than the member's field.
	//   - AlreadyExists: another member of the channel has the externalId.
	//   - InvalidArgument: Filter has an unknown operator or an operand of the wrong type.
	//   - InvalidArgument: Patch mixes operators with plain fields, has paths that conflict,
	//     or would change _id, app, channel or createdAt.
	//   - InvalidArgument: SortBy holds something other than 1 and -1.
	//   - Unsupported: Option.Upsert is true: members come into being on their platforms.
	//
	// Specification: Member and data-source operations.
	FindAndModifyMember(ctx context.Context, p FindAndModifyParams) (FindAndModifyResult, error)

	// GetMember reads a member of the app by its id.
	//
	// Errors:
	//   - NotFound: the app has no member with that id.
	//
	// Specification: Member and data-source operations.
	GetMember(ctx context.Context, p GetParams) (*Member, error)

	// PatchMembers changes every member of a channel that matches, all or none. The
	// first of them comes back.
	//
	// Errors:
	//   - InvalidArgument: a value has another type than the member's field.
	//   - AlreadyExists: another member of the channel has the externalId.
	//   - InvalidArgument: Filter has an unknown operator or an operand of the wrong type.
	//   - InvalidArgument: Patch mixes operators with plain fields, has paths that conflict,
	//     would change _id, app, channel or createdAt, or is a replacement without MemberID.
	//   - NotFound: the channel does not exist in the app.
	//
	// Specification: Member and data-source operations.
	PatchMembers(ctx context.Context, p PatchParams) (PatchResult, error)

	// UpdateMember sets the given fields of a member; fields that are not given stay.
	// The last write wins, unless the host asked for etag checks.
	//
	// Errors:
	//   - InvalidArgument: a value has another type than the member's field.
	//   - AlreadyExists: another member of the channel has the externalId.
	//   - InvalidArgument: Member has no _id, or would change app, channel or createdAt.
	//   - NotFound: the app has no member with that _id.
	//   - Conflict: the host asked for etag checks, and member.etag is no longer the stored
	//     one.
	//
	// Specification: Member and data-source operations.
	UpdateMember(ctx context.Context, p UpdateParams) (UpdateResult, error)

	// CheckAndSaveMemberReferFrom keeps in meta.referFrom which channel referred the
	// member to the current one, unless that is known already: the first value stays.
	// The member comes back either way.
	//
	// Errors:
	//   - NotFound: the app has no member with that id.
	//
	// Specification: Member and data-source operations.
	CheckAndSaveMemberReferFrom(ctx context.Context, p CheckAndSaveReferFromParams) (*Member, error)
}

// FindAndModifyParams are the parameters of FindAndModifyMember.
type FindAndModifyParams struct {
	// Filter says which members of the whole app, not of the context's channel alone. Required;
	// an empty one matches every member.
	Filter document.Object `json:"filter,omitzero"`
	// Patch is the change: with WithModifier an update document, such as
	// document.Set("meta.seen", true), and one without operators replaces the whole member;
	// without WithModifier the fields to set. Required.
	Patch document.Object `json:"patch,omitzero"`
	// WithModifier says what Patch is. The default is true.
	WithModifier *bool `json:"withModifier,omitzero"`
	// SortBy says which of several matches is the first, such as O("createdAt", -1).
	// The default is the order in which they were made.
	SortBy document.Object `json:"sortBy,omitzero"`
	// Option says how to find and modify. Those of drivers that change no outcome (maxTimeMS,
	// writeConcern, comment, hint and the like) have no effect, others are refused by name.
	Option FindAndModifyOption `json:"option,omitzero"`
}

// FindAndModifyOption says how to find and modify. Those of drivers that change no outcome (maxTimeMS,
// writeConcern, comment, hint and the like) have no effect, others are refused by name.
type FindAndModifyOption struct {
	// New returns the member as it is after the change. The default is as it was
	// before.
	New bool `json:"new,omitzero"`
	// Upsert is Unsupported where it is true: members come into being on their platforms.
	Upsert bool `json:"upsert,omitzero"`
	// ArrayFilters say which elements of arrays the names in $[name] stand for.
	ArrayFilters []document.Object `json:"arrayFilters,omitzero"`
	// ReturnDocument is "after" in place of New, or "before". ReturnOriginal is the opposite
	// of New.
	ReturnDocument string `json:"returnDocument,omitzero"`
	ReturnOriginal *bool  `json:"returnOriginal,omitzero"`
	// Projection says which fields of the member come back: paths with 1 or 0, or with
	// $slice or $elemMatch of an array. The default is all. Fields is another name of it.
	Projection document.Object `json:"projection,omitzero"`
	Fields     document.Object `json:"fields,omitzero"`
	// Sort is another name of SortBy.
	Sort document.Object `json:"sort,omitzero"`
	// Unknown holds the options of other names. What changes no outcome, such as maxTimeMS,
	// has no effect; others are InvalidArgument.
	Unknown document.Object `json:"-" document:"unknown"`
}

// FindAndModifyResult is the result of FindAndModifyMember.
type FindAndModifyResult struct {
	// OK is 1.
	OK int `json:"ok"`
	// Member is the member before the change, or after it with Option.New. It is nil
	// where none matched.
	Member *Member `json:"member"`
}

// GetParams are the parameters of GetMember.
type GetParams struct {
	// MemberID is the id of the member. Required.
	MemberID string `json:"memberId,omitzero"`
}

// PatchParams are the parameters of PatchMembers.
type PatchParams struct {
	// Channel is the channel whose members are meant; its ID is enough. The default is
	// the context's own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// MemberID is the one member that is meant. The default is all of the channel.
	MemberID string `json:"memberId,omitzero"`
	// Filter says which members; it holds beside MemberID. The default is all.
	Filter document.Object `json:"filter,omitzero"`
	// Patch is the change: the fields to set; with WithModifier an update document, or
	// together with MemberID a replacement. Required.
	Patch document.Object `json:"patch,omitzero"`
	// WithModifier says what Patch is. The default is false.
	WithModifier bool `json:"withModifier,omitzero"`
}

// PatchResult is the result of PatchMembers.
type PatchResult struct {
	// Result is the first member that matched, as it is after the change. It is nil
	// where none matched.
	Result *Member `json:"result"`
}

// UpdateParams are the parameters of UpdateMember.
type UpdateParams struct {
	// Member holds the _id of the member, and the fields to set. Required.
	Member document.Object `json:"member,omitzero"`
}

// UpdateResult is the result of UpdateMember.
type UpdateResult struct {
	// DocsIDs are the ids of what was updated.
	DocsIDs DocsIDs `json:"_docsIds"`
	// Docs is the member after the change.
	Docs *Member `json:"_docs"`
	// Modified is 1, or 0 where the member had these values already.
	Modified int64 `json:"modified"`
}

// DocsIDs are ids by what became of their records.
type DocsIDs struct {
	// Updated is the id of the member, whether it changed or not.
	Updated []string `json:"updated"`
}

// CheckAndSaveReferFromParams are the parameters of
// CheckAndSaveMemberReferFrom.
type CheckAndSaveReferFromParams struct {
	// MemberID is the id of the member. Required.
	MemberID string `json:"memberId,omitzero"`
	// ReferFrom is the channel that refers the member. It is kept as it is: it may be a
	// channel that does not exist any more. Required.
	ReferFrom string `json:"referFrom,omitzero"`
}

// Selection selects members of an app, see Members of a botctx.Runtime. The zero Selection is all of them.
type Selection struct {
	// Channel is the id of the members' channel. The default is every channel of the app.
	Channel string
	// Tag is a text among the tags of the members. The default is any tags or none. For tags that are
	// objects, give a Filter such as document.O("tags.name", "vip").
	Tag string
	// Filter is what else holds for the members; it names the JSON fields of Member. The default is nothing.
	Filter document.Object
	// After is the id of a member: the list begins with the next one. The default is the first member.
	After string
	// Limit is the number of members to return at most. The default is 0, for all.
	Limit int
}
