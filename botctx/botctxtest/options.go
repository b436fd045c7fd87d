package botctxtest

import (
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

// counting is an operation that takes the options of a collection, and counts meta.n of one
// record up.
type counting struct {
	// name is how the names of its rules begin, parameter the one that holds the options.
	name      string
	op        botctx.Op
	parameter string
	// begin makes the record, {firstName: "Eve", gender: "f", meta: {n: 1, list: [7, 8]}}, and
	// returns the call.
	begin func(t *trial) countCall
	// refused are options that it does not have, or that contradict each other.
	refused []document.Object
}

// countCall counts with options, and returns the record that comes back.
type countCall func(t *trial, options document.Object) (document.Object, error)

// refusedEverywhere are options that none of the operations has.
var refusedEverywhere = []document.Object{
	document.O("collation", document.O("locale", "de")),
	document.O("comment", "why", "nearly", true),
}

// returnsRefused are options of what comes back that say nothing, or contradict each other.
var returnsRefused = []document.Object{
	document.O("returnDocument", "sideways"),
	document.O("new", true, "returnDocument", "before"),
	document.O("new", true, "returnOriginal", true),
	document.O("returnDocument", "after", "returnOriginal", true),
	document.O("returnDocument", "before", "returnOriginal", false),
	document.O("projection", document.O("gender", 1, "meta", 0)),
	document.O("projection", document.O("gender", document.O("$nearly", 1))),
	document.O("fields", document.O("gender", 1, "meta", 0)),
	document.O("projection", document.O("gender", 1), "fields", document.O("meta", 1)),
	document.O("sort", document.O("gender", 2)),
}

var (
	countingMember = counting{
		name: "FindAndModifyMember", op: botctx.OpFindAndModifyMember, parameter: "option", begin: countOnMember,
		refused: returnsRefused,
	}
	countingData = counting{
		name: "FindAndModifyDataFromDataSource", op: botctx.OpFindAndModifyDataFromDataSource, parameter: "option", begin: countOnEntry,
		refused: returnsRefused,
	}
	countingPatch = counting{
		name: "PatchDataToDataSource", op: botctx.OpPatchDataToDataSource, parameter: "options", begin: countByPatch,
	}
)

// returningRules are the rules of the options that say what comes back.
func returningRules(c counting) []Rule {
	return []Rule{
		{
			Name: c.name + "ReturnsByAnySpelling",
			Text: `returnDocument "after" and returnOriginal false are new: true, "before" and true are new: false, ` +
				"and the record is modified all the same",
			check: func(t *trial) { returnsByAnySpelling(t, c) },
		},
		{
			Name:  c.name + "ShowsTheProjection",
			Text:  "projection, or fields as its other name, says which fields come back; the others stay in the record",
			check: func(t *trial) { showsTheProjection(t, c) },
		},
	}
}

// optionRules are the rules of all other options.
func optionRules(c counting) []Rule {
	return []Rule{
		{
			Name:  c.name + "TakesOptionsOfDrivers",
			Text:  "maxTimeMS, writeConcern, comment and hint change no outcome and have no effect",
			check: func(t *trial) { takesOptionsOfDrivers(t, c) },
		},
		{
			Name:  c.name + "RefusesOptions",
			Text:  "an option that is not supported, or contradicts another one, is InvalidArgument with its name, and nothing is changed",
			check: func(t *trial) { refusesOptions(t, c) },
		},
	}
}

// counted is the record whose field is counted.
func counted() document.Object {
	return document.O("firstName", "Eve", "gender", "f", "meta", document.O("n", 1, "list", document.A(7, 8)))
}

func countOnMember(t *trial) countCall {
	var added member.Member
	require.NoError(t, document.Decode(counted(), &added))
	m := t.neighbour(added)
	return func(t *trial, option document.Object) (document.Object, error) {
		p := member.FindAndModifyMemberParams{Filter: document.O("_id", m.ID), Patch: document.Inc("meta.n", 1)}
		require.NoError(t, document.Decode(option, &p.Option))
		result, err := t.home.FindAndModifyMember(t.ctx(), p)
		if err != nil || result.Member == nil {
			require.Zero(t, result, "the result beside an error")
			return document.Object{}, err
		}
		return document.Encode(*result.Member)
	}
}

func countOnEntry(t *trial) countCall {
	t.seed(t.home, counted().With("_id", "eve"))
	return func(t *trial, option document.Object) (document.Object, error) {
		p := findDataParams{DataSourceID: source, Filter: document.O("_id", "eve"), Patch: document.Inc("meta.n", 1)}
		require.NoError(t, document.Decode(option, &p.Option))
		result, err := t.home.FindAndModifyDataFromDataSource(t.ctx(), p)
		if err != nil || result.Value == nil {
			require.Zero(t, result, "the result beside an error")
			return document.Object{}, err
		}
		return *result.Value, nil
	}
}

func countByPatch(t *trial) countCall {
	t.seed(t.home, counted().With("_id", "eve"))
	return func(t *trial, options document.Object) (document.Object, error) {
		p := patchDataParams{DataSourceID: source, Patch: document.Inc("meta.n", 1), WithModifier: true}
		require.NoError(t, document.Decode(options, &p.Options))
		result, err := t.home.PatchDataToDataSource(t.ctx(), p)
		if err != nil {
			require.Zero(t, result, "the result beside an error")
			return document.Object{}, err
		}
		require.Equal(t, datasource.PatchDataToDataSourceResult{Matched: 1, Modified: 1}, result)
		return t.all(t.home)[0], nil
	}
}

func returnsByAnySpelling(t *trial, c counting) {
	for _, test := range []struct {
		option document.Object
		isNew  bool
	}{
		{document.O(), false},
		{document.O("returnDocument", "before"), false},
		{document.O("returnOriginal", true), false},
		{document.O("new", false, "returnDocument", "before", "returnOriginal", true), false},
		{document.O("new", true), true},
		{document.O("returnDocument", "after"), true},
		{document.O("returnOriginal", false), true},
		{document.O("new", true, "returnDocument", "after", "returnOriginal", false), true},
	} {
		t.try(test.option.String(), func(t *trial) {
			one := c.begin(t)
			for before := range 3 {
				expected := before + 1
				if test.isNew {
					expected++
				}
				returned, err := one(t, test.option)
				require.NoError(t, err)
				require.Equal(t, expected, document.Get(returned, "meta.n", 0))
			}
		})
	}
}

// shownPaths are the paths that a projection may leave out.
var shownPaths = []string{"_id", "createdAt", "firstName", "gender", "meta.list", "meta.n"}

func showsTheProjection(t *trial, c counting) {
	name := document.O("firstName", 1)
	for _, test := range []struct {
		option document.Object
		shown  []string
	}{
		{document.O("projection", name), []string{"_id", "firstName"}},
		{document.O("fields", name), []string{"_id", "firstName"}},
		{document.O("fields", name, "projection", name), []string{"_id", "firstName"}},
		{document.O("projection", document.O("_id", 0, "meta.n", true)), []string{"meta.n"}},
		{document.O("projection", document.O("meta", false)), []string{"_id", "createdAt", "firstName", "gender"}},
		{document.O("fields", document.O("gender", 0, "meta.n", 0)), []string{"_id", "createdAt", "firstName", "meta.list"}},
		{document.O("projection", document.O()), shownPaths},
	} {
		t.try(test.option.String(), func(t *trial) {
			one := c.begin(t)
			for _, option := range []document.Object{test.option, test.option.With("new", true)} {
				returned, err := one(t, option)
				require.NoError(t, err)
				require.Equal(t, test.shown, pathsIn(returned))
			}
			whole, err := one(t, document.O())
			require.NoError(t, err)
			require.Equal(t, shownPaths, pathsIn(whole), "what was left out is there still")
			require.Equal(t, 3, document.Get(whole, "meta.n", 0), "it was counted twice")
		})
	}
}

// pathsIn returns those of shownPaths that a record has.
func pathsIn(record document.Object) []string {
	return slices.DeleteFunc(slices.Clone(shownPaths), func(path string) bool {
		_, isThere := record.Lookup(path)
		return !isThere
	})
}

func takesOptionsOfDrivers(t *trial, c counting) {
	one := c.begin(t)
	plain, err := one(t, document.O())
	require.NoError(t, err)
	for i, option := range []document.Object{
		document.O("maxTimeMS", 1), document.O("writeConcern", document.O("w", "majority")), document.O("comment", "why"),
		document.O("hint", document.O("gender", 1)), document.O("maxTimeMS", 1000, "comment", "why", "hint", "gender_1"),
	} {
		returned, err := one(t, option)
		require.NoError(t, err, "%v", option)
		require.Equal(t, document.Get(plain, "meta.n", 0)+i+1, document.Get(returned, "meta.n", 0), "%v", option)
		require.Equal(t, pathsIn(plain), pathsIn(returned), "%v", option)
	}
}

func refusesOptions(t *trial, c counting) {
	one := c.begin(t)
	now := t.state()
	for _, option := range slices.Concat(refusedEverywhere, c.refused) {
		t.try(option.String(), func(t *trial) {
			_, err := one(t, option)
			t.requireError(c.op, boterr.InvalidArgument, c.parameter, err)
			before := now
			now = t.state()
			require.Equal(t, before, now, "a call that fails changes nothing")
		})
	}
}
