package query_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/storetest"
)

// casesOf reads a file of cases. Those of others lie beside the project, and are no part of it.
func casesOf(t *testing.T, name string) []storetest.Case {
	t.Helper()
	file, err := os.Open(name)
	if os.IsNotExist(err) {
		t.Skipf("the file of cases, %s, is not here", name)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	cases, err := storetest.ReadCases(file)
	require.NoError(t, err)
	require.NotEmpty(t, cases)
	return cases
}

// runCase runs a case on a new collection, and says what is not as it expects.
func runCase(ctx context.Context, c *storetest.Case) error {
	outcome, err := c.Run(ctx, memstore.New().Collection("cases"))
	return c.Check(outcome, err)
}

// TestCases_Mongo holds the language to small cases on which independent engines
// agree.
func TestCases_Mongo(t *testing.T) {
	t.Parallel()
	cases := casesOf(t, "../../../shared/cases/mongo_cases.jsonl")
	for i := range cases {
		c := &cases[i]
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, runCase(t.Context(), c), "docs %v\nfilter %v\nupdate %v", c.Docs, c.Filter, c.Update)
		})
	}
}

// TestCases_Decided holds the language to a case for each row of a table of decisions.
func TestCases_Decided(t *testing.T) {
	t.Parallel()
	decisions, err := os.ReadFile("../../docs/decisions.md")
	require.NoError(t, err)
	plain := strings.ReplaceAll(string(decisions), "`", "")
	cases := casesOf(t, "testdata/decided_cases.jsonl")
	for i := range cases {
		c := &cases[i]
		require.NoError(t, runCase(t.Context(), c), c)
		require.Contains(t, plain, "| "+c.ID+" |", "a row of docs/decisions.md")
	}
}

// leftOut are the cases of the server that do not hold here, and why.
var leftOut = map[string]string{
	"S-01155": "look-ahead is refused",
	"S-01156": "look-behind is refused",
	"S-01169": "back-references are refused",
	"S-01171": "possessive quantifiers are refused",
	"S-01224": "\\b after (*UCP) is refused",
	"S-02720": "$where is refused: it runs code",
	"S-02721": "$jsonSchema is refused",
	"S-04113": "$jsonSchema is refused",
	"S-03497": "rests on a 2d index with bounds of its own, which the file lost: the pair is beyond those of every index here",
}

// TestCases_Server holds the language to cases that are checked against MongoDB itself.
func TestCases_Server(t *testing.T) {
	t.Parallel()
	cases := casesOf(t, "../../../shared/cases/server_cases.jsonl")
	for i := range cases {
		c := &cases[i]
		err := runCase(t.Context(), c)
		reason, left := leftOut[c.ID]
		switch {
		case left && err == nil:
			t.Errorf("%s holds, and need not be left out: %s", c.ID, reason)
		case err != nil && !left:
			t.Errorf("%s %s: %v\n%s", c.ID, c.Name, err, c)
		}
	}
}
