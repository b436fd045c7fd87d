package member

import (
	"context"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

// Operations are the operations on members.
//
// A filter matches only members of the context's app. A patch cannot change _id, app, channel and
// createdAt. Values given for updatedAt, _version and etag are ignored, because every change renews
// these fields. A value that does not have the type of the member's field is InvalidArgument, and
// so is a missing required parameter.
type Operations interface {
	// FindAndModifyMember atomically changes the first matching member of the whole app. If the
	// changed member no longer matches Filter, repeated and concurrent calls change it only once.
	//
	// Errors:
	//   - InvalidArgument: a value does not have the type of the member's field.
	//   - AlreadyExists: another member of the channel has the externalId.
	//   - InvalidArgument: Filter has an unknown operator or an operand of the wrong type.
	//   - InvalidArgument: Patch mixes operators with plain fields, has conflicting paths, or would
	//     change _id, app, channel or createdAt.
	//   - InvalidArgument: SortBy has a value other than 1 and -1.
	//   - Unsupported: Option.Upsert is true; members are created only when they first write.
	//
	// Specification: Member and data-source operations.
	FindAndModifyMember(ctx context.Context, p FindAndModifyParams) (FindAndModifyResult, error)

	// GetMember reads a member of the app by id.
	//
	// Errors:
	//   - NotFound: the app has no member with that id.
	//
	// Specification: Member and data-source operations.
	GetMember(ctx context.Context, p GetParams) (*Member, error)

	// PatchMembers changes every matching member of a channel and returns the first. If one of them
	// cannot be changed, none is.
	//
	// Errors:
	//   - InvalidArgument: a value does not have the type of the member's field.
	//   - AlreadyExists: another member of the channel has the externalId.
	//   - InvalidArgument: Filter has an unknown operator or an operand of the wrong type.
	//   - InvalidArgument: Patch mixes operators with plain fields, has conflicting paths, would
	//     change _id, app, channel or createdAt, or is a replacement without MemberID.
	//   - NotFound: the channel does not exist in the app.
	//
	// Specification: Member and data-source operations.
	PatchMembers(ctx context.Context, p PatchParams) (PatchResult, error)

	// UpdateMember sets the given fields of a member and keeps the others. The last write wins,
	// unless the host turned on etag checks.
	//
	// Errors:
	//   - InvalidArgument: a value does not have the type of the member's field.
	//   - AlreadyExists: another member of the channel has the externalId.
	//   - InvalidArgument: Member has no _id, or would change app, channel or createdAt.
	//   - NotFound: the app has no member with that _id.
	//   - Conflict: the host turned on etag checks, and member.etag is not the stored one.
	//
	// Specification: Member and data-source operations.
	UpdateMember(ctx context.Context, p UpdateParams) (UpdateResult, error)

	// CheckAndSaveMemberReferFrom stores in meta.referFrom the channel that referred the member to
	// the current one. It keeps a value that is already stored. It returns the member in either
	// case.
	//
	// Errors:
	//   - NotFound: the app has no member with that id.
	//
	// Specification: Member and data-source operations.
	CheckAndSaveMemberReferFrom(ctx context.Context, p CheckAndSaveReferFromParams) (*Member, error)
}

// FindAndModifyParams are the parameters of FindAndModifyMember.
type FindAndModifyParams struct {
	// Filter selects members of the whole app, not only of the context's channel. An empty filter
	// selects all. Required.
	Filter document.Object `json:"filter,omitzero"`
	// Patch is the change. With WithModifier it is an update document, such as
	// document.Set("meta.seen", true); without operators it replaces the whole member. Without
	// WithModifier it holds the fields to set. Required.
	Patch document.Object `json:"patch,omitzero"`
	// WithModifier selects the form of Patch. The default is true.
	WithModifier *bool `json:"withModifier,omitzero"`
	// SortBy decides which of several matches is first, such as O("createdAt", -1). The default is
	// the order of creation.
	SortBy document.Object `json:"sortBy,omitzero"`
	// Option controls the operation. Driver options that do not change the outcome (maxTimeMS,
	// writeConcern, comment, hint and the like) are ignored; others are InvalidArgument.
	Option FindAndModifyOption `json:"option,omitzero"`
}

// FindAndModifyOption controls FindAndModifyMember.
type FindAndModifyOption struct {
	// New returns the member after the change. The default is the member before it.
	New bool `json:"new,omitzero"`
	// Upsert must not be true, because members are created only when they first write.
	Upsert bool `json:"upsert,omitzero"`
	// ArrayFilters are conditions on array elements, one for each $[name] in a path.
	ArrayFilters []document.Object `json:"arrayFilters,omitzero"`
	// ReturnDocument is "after" to return the member after the change, like New, or "before".
	// ReturnOriginal is the opposite of New.
	ReturnDocument string `json:"returnDocument,omitzero"`
	ReturnOriginal *bool  `json:"returnOriginal,omitzero"`
	// Projection selects the fields to return: paths with 1 or 0, or with $slice or $elemMatch for
	// an array. The default is all fields. Fields is another name for Projection.
	Projection document.Object `json:"projection,omitzero"`
	Fields     document.Object `json:"fields,omitzero"`
	// Sort is another name for SortBy.
	Sort document.Object `json:"sort,omitzero"`
	// Unknown holds other options. Those that do not change the outcome, such as maxTimeMS, are
	// ignored; others are InvalidArgument.
	Unknown document.Object `json:"-" document:"unknown"`
}

// FindAndModifyResult is the result of FindAndModifyMember.
type FindAndModifyResult struct {
	// OK is 1.
	OK int `json:"ok"`
	// Member is the member before the change, or after it with Option.New. It is nil if none
	// matched.
	Member *Member `json:"member"`
}

// GetParams are the parameters of GetMember.
type GetParams struct {
	// MemberID is the id of the member. Required.
	MemberID string `json:"memberId,omitzero"`
}

// PatchParams are the parameters of PatchMembers.
type PatchParams struct {
	// Channel is the channel of the members; its ID is enough. The default is the context's
	// own.
	Channel *channel.Channel `json:"channel,omitzero"`
	// MemberID limits the change to one member. The default is all members of the channel. In JSON, ""
	// is InvalidArgument.
	MemberID string `json:"memberId,omitzero" document:"notEmpty"`
	// Filter selects members, together with MemberID. The default is all.
	Filter document.Object `json:"filter,omitzero"`
	// Patch is the change: the fields to set, or, with WithModifier, an update document or (only
	// with MemberID) a replacement. Required.
	Patch document.Object `json:"patch,omitzero"`
	// WithModifier selects the form of Patch. The default is false.
	WithModifier bool `json:"withModifier,omitzero"`
}

// PatchResult is the result of PatchMembers.
type PatchResult struct {
	// Result is the first member that matched, after the change. It is nil if none matched.
	Result *Member `json:"result"`
}

// UpdateParams are the parameters of UpdateMember.
type UpdateParams struct {
	// Member holds the member's _id and the fields to set. Required.
	Member document.Object `json:"member,omitzero"`
}

// UpdateResult is the result of UpdateMember.
type UpdateResult struct {
	// DocsIDs are the ids of the updated records.
	DocsIDs DocsIDs `json:"_docsIds"`
	// Docs is the member after the change.
	Docs *Member `json:"_docs"`
	// Modified is 1, or 0 if the member already had these values.
	Modified int64 `json:"modified"`
}

// DocsIDs holds the ids of changed records.
type DocsIDs struct {
	// Updated holds the member's id, whether or not the member changed.
	Updated []string `json:"updated"`
}

// CheckAndSaveReferFromParams are the parameters of CheckAndSaveMemberReferFrom.
type CheckAndSaveReferFromParams struct {
	// MemberID is the id of the member. Required.
	MemberID string `json:"memberId,omitzero"`
	// ReferFrom is the channel that referred the member. It is stored unchecked, because the
	// channel may no longer exist. Required.
	ReferFrom string `json:"referFrom,omitzero"`
}

// Selection selects members of an app for botctx.Runtime.Members. The zero Selection selects all members.
type Selection struct {
	// Channel is the id of the members' channel. The default is every channel of the app.
	Channel string
	// Tag is a string that must be among the member's tags. The default is any member. For tags that are
	// objects, use a Filter such as document.O("tags.name", "vip").
	Tag string
	// Filter is an additional condition on the JSON fields of Member. The default is none.
	Filter document.Object
	// After is the id of the last member of the previous page. The list continues after that member.
	// The default is the start.
	After string
	// Limit is the maximum number of members to return. The default is 0, for all.
	Limit int
}
