package datasources_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/datasources"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/storetest"
)

// errNotExpressible tells that no operation can say what a case asks for.
var errNotExpressible = errors.New("no operation says this")

// casesOf reads a file of cases, which lies beside the project and is no part of it.
func casesOf(t *testing.T, name string) []storetest.Case {
	t.Helper()
	file, err := os.Open("../../shared/cases/" + name)
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

// TestCases_Mongo runs the cases of query and update semantics through the
// operations.
func TestCases_Mongo(t *testing.T) {
	t.Parallel()
	cases := casesOf(t, "mongo_cases.jsonl")
	missing := 0
	for i := range cases {
		c := &cases[i]
		outcome, err := runCase(t.Context(), c)
		if errors.Is(err, errNotExpressible) {
			missing++
		} else if err := c.Check(outcome, err); err != nil {
			t.Errorf("%s: %v\n%s", c.ID, err, c)
		}
	}
	t.Logf("%d of %d cases cannot be expressed", missing, len(cases))
}

// leftOut are the cases of the server that do not hold through the operations, and why.
var leftOut = map[string]string{
	"S-02720": "$where is refused: it runs code",
	"S-02721": "$jsonSchema is refused",
	"S-04113": "$jsonSchema is refused",
	"S-04080": "a data source that has no entries yet is empty, and not missing",
}

// TestCases_Server runs the cases that are checked against MongoDB itself through the
// operations.
func TestCases_Server(t *testing.T) {
	t.Parallel()
	cases := casesOf(t, "server_cases.jsonl")
	missing := 0
	for i := range cases {
		c := &cases[i]
		outcome, err := runCase(t.Context(), c)
		if errors.Is(err, errNotExpressible) {
			missing++
			continue
		}
		err = c.Check(outcome, err)
		reason, left := leftOut[c.ID]
		switch {
		case left && err == nil:
			t.Errorf("%s holds, and need not be left out: %s", c.ID, reason)
		case err != nil && !left:
			t.Errorf("%s %s: %v\n%s", c.ID, c.Name, err, c)
		}
	}
	t.Logf("%d of %d cases cannot be expressed", missing, len(cases))
}

// caseRun is one case on a data source of its own.
type caseRun struct {
	*datasources.Service

	arguments storetest.Arguments
}

const cases = "cases"

// runCase seeds a data source and runs the operation of a case on it.
func runCase(ctx context.Context, c *storetest.Case) (storetest.Outcome, error) {
	arguments, err := c.Arguments()
	if err != nil {
		return storetest.Outcome{}, err
	}
	if c.Kind == "find" && c.Projection != nil || arguments.Skip < 0 || arguments.Limit < 0 {
		return storetest.Outcome{}, errNotExpressible // Fetching has neither projection, skip nor limit.
	}
	store := memstore.New()
	if err := c.EnsureIndexes(ctx, store.Collection("data/app/"+cases)); err != nil {
		return storetest.Outcome{}, err
	}
	run := caseRun{datasources.New(record.Env{Store: store}, record.Scope{App: "app"}), arguments}
	if len(c.Docs) > 0 {
		_, err := run.UpsertDataToDataSource(ctx, datasource.UpsertParams{DataSourceID: cases, Data: c.Docs})
		if err != nil {
			return storetest.Outcome{}, errNotExpressible // Names or ids that no entry can have.
		}
	}
	switch c.Kind {
	case "find":
		return run.find(ctx)
	case "count":
		return run.count(ctx)
	case "distinct":
		return run.distinct(ctx)
	case "findAndModify":
		return run.findAndModify(ctx)
	case "update", "replace":
		return run.patch(ctx, c.Multi)
	case "geoNear":
		return run.near(ctx)
	default:
		return storetest.Outcome{}, errNotExpressible
	}
}

func (r *caseRun) find(ctx context.Context) (storetest.Outcome, error) {
	found, err := r.FetchDataFromDataSource(ctx, datasource.FetchParams{
		DataSourceID: cases, Filter: r.arguments.Filter, SortBy: r.arguments.Sort,
	})
	return storetest.Outcome{Docs: r.page(found.Entries)}, err
}

// page applies skip and limit, which the operations do not have.
func (r *caseRun) page(entries []document.Object) []document.Object {
	entries = entries[min(int(r.arguments.Skip), len(entries)):]
	if r.arguments.Limit > 0 {
		entries = entries[:min(int(r.arguments.Limit), len(entries))]
	}
	return entries
}

func (r *caseRun) count(ctx context.Context) (storetest.Outcome, error) {
	if r.arguments.Skip != 0 || r.arguments.Limit != 0 {
		found, err := r.find(ctx)
		return storetest.Outcome{Count: int64(len(found.Docs))}, err
	}
	n, err := r.CountDataSource(ctx, datasource.CountParams{CollectionName: cases, Filter: r.arguments.Filter})
	return storetest.Outcome{Count: n}, err
}

func (r *caseRun) near(ctx context.Context) (storetest.Outcome, error) {
	found, err := r.FetchGeoNearFromDataSource(ctx, datasource.FetchGeoNearParams{
		DataSourceID: cases, Data: r.arguments.GeoNear,
	})
	for i, entry := range found.Entries {
		found.Entries[i] = withoutStamps(entry)
	}
	return storetest.Outcome{Docs: found.Entries}, err
}

func (r *caseRun) distinct(ctx context.Context) (storetest.Outcome, error) {
	found, err := r.FetchDistinctDataFromDataSource(ctx, datasource.FetchDistinctParams{
		DataSourceID: cases, Key: r.arguments.Key, Filter: r.arguments.Filter,
	})
	return storetest.Outcome{Values: found.Entries}, err
}

func (r *caseRun) findAndModify(ctx context.Context) (storetest.Outcome, error) {
	before, err := r.CountDataSource(ctx, datasource.CountParams{DataSourceID: cases})
	if err != nil {
		return storetest.Outcome{}, err
	}
	found, err := r.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyParams{
		DataSourceID: cases, Filter: r.arguments.Filter, Patch: r.arguments.Update, SortBy: r.arguments.Sort,
		Option: datasource.FindAndModifyOption{
			New: r.arguments.New, Upsert: r.arguments.Upsert, ArrayFilters: r.arguments.ArrayFilters,
			Projection: r.arguments.Projection,
		},
	})
	if err != nil {
		return storetest.Outcome{}, err
	}
	outcome := storetest.Outcome{After: r.all(ctx)}
	outcome.Upserted = int64(len(outcome.After)) > before
	if found.Value != nil {
		outcome.Doc = withoutStamps(*found.Value)
	}
	return outcome, nil
}

func (r *caseRun) patch(ctx context.Context, multi bool) (storetest.Outcome, error) {
	patched, err := r.PatchDataToDataSource(ctx, datasource.PatchParams{
		DataSourceID: cases, Filter: r.arguments.Filter, Patch: r.arguments.Update, WithModifier: true, Multi: multi,
		Options: datasource.PatchOptions{Upsert: r.arguments.Upsert, ArrayFilters: r.arguments.ArrayFilters, Sort: r.arguments.Sort},
	})
	return storetest.Outcome{
		Matched: patched.Matched, Modified: patched.Modified, Upserted: patched.Inserted == 1, After: r.all(ctx),
	}, err
}

// all returns the whole data source without what the service adds.
func (r *caseRun) all(ctx context.Context) []document.Object {
	found, err := r.FetchDataFromDataSource(ctx, datasource.FetchParams{DataSourceID: cases})
	if err != nil {
		return nil
	}
	for i, entry := range found.Entries {
		found.Entries[i] = withoutStamps(entry)
	}
	return found.Entries
}

func withoutStamps(entry document.Object) document.Object {
	return entry.Without(record.FieldCreatedAt).Without(record.FieldUpdatedAt)
}
