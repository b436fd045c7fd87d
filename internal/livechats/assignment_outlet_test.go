package livechats_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/livechats"
)

// putOpen stores an open assignment of mine, of a member that no other has. The fields are
// JSON that begins with a comma.
func (s *fixture) putOpen(t *testing.T, id string, createdAt int64, fields string) {
	t.Helper()
	s.put(t, "assignments", fmt.Sprintf(`{"_id": %q, "app": "mine", "_version": 1, "createdAt": %d, "updatedAt": %d, "etag": "e",
		"inlet": "web", "member": "member of %s", "slot": "member/member of %s" %s}`, id, createdAt, createdAt, id, id, fields))
}

// outletOf returns the id of the assignment that a look-up by outlet gives.
func outletOf(t *testing.T, s *livechats.Service, outlet string) any {
	t.Helper()
	return withField(t, must(t, s.GetAssignmentByOutlet, `{"channelId": "`+outlet+`"}`), "_id")
}

const ticketAtDesk = `, "sentAt": 1, "tickets": [{"id": "1", "channel": "desk", "sentAt": 1}]`

func TestGetAssignmentByOutlet_IsThere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields string
		is     bool
	}{
		"a ticket is there":           {ticketAtDesk, true},
		"it was taken there":          {ticketAtDesk + `, "assignee": "eve", "outlet": "desk"`, true},
		"it was taken elsewhere":      {ticketAtDesk + `, "assignee": "eve", "outlet": "team"`, false},
		"the channel has it directly": {`, "sentAt": 1, "direct": "desk", "outlet": "desk", "tickets": []`, true},
		"its tickets are elsewhere":   {`, "sentAt": 1, "tickets": [{"id": "1", "channel": "team", "sentAt": 1}]`, false},
		"one of its tickets is there": {`, "tickets": [{"channel": "team", "sentAt": 1}, {"channel": "desk", "sentAt": 1}]`, true},
		"the ticket is not sent yet":  {`, "tickets": [{"channel": "desk"}, {"channel": "team", "sentAt": 1}]`, false},
		"the ticket was recalled":     {`, "tickets": [{"channel": "desk", "sentAt": 1, "recalledAt": 2}]`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			s.putOpen(t, "a1", 1, c.fields)
			s.putAssignment(t, "ended", 2, `, "outlet": "desk"`)
			if c.is {
				require.Equal(t, "a1", outletOf(t, s.mine.Service, "desk"))
				return
			}
			requireRefused(t, s, s.mine.GetAssignmentByOutlet, refused{`{"channelId": "desk"}`, boterr.NotFound, "channelId"})
		})
	}
}

func TestGetAssignmentByOutlet_Newest(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.putOpen(t, "second", 7, ticketAtDesk)
	s.putOpen(t, "third", 7, ticketAtDesk)
	s.putOpen(t, "first", 3, ticketAtDesk)
	require.Equal(t, "third", outletOf(t, s.mine.Service, "desk"))
}

func TestGetAssignmentByOutlet_MetaAsFilter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meta string
		is   bool
	}{
		"data is no condition":              {`{"locale": "fr", "topic": {"id": 1}}`, true},
		"an operator matches":               {`{"locale": {"$in": ["de", "fr"]}}`, true},
		"an operator does not match":        {`{"locale": {"$in": ["en"]}}`, false},
		"a path":                            {`{"meta.team": {"$eq": "sales"}}`, true},
		"conditions beside data":            {`{"topic": "bill", "locale": {"$ne": "de"}}`, false},
		"all conditions hold":               {`{"locale": {"$in": ["de"]}, "meta.team": {"$ne": "sales"}}`, false},
		"an operator at the top":            {`{"$or": [{"locale": "en"}, {"meta.team": "sales"}]}`, true},
		"an operator at the top that fails": {`{"$nor": [{"locale": "de"}]}`, false},
		"no filter can have it":             {`{"price": {"$": 5}}`, true},
		"an empty one":                      {`{}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			s.mine.addMember(t, `{"_id": "eve", "channel": "desk", "locale": "de", "meta": {"team": "sales"}}`)
			s.putOpen(t, "for everyone", 1, ticketAtDesk)
			s.putOpen(t, "asked", 2, ticketAtDesk+`, "meta": `+c.meta)
			want := map[bool]string{true: "asked", false: "for everyone"}[c.is]
			require.Equal(t, want, outletOf(t, s.mine.as("desk", "eve"), "desk"))
		})
	}
}

func TestGetAssignmentByOutlet_WithoutMember(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.putOpen(t, "asked", 2, ticketAtDesk+`, "meta": {"locale": {"$in": ["de"]}}`)
	requireRefused(t, s, s.mine.as("desk", "").GetAssignmentByOutlet,
		refused{`{"channelId": "desk"}`, boterr.NotFound, "channelId"})
	requireRefused(t, s, s.mine.as("desk", "gone").GetAssignmentByOutlet,
		refused{`{"channelId": "desk"}`, boterr.NotFound, "member"})
}

func TestGetAssignmentByOutlet_Refuses(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.put(t, "assignments", `{"_id": "x", "app": "theirs", "createdAt": 1, "slot": "member/tom", "member": "tom", "outlet": "foreign"}`)
	requireRefused(t, s, s.mine.GetAssignmentByOutlet,
		refused{`{}`, boterr.InvalidArgument, "channelId"},
		refused{`{"channelId": "none"}`, boterr.NotFound, "channelId"},
		refused{`{"channelId": "foreign"}`, boterr.NotFound, "channelId"},
		refused{`{"channelId": "desk"}`, boterr.NotFound, "channelId"})
	require.Equal(t, "x", outletOf(t, s.theirs.Service, "foreign"))
}
