package channel

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/record"
)

// fieldChannelID is the parameter that takes the id of a channel.
const fieldChannelID = "channelId"

// Loader gives the channels of an app.
type Loader interface {
	// Load returns the channel of that id in the app with its credentials, or NotFound.
	Load(ctx context.Context, id string) (*Channel, error)
}

// ByRecord is the address of a call that takes the channel's record as channel. The default is
// the scope's own.
func ByRecord(scope record.Scope, given *Channel) record.Address {
	named := record.Address{Kind: kind.Name, RecordParameter: "channel", Own: scope.Channel, MayBeOwn: true}
	if given != nil {
		named.Record = &given.ID
	}
	return named
}

// ByID is the address of a call that takes the channel's id as parameter. The default is the
// scope's own.
func ByID(scope record.Scope, parameter, id string) record.Address {
	return record.Address{Kind: kind.Name, IDParameter: parameter, ID: id, Own: scope.Channel, MayBeOwn: true}
}

// ByRequiredID is the address of a call that must give the channel's id as channelId.
func ByRequiredID(id string) record.Address {
	return record.Address{Kind: kind.Name, IDParameter: fieldChannelID, ID: id}
}

// ByRecordOrID is the address of a call that takes the channel's record as channel, or its id as
// channelId. The default is the scope's own.
func ByRecordOrID(scope record.Scope, given *Channel, id string) record.Address {
	named := ByRecord(scope, given)
	named.IDParameter, named.ID = fieldChannelID, id
	return named
}

// Load returns the channel that an address names, as it is stored. It must be of one of the
// types allowed; none stands for any.
//
// InvalidArgument: the call names no channel, or two. NotFound: the app has no such channel. Unsupported: its
// type is another one.
func Load(ctx context.Context, from Loader, named record.Address, allowed ...Type) (*Channel, error) {
	loaded, err := record.Load(named, func(id string) (*Channel, error) { return from.Load(ctx, id) })
	if err != nil {
		return nil, err
	}
	if len(allowed) > 0 {
		if err := loaded.RequireType(allowed...); err != nil {
			return nil, boterr.At(named.Field(), err)
		}
	}
	return loaded, nil
}
