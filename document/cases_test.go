package document_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document/documenttest"
	"github.com/botctx/go-sdk/document/memstore"
)

// TestMongoCases holds the language to small cases on which independent engines
// agree. The file is beside the project and no part of it.
func TestMongoCases(t *testing.T) {
	t.Parallel()
	file, err := os.Open("../../shared/cases/mongo_cases.jsonl")
	if os.IsNotExist(err) {
		t.Skip("the file of cases, ../shared/cases/mongo_cases.jsonl beside the project, is not here")
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	cases, err := documenttest.ReadCases(file)
	require.NoError(t, err)
	require.NotEmpty(t, cases)
	for i := range cases {
		c := &cases[i]
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			outcome, err := c.Run(t.Context(), memstore.New().Collection("cases"))
			require.NoError(t, c.Check(outcome, err), "docs %v\nfilter %v\nupdate %v", c.Docs, c.Filter, c.Update)
		})
	}
}
