package livechats

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

func TestEnsureIndexes_LookUps(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	require.NoError(t, EnsureIndexes(t.Context(), database))
	for i := range 50 {
		n := strconv.Itoa(i)
		require.NoError(t, database.Collection("assignments").Insert(t.Context(), document.O(
			"_id", n, "app", "mine", fieldSlot, endedSlot(n), fieldMember, n, fieldGroup, n, fieldParentAssignment, n,
			fieldGroupInfo, document.O(fieldBravoGroupID, n), fieldOutlet, "desk")))
		require.NoError(t, database.Collection("groups").Insert(t.Context(), document.O(
			"_id", n, "app", "mine", fieldExternalID, n, fieldAdminExternalID, n, fieldInletGroupExternalID, n, fieldMember, n,
			fieldAssignment, n, fieldOutlet, "desk")))
		require.NoError(t, database.Collection("admins").Insert(t.Context(), document.O("_id", n, "app", "mine", fieldExternalID, n)))
	}
	require.NoError(t, database.Collection("assignments").Insert(t.Context(), document.O(
		"_id", "open", "app", "mine", fieldSlot, openSlot("ada"), fieldOutlet, "desk")))
	for name, c := range map[string]struct {
		collection string
		filter     document.Object
	}{
		"open ones of an outlet":  {"assignments", openIn("desk")},
		"of a slot":               {"assignments", equal(fieldSlot, openSlot("ada"))},
		"of a member":             {"assignments", equal(fieldMember, "7")},
		"of a group":              {"assignments", equal(fieldGroup, "7")},
		"of a parent":             {"assignments", equal(fieldParentAssignment, "7")},
		"of a Bravo group":        {"assignments", equal(fieldGroupInfo+"."+fieldBravoGroupID, "7")},
		"a group":                 {"groups", equal(fieldExternalID, "7")},
		"the group of an agent":   {"groups", equal(fieldOutlet, "desk").With(fieldAdminExternalID, document.O("$eq", "7"))},
		"a group of the inlet":    {"groups", equal(fieldInletGroupExternalID, "7")},
		"the group of a member":   {"groups", equal(fieldMember, "7")},
		"of an assignment":        {"groups", equal(fieldAssignment, "7")},
		"an agent by external id": {"admins", equal(fieldExternalID, "7")},
	} {
		own, err := query.CompileFilter(document.O(record.FieldApp, "mine"))
		require.NoError(t, err)
		filter, err := query.CompileFilter(c.filter)
		require.NoError(t, err)
		found, err := database.Explain(t.Context(), c.collection, query.And(own, filter), store.FindOptions{})
		require.NoError(t, err)
		require.EqualValues(t, 1, found.Returned, name)
		require.EqualValues(t, 1, found.Examined, name)
	}
}

func TestEnsureIndexes_Retention(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	require.NoError(t, EnsureIndexes(t.Context(), database))
	for i := range 50 {
		n := strconv.Itoa(i)
		require.NoError(t, database.Collection("assignments").Insert(t.Context(), document.O(
			"_id", n, "app", "mine", fieldSlot, endedSlot(n), fieldEndedAt, i)))
		require.NoError(t, database.Collection("groups").Insert(t.Context(), document.O(
			"_id", n, "app", "mine", fieldActive, i%2 == 0, record.FieldUpdatedAt, i)))
	}
	for collection, filter := range map[string]document.Object{
		"assignments": document.O(fieldEndedAt, document.O("$lt", 25)),
		"groups":      document.O(fieldActive, false, record.FieldUpdatedAt, document.O("$lt", 25)),
	} {
		compiled, err := query.CompileFilter(filter)
		require.NoError(t, err)
		path := filter.Keys()[filter.Len()-1]
		sort, err := query.CompileSort(document.O(path, 1))
		require.NoError(t, err)
		found, err := database.Explain(t.Context(), collection, compiled, store.FindOptions{Sort: sort, Limit: 3})
		require.NoError(t, err)
		require.EqualValues(t, 3, found.Examined, collection)
	}
}

func TestEnsureIndex(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	require.NoError(t, EnsureIndexes(t.Context(), database))
	require.NoError(t, EnsureIndex(t.Context(), database, "meta.order"))
	for i := range 50 {
		n := strconv.Itoa(i)
		require.NoError(t, database.Collection("assignments").Insert(t.Context(), document.O(
			"_id", n, "app", "mine", fieldSlot, endedSlot(n), fieldMeta, document.O("order", n))))
	}
	filter, err := query.CompileFilter(document.O(record.FieldApp, "mine", "meta.order", document.O("$eq", "7", "$exists", true)))
	require.NoError(t, err)
	found, err := database.Explain(t.Context(), "assignments", filter, store.FindOptions{})
	require.NoError(t, err)
	require.EqualValues(t, 1, found.Returned)
	require.EqualValues(t, 1, found.Examined)
}
