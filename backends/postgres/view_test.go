package postgres_test

import (
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/postgres"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/arbitrary"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
)

// shown returns the documents in a view, in order.
func shown(t *testing.T, database *postgres.Store, schema, view string) []document.Object {
	t.Helper()
	rows, err := database.Pool().Query(t.Context(), "SELECT document::text FROM "+pgx.Identifier{schema, view}.Sanitize()+" ORDER BY position")
	require.NoError(t, err)
	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	documents := make([]document.Object, len(texts))
	for i, text := range texts {
		value, err := document.ParseJSON([]byte(text))
		require.NoError(t, err, text)
		documents[i], _ = value.(document.Object)
	}
	return documents
}

// inJSON returns a value as a view shows it.
func inJSON(value any) any {
	switch v := value.(type) {
	case float64:
		switch {
		case math.IsNaN(v):
			return "NaN"
		case math.IsInf(v, 0):
			return map[bool]string{true: "Infinity", false: "-Infinity"}[v > 0]
		}
		return v
	case time.Time:
		if v.Year() > 9999 {
			return v.UnixMilli()
		}
		return v.Format("2006-01-02T15:04:05.000Z")
	case document.Array:
		a := document.A()
		for _, element := range v.All() {
			a = a.Append(inJSON(element))
		}
		return a
	case document.Object:
		o := document.O()
		for name, field := range v.All() {
			o = o.With(name, inJSON(field))
		}
		return o
	default:
		return v
	}
}

func TestView_ShowsDocumentsAsJSON(t *testing.T) {
	t.Parallel()
	schema := newSchema(t)
	database := openIn(t, schema)
	random := rand.New(rand.NewPCG(1, 1))
	var documents []document.Object
	for i, value := range arbitrary.EdgeValues() {
		documents = append(documents, document.O("_id", i, "value", value))
	}
	for i := range rounds.Of(t, 200, 5_000) {
		documents = append(documents, document.O("_id", 1_000+i, "value", arbitrary.Value(random, 4)))
	}
	require.NoError(t, database.Collection("things").Insert(t.Context(), documents...))
	all := shown(t, database, schema, "things")
	require.Len(t, all, len(documents))
	for i, o := range documents {
		require.True(t, document.Equal(inJSON(o), all[i]), "%v is shown as %v", o, all[i])
	}
}

func TestView_HasTheNameOfItsCollection(t *testing.T) {
	t.Parallel()
	schema := newSchema(t)
	database := openIn(t, schema)
	for i, name := range []string{"a", "A", `odd "name"; --`, "_d1", "_collections", strings.Repeat("é", 100), "data.shop.räder"} {
		require.NoError(t, database.Collection(name).Insert(t.Context(), document.O("_id", i)))
		view := name
		if len(name) > 63 || name[0] == '_' {
			require.NoError(t, database.Pool().QueryRow(t.Context(), "SELECT '_view'||n FROM "+schema+"._collections WHERE name=$1", name).Scan(&view))
		}
		require.Equal(t, []document.Object{document.O("_id", i)}, shown(t, database, schema, view), name)
	}
}

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
