package bolt_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/bolt"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/storetest"
)

// The cases on which MongoDB, or independent engines, agree come out as in memory, and what
// they leave is there when the store is opened anew. Package document judges which of
// them hold.
func TestCases_AsInMemory(t *testing.T) {
	t.Parallel()
	rounds.OnlyThorough(t)
	for _, name := range []string{"mongo_cases.jsonl", "server_cases.jsonl"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cases := casesOf(t, name)
			path := newPath(t)
			store, memory := open(t, path, bolt.WithoutSync()), memstore.New()
			collection := func(i int) string { return fmt.Sprint("case ", i) }
			held := 0
			for i := range cases {
				c := &cases[i]
				outcome, err := c.Run(t.Context(), store.Collection(collection(i)))
				broken := c.Check(outcome, err)
				outcome, err = c.Run(t.Context(), memory.Collection(collection(i)))
				require.Equal(t, fmt.Sprint(c.Check(outcome, err)), fmt.Sprint(broken), c)
				if broken == nil {
					held++
				}
			}
			require.Greater(t, held, len(cases)*99/100)
			require.NoError(t, store.Close())
			store = open(t, path)
			for i := range cases {
				require.Equal(t, contents(t, memory, collection(i)), contents(t, store, collection(i)), &cases[i])
			}
		})
	}
}

// casesOf reads a file of cases, which lies beside the project and is no part of it.
func casesOf(t *testing.T, name string) []storetest.Case {
	t.Helper()
	file, err := os.Open("../../../shared/cases/" + name)
	if os.IsNotExist(err) {
		t.Skipf("the file of cases, ../shared/cases/%s beside the project, is not here", name)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	cases, err := storetest.ReadCases(file)
	require.NoError(t, err)
	require.NotEmpty(t, cases)
	return cases
}
