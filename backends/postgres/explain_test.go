package postgres_test

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
)

// arguments has arguments for explaining each statement.
var arguments = map[string]string{
	"byID": `'\x01'`, "byIDs": `'{"\\x01"}'`, "all": "10", "version": "", "lockID": `'\x01'`, "lock": "'{1,2}'", "lockFree": "'{1,2}'",
	"insert": `'\x01', '\x01', 2, '{1}', '{"\\x01"}', '{}', '{}'`, "replace": `'{1}', '{"\\x01"}'`, "remove": "'{1}'", "page": "1, 10",
	"up": `1, '\x01', '\x02', 10`, "down": `1, '\x01', '\x02', 10`, "ups": `1, '{"\\x01"}', '{"\\x02"}', 10`,
	"downs": `1, '{"\\x01"}', '{"\\x02"}', 10`, "positions": `1, '{"\\x01"}', '{"\\x02"}', 10`, "count": `1, '{"\\x01"}', '{"\\x02"}'`,
	"nextUp": `1, '\x01', '\x02'`, "nextDown": `1, '\x01', '\x02'`, "add": `'{1}', '{"\\x01"}', '{1}'`, "drop": `'{1}', '{"\\x01"}', '{1}'`,
	"addOnce": `'{1}', '{"\\x01"}', '{1}'`, "clash": `'{1}', '{"\\x01"}', '{1}'`, "clear": "1, 2",
	"lockGroup": `'{"\\x01"}', 10`, "insertGroup": `'{"\\x01"}', '{"\\x01"}', 2, '{1}', '{"\\x01"}', '{1}'`,
	"above": `1, '\x01', 10`, "below": `1, '\x01', 10`,
}

// sorting lists the statements that sort their rows. All others read in the order of an index.
var sorting = []string{"positions", "ups", "downs", "lock", "lockFree", "byIDs", "clash"}

func TestExplain_EachStatementUsesItsIndex(t *testing.T) {
	t.Parallel()
	for _, count := range []int{0, 3_000} {
		t.Run(strconv.Itoa(count), func(t *testing.T) {
			t.Parallel()
			database := open(t)
			c := database.Collection("entries")
			require.NoError(t, c.EnsureIndex(t.Context(), store.Ascending("due")))
			require.NoError(t, c.EnsureIndex(t.Context(), store.Index{Keys: store.Ascending("number").Keys, Unique: true}))
			for from := 0; from < count; from += 1_000 {
				documents := make([]document.Object, 1_000)
				for i := range documents {
					documents[i] = document.O("_id", from+i, "due", i, "number", from+i)
				}
				require.NoError(t, c.Insert(t.Context(), documents...))
			}
			_, err := database.Pool().Exec(t.Context(), "ANALYZE")
			require.NoError(t, err)
			texts, err := database.Texts(t.Context(), "entries")
			require.NoError(t, err)
			for name, of := range texts {
				if name == "lockTable" || name == "len" { // lockTable has no plan, and len counts all documents.
					continue
				}
				for _, text := range of {
					plan := requireIndexed(t, database.Pool().Begin, name, text)
					if count > 0 && !slices.Contains(sorting, name) { // The plan for an empty table may sort.
						require.NotRegexp(t, `(?m)^\W*Sort  \(`, plan, "%s: %s", name, text)
					}
				}
			}
		})
	}
}

// Scans of other tables are allowed: the catalogue has few rows, and functions have no index.
var scanned = regexp.MustCompile(`(?:Seq Scan on|Bitmap Heap Scan on) (_[dku]\d+)`)

func requireIndexed(t *testing.T, begin func(context.Context) (pgx.Tx, error), name, text string) (plan string) {
	t.Helper()
	given, isKnown := arguments[name]
	require.True(t, isKnown, "there are no arguments for %s", name)
	tx, err := begin(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(t.Context())) }()
	_, err = tx.Exec(t.Context(), "PREPARE explained AS "+text)
	require.NoError(t, err, name)
	execute := "EXPLAIN EXECUTE explained"
	if given != "" {
		execute += "(" + given + ")"
	}
	rows, err := tx.Query(t.Context(), execute)
	require.NoError(t, err, name)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err, name)
	_, err = tx.Exec(t.Context(), "DEALLOCATE explained")
	require.NoError(t, err)
	plan = strings.Join(lines, "\n")
	require.NotRegexp(t, scanned, plan, "%s: %s", name, text)
	return plan
}
