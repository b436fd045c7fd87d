package differential

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/store/storetest"
)

// TestCases_LungoAgrees holds lungo to nine in ten of the cases of MongoDB's
// semantics, since the agreement of a peer that knew less would be worth little.
// Operators that lungo lacks count as failed.
func TestCases_LungoAgrees(t *testing.T) {
	t.Parallel()
	lines, err := os.ReadFile("../../../shared/cases/mongo_cases.jsonl")
	if err != nil {
		t.Skip("the file of cases, ../shared/cases/mongo_cases.jsonl beside the project, is not here")
	}
	cases, err := storetest.ReadCases(bytes.NewReader(lines))
	require.NoError(t, err)
	passed, byKind := 0, map[string]int{}
	for i := range cases {
		c := &cases[i]
		out, refused, err := runOnPeer(t.Context(), c)
		if err == nil && c.Check(out, invalid(refused)) == nil {
			passed++
		} else {
			byKind[c.Kind]++
		}
	}
	t.Logf("lungo passes %d of %d cases; it fails, by kind: %v", passed, len(cases), byKind)
	require.GreaterOrEqual(t, passed*10, len(cases)*9)
}

// invalid gives a refusal of lungo the code that a case expects.
func invalid(refused error) error {
	if refused == nil {
		return nil
	}
	return boterr.Invalid("", "%w", refused)
}
