package record_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/record"
)

// member is the address of a call that may give a member as member or as memberId.
func member(given *string, id string, own *string) record.Address {
	named := record.Address{Kind: "member", RecordParameter: "member", IDParameter: "memberId", Record: given, ID: id}
	if own != nil {
		named.Own, named.MayBeOwn = *own, true
	}
	return named
}

func TestAddress_Resolve(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		named     record.Address
		id, field string
	}{
		"the record":          {member(new("ada"), "", new("eve")), "ada", "member"},
		"the id":              {member(nil, "ada", new("eve")), "ada", "memberId"},
		"both, which are one": {member(new("ada"), "ada", new("eve")), "ada", "member"},
		"neither":             {member(nil, "", new("eve")), "eve", "memberId"},
		"neither, and no parameter for the id": {
			record.Address{Kind: "member", RecordParameter: "member", Own: "eve", MayBeOwn: true}, "eve", "member",
		},
	} {
		id, err := c.named.Resolve()
		require.NoError(t, err, name)
		require.Equal(t, c.id, id, name)
		require.Equal(t, c.field, c.named.Field(), name)
		require.Equal(t, c.id == "eve", c.named.IsOwn(), name)
	}
}

func TestAddress_Resolve_Refuses(t *testing.T) {
	t.Parallel()
	for want, named := range map[string]record.Address{
		"member._id: is missing: a member is found by it":                      member(new(""), "", new("eve")),
		`memberId: is "bob", and member is "ada": give one of both`:            member(new("ada"), "bob", new("eve")),
		"memberId: is missing: this context has no member of its own":          member(nil, "", new("")),
		"memberId: is missing: give the id of a member":                        member(nil, "", nil),
		"member: is missing: this context has no member of its own":            {Kind: "member", RecordParameter: "member", Own: "", MayBeOwn: true},
		"previous: is missing: give an assignment, of which the _id is enough": {Kind: "assignment", RecordParameter: "previous"},
		"previous._id: is missing: an assignment is found by it":               {Kind: "assignment", RecordParameter: "previous", Record: new("")},
		"channel: is missing: this context has no channel of its own":          {Kind: "channel", IDParameter: "channel", Own: "", MayBeOwn: true},
		"memberId[1]: is \"bob\", and member is \"ada\": give one of both":     {Kind: "member", RecordParameter: "member", IDParameter: "memberId[1]", Record: new("ada"), ID: "bob"},
	} {
		_, err := named.Resolve()
		require.EqualError(t, err, "invalid argument: "+want)
	}
}

// stored is a record.
type stored struct{ id string }

// load finds the record "ada" alone.
func load(id string) (*stored, error) {
	switch id {
	case "ada":
		return &stored{id: id}, nil
	case "far":
		return nil, boterr.New(boterr.Unavailable, "id", "the wire is cut")
	case "nil":
		return nil, nil
	default:
		return nil, record.NotFound("member", id)
	}
}

func TestLoad_ReturnsTheRecordAsItIsStored(t *testing.T) {
	t.Parallel()
	found, err := record.Load(member(new("ada"), "", nil), load)
	require.NoError(t, err)
	require.Equal(t, "ada", found.id)
}

func TestLoad_SaysWhereTheIDStands(t *testing.T) {
	t.Parallel()
	for want, named := range map[string]record.Address{
		"not found: member._id: there is no member bob here":              member(new("bob"), "", nil),
		"not found: memberId: there is no member bob here":                member(nil, "bob", nil),
		"not found: memberId: there is no member eve here":                member(nil, "", new("eve")),
		"not found: memberId: there is no member nil here":                member(nil, "nil", nil),
		"unavailable: member._id: the wire is cut":                        member(new("far"), "", nil),
		"invalid argument: memberId: is missing: give the id of a member": member(nil, "", nil),
	} {
		found, err := record.Load(named, load)
		require.EqualError(t, err, want)
		require.Nil(t, found)
	}
}
