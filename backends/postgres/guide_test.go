package postgres_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
)

// The statements in docs/guides/postgres.md can be executed.
func TestGuide_Statements(t *testing.T) {
	t.Parallel()
	schema := newSchema(t)
	database := openIn(t, schema)
	members := database.Collection("members")
	require.NoError(t, members.EnsureIndex(t.Context(), store.Ascending("firstName")))
	require.NoError(t, members.Insert(t.Context(), document.O("_id", 1, "firstName", "Ada", "meta", document.O("plan", "pro"))))
	guide, err := os.ReadFile("../../docs/guides/postgres.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllSubmatch(guide, -1)
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		text := strings.NewReplacer("botctx.", schema+".", "'botctx'", "'"+schema+"'").Replace(string(block[1]))
		rows, err := database.Pool().Query(t.Context(), text)
		require.NoError(t, err, text)
		found, err := pgx.CollectRows(rows, pgx.RowToMap)
		require.NoError(t, err, text)
		if strings.Contains(text, schema) {
			require.NotEmpty(t, found, text)
		}
	}
}
