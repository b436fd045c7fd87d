package botctxtest

import (
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/member"
)

var memberConcurrencyRules = []Rule{
	{
		Name:  "FindAndModifyMemberIsOneStep",
		Text:  "findAndModifyMember finds and modifies in one atomic step: of many at once, each sees the change of the one before",
		check: findAndModifyMemberIsOneStep,
	},
	{
		Name:  "PatchMembersLosesNoChange",
		Text:  "patchMembers changes each member atomically: no change of many at once is lost",
		check: patchMembersLosesNoChange,
	},
	{
		Name:  "UpdateMemberLosesNoField",
		Text:  "updateMember writes the given fields alone: of many at once, none takes back what another wrote",
		check: updateMemberLosesNoField,
	},
}

var dataConcurrencyRules = []Rule{
	{
		Name:  "FindAndModifyDataFromDataSourceClaimsEachOnce",
		Text:  "findAndModifyDataFromDataSource is one atomic step: of many callers at once, no two claim the same entry",
		check: eachEntryIsClaimedOnce,
	},
	{
		Name:  "PatchDataToDataSourceLosesNoChange",
		Text:  "patchDataToDataSource changes each entry atomically: no change of many at once is lost",
		check: patchDataLosesNoChange,
	},
	{
		Name:  "UpsertDataToDataSourceInsertsOnceOfMany",
		Text:  "of many upserts of one _id at once, one inserts and the others update",
		check: oneUpsertInserts,
	},
}

// workers is the number of goroutines that write at once, and rounds what each does
// one after the other.
const (
	workers = 16
	rounds  = 5
)

// atOnce runs work in many goroutines, and ends the rule with the first error.
func (t *trial) atOnce(work func(worker int) error) {
	t.Helper()
	for _, err := range conformance.AtOnce(workers, work) {
		require.NoError(t, err)
	}
}

// repeat runs work for each round, until it fails.
func repeat(work func() error) error {
	for range rounds {
		if err := work(); err != nil {
			return err
		}
	}
	return nil
}

func findAndModifyMemberIsOneStep(t *trial) {
	var seen sync.Map
	t.atOnce(func(int) error {
		return repeat(func() error {
			result, err := t.home.FindAndModifyMember(t.ctx(), member.FindAndModifyMemberParams{
				Filter: document.O("_id", t.home.scope.Member), Patch: document.Inc("meta.n", 1),
				Option: member.FindAndModifyOption{New: true},
			})
			if result.Member != nil {
				seen.Store(document.Get(result.Member.Meta, "n", 0), true)
			}
			return err
		})
	})
	for n := 1; n <= workers*rounds; n++ {
		_, ok := seen.Load(n)
		require.True(t, ok, "nobody was given %d", n)
	}
	require.Equal(t, workers*rounds, document.Get(t.load(t.home.member).Meta, "n", 0))
}

func patchMembersLosesNoChange(t *trial) {
	t.neighbour(member.Member{})
	t.atOnce(func(int) error {
		return repeat(func() error {
			return errorOf(t.home.PatchMembers(t.ctx(), member.PatchMembersParams{
				Patch: document.Inc("meta.n", 1), WithModifier: true,
			}))
		})
	})
	for _, m := range t.added {
		if m.App == t.home.scope.App {
			require.Equal(t, workers*rounds, document.Get(t.load(m).Meta, "n", 0))
		}
	}
}

func updateMemberLosesNoField(t *trial) {
	fields := []string{"firstName", "lastName", "gender", "email", "locale", "customLocale", "platform", "botId"}
	t.atOnce(func(worker int) error {
		field := fields[worker%len(fields)]
		return errorOf(t.home.UpdateMember(t.ctx(), member.UpdateMemberParams{
			Member: document.O("_id", t.home.scope.Member, field, field),
		}))
	})
	after, err := document.Encode(t.load(t.home.member))
	require.NoError(t, err)
	for _, field := range fields {
		require.Equal(t, field, document.Get(after, field, ""))
	}
}

func eachEntryIsClaimedOnce(t *trial) {
	const coupons = workers * rounds / 2
	for i := range coupons {
		t.seed(t.home, document.O("_id", i, "taken", false))
	}
	var mutex sync.Mutex
	claimed, inVain := map[int]int{}, 0
	t.atOnce(func(worker int) error {
		return repeat(func() error {
			result, err := t.home.FindAndModifyDataFromDataSource(t.ctx(), datasource.FindAndModifyDataFromDataSourceParams{
				DataSourceID: source, Filter: document.O("taken", false), Patch: document.Set("taken", true, "by", worker),
			})
			mutex.Lock()
			defer mutex.Unlock()
			if result.Value == nil {
				inVain++
			} else {
				claimed[document.Get(result.Value, "_id", -1)]++
			}
			return err
		})
	})
	require.Len(t, claimed, coupons)
	for id, times := range claimed {
		require.Equal(t, 1, times, "how often %d was claimed", id)
	}
	require.Equal(t, workers*rounds-coupons, inVain, "how many claimed in vain")
}

func patchDataLosesNoChange(t *trial) {
	t.seed(t.home, document.O("_id", 1, "n", 0), document.O("_id", 2, "n", 0))
	t.atOnce(func(int) error {
		return repeat(func() error {
			return errorOf(t.home.PatchDataToDataSource(t.ctx(), datasource.PatchDataToDataSourceParams{
				DataSourceID: source, Patch: document.Inc("n", 1), WithModifier: true, Multi: true,
			}))
		})
	})
	t.requireHolds(t.home, document.O("_id", 1, "n", workers*rounds), document.O("_id", 2, "n", workers*rounds))
}

func oneUpsertInserts(t *trial) {
	var mutex sync.Mutex
	var inserted, matched int64
	t.atOnce(func(worker int) error {
		saved, err := t.home.UpsertDataToDataSource(t.ctx(), datasource.UpsertDataToDataSourceParams{
			DataSourceID: source, Data: document.One(document.O("_id", "a", "by", worker)),
		})
		mutex.Lock()
		defer mutex.Unlock()
		inserted += saved.Result.Inserted
		matched += saved.Result.Matched
		return err
	})
	require.Equal(t, int64(1), inserted)
	require.Equal(t, int64(workers-1), matched)
	require.Len(t, t.all(t.home), 1)
}
