package livechats

import (
	"context"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
)

// The parameters by which calls name records.
const (
	fieldChannel            = "channel"
	fieldChannelID          = "channelId"
	fieldGroupID            = "groupId"
	fieldAssignmentID       = "assignmentId"
	fieldPreviousAssignment = "previousAssignment"
)

// namedChannel returns the channel that an address names, as it is stored. It must be of one of
// the types allowed; none stands for any.
func (s *core) namedChannel(ctx context.Context, named record.Address, allowed ...channel.Type) (*channel.Channel, error) {
	return channels.Load(ctx, s.ports.Channels, named, allowed...)
}

// assignmentByID is the address of a call that must give assignmentId.
func assignmentByID(id string) record.Address {
	return record.Address{Kind: assignmentKind.Name, IDParameter: fieldAssignmentID, ID: id}
}

// previousAssignment is the address of a call that must give previousAssignment.
func previousAssignment(given *livechat.Assignment) record.Address {
	named := record.Address{Kind: assignmentKind.Name, RecordParameter: fieldPreviousAssignment}
	if given != nil {
		named.Record = &given.ID
	}
	return named
}

// namedAssignment returns the assignment that an address names, as it is stored.
func (s *core) namedAssignment(ctx context.Context, named record.Address) (*livechat.AssignmentRecord, error) {
	return record.Load(named, func(id string) (*livechat.AssignmentRecord, error) { return s.loadAssignment(ctx, id) })
}

// groupByID is the address of a call that must give groupId.
func groupByID(id string) record.Address {
	return record.Address{Kind: groupKind.Name, IDParameter: fieldGroupID, ID: id}
}

// groupByRecord is the address of a call that must give the group's record as group.
func groupByRecord(given *livechat.Group) record.Address {
	named := record.Address{Kind: groupKind.Name, RecordParameter: fieldGroup}
	if given != nil {
		named.Record = &given.ID
	}
	return named
}

// groupByRecordOrID is the address of a call that must give the group's record as group, or its
// id as groupId.
func groupByRecordOrID(given *livechat.Group, id string) record.Address {
	named := groupByRecord(given)
	named.IDParameter, named.ID = fieldGroupID, id
	return named
}

// namedGroup returns the group that an address names, as it is stored.
func (s *core) namedGroup(ctx context.Context, named record.Address) (*livechat.Group, error) {
	return record.Load(named, func(id string) (*livechat.Group, error) { return s.loadGroup(ctx, id) })
}
