package member_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

// idsOf returns the ids of the members of a selection.
func idsOf(t *testing.T, s *member.Service, chosen member.Selection) []string {
	t.Helper()
	ids := []string{}
	for m, err := range s.All(t.Context(), chosen) {
		require.NoError(t, err)
		ids = append(ids, m.ID)
	}
	return ids
}

func TestAll(t *testing.T) {
	t.Parallel()
	a := newApps(t,
		`{"_id": "m2", "channel": "c2", "tags": ["vip"]}`,
		`{"_id": "m1", "channel": "c1", "tags": ["new", "vip"], "firstName": "Ada"}`,
		`{"_id": "m4", "channel": "c1", "tags": [{"name": "vip"}]}`,
		`{"_id": "m3", "channel": "c1", "tags": ["vip"]}`,
	)
	insert(t, a.theirs, `{"_id": "m0", "channel": "c3", "tags": ["vip"]}`)
	for name, c := range map[string]struct {
		chosen member.Selection
		want   []string
	}{
		"all of the app":         {member.Selection{}, []string{"m1", "m2", "m3", "m4"}},
		"of a channel":           {member.Selection{Channel: "c1"}, []string{"m1", "m3", "m4"}},
		"with a tag":             {member.Selection{Tag: "vip"}, []string{"m1", "m2", "m3"}},
		"of a channel, by tag":   {member.Selection{Channel: "c1", Tag: "vip"}, []string{"m1", "m3"}},
		"by a tag's field":       {member.Selection{Filter: document.O("tags.name", "vip")}, []string{"m4"}},
		"by a filter":            {member.Selection{Channel: "c1", Filter: document.O("channel", "c2")}, []string{}},
		"the first page":         {member.Selection{Tag: "vip", Limit: 2}, []string{"m1", "m2"}},
		"the next page":          {member.Selection{Tag: "vip", Limit: 2, After: "m2"}, []string{"m3"}},
		"a tag that nobody has":  {member.Selection{Tag: "v"}, []string{}},
		"a channel that is none": {member.Selection{Channel: "c3"}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, idsOf(t, a.mine, c.chosen))
		})
	}
}

func TestAll_ManyPages(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	want := []string{}
	for i := range 250 {
		want = append(want, fmt.Sprintf("m%03d", i))
		insert(t, a.mine, fmt.Sprintf(`{"_id": "m%03d"}`, i))
	}
	require.Equal(t, want, idsOf(t, a.mine, member.Selection{}))
	require.Equal(t, want[:150], idsOf(t, a.mine, member.Selection{Limit: 150}))
	require.Equal(t, want[100:], idsOf(t, a.mine, member.Selection{After: "m099"}))
	seen, both := 0, a.mine.All(t.Context(), member.Selection{Limit: 2})
	for range 2 {
		for m, err := range both {
			require.NoError(t, err)
			require.Contains(t, want[:2], m.ID)
			seen++
		}
	}
	require.Equal(t, 4, seen, "a list can be read twice")
	for m, err := range a.mine.All(t.Context(), member.Selection{}) {
		require.NoError(t, err)
		require.Equal(t, "m000", m.ID)
		break
	}
}

func TestAll_Errors(t *testing.T) {
	t.Parallel()
	a := newApps(t, `{"_id": "m1"}`)
	for field, chosen := range map[string]member.Selection{
		"limit: must not be negative": {Limit: -1},
		"filter.n.$near2: ":           {Filter: document.O("n", document.O("$near2", 1))},
	} {
		seen := 0
		for m, err := range a.mine.All(t.Context(), chosen) {
			seen++
			require.Nil(t, m)
			require.Equal(t, boterr.InvalidArgument, boterr.CodeOf(err))
			require.ErrorContains(t, err, field)
		}
		require.Equal(t, 1, seen)
	}
}
