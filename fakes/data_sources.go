package fakes

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/internal/record"
)

// dataSource names a data source of an app.
type dataSource struct{ app, name string }

// knownDataSources are the data sources that are known to have or to have had entries, or that the
// test has added without any.
type knownDataSources struct {
	mu   sync.Mutex
	kept map[dataSource]bool
	// ofHost are the apps whose data sources the test's Override gives: the platform does not know
	// what was added to them.
	ofHost map[string]bool
}

func (k *knownDataSources) add(one dataSource) {
	k.mu.Lock()
	defer k.mu.Unlock()
	put(&k.kept, one, true)
}

func (k *knownDataSources) all() map[dataSource]bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return copyOfMap(k.kept)
}

func (k *knownDataSources) set(kept map[dataSource]bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept = kept
}

func (k *knownDataSources) addOfHost(app string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	put(&k.ofHost, app, true)
}

func (k *knownDataSources) isOfHost(app string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ofHost[app]
}

// noteOverride returns the Override of a test, which may be nil, as one that notes for which apps it
// gives data sources.
func (k *knownDataSources) noteOverride(
	override func(record.Scope, botctx.Services) botctx.Services,
) func(record.Scope, botctx.Services) botctx.Services {
	if override == nil {
		return nil
	}
	return func(scope record.Scope, own botctx.Services) botctx.Services {
		given := override(scope, own)
		if given.DataSources != nil && given.DataSources != own.DataSources {
			k.addOfHost(scope.App)
		}
		return given
	}
}

// DataSources returns the names of the data sources of DefaultApp that the test has added, or in which
// a call of the bot's has found or written something, sorted.
func (p *Platform) DataSources() []string { return p.dataSources.of(DefaultApp) }

// of returns the names of an app's.
func (k *knownDataSources) of(app string) []string {
	var names []string
	for one := range k.all() {
		if one.app == app {
			names = append(names, one.name)
		}
	}
	slices.Sort(names)
	return names
}

// doubt says that a data source was never added, with the one that may be meant. It is "" for one
// that was, and for those of the test's Override.
func (k *knownDataSources) doubt(of dataSource) string {
	names := k.of(of.app)
	if slices.Contains(names, of.name) || k.isOfHost(of.app) {
		return ""
	}
	if near := nearest.To(of.name, names); near != "" {
		return fmt.Sprintf(" (the data source %q was never added, perhaps %q is meant)", of.name, near)
	}
	return fmt.Sprintf(" (the data source %q was never added: AddData adds it)", of.name)
}

// doubt says of a call that found nothing in a data source that this was never added, "" where
// that is not so.
func (p *Platform) doubt(ctx context.Context, made Call) string {
	use, isOfData := useOf(made)
	if !isOfData || made.Err != nil {
		return ""
	}
	of := dataSource{made.Scope.App, use.name}
	if use.entries == 0 {
		return cmp.Or(p.dataSources.doubt(of), p.doubtFields(Observing(ctx), of, made))
	}
	p.dataSources.add(of)
	return ""
}

// use is what a call did with a data source.
type use struct {
	name string
	// entries is how many it found or wrote.
	entries int64
}

// useOf returns what a call did with a data source, false for other calls.
func useOf(made Call) (use, bool) {
	switch of := made.Params.(type) {
	case datasource.CountDataSourceParams:
		return use{cmp.Or(of.DataSourceID, of.CollectionName), numberFound(made.Result)}, true
	case datasource.FetchDataFromDataSourceParams:
		return use{cmp.Or(of.DataSourceID, of.CollectionName), numberFound(made.Result)}, true
	case datasource.FetchDistinctDataFromDataSourceParams:
		return use{cmp.Or(of.DataSourceID, of.CollectionName), numberFound(made.Result)}, true
	case datasource.FetchGeoNearFromDataSourceParams:
		return use{cmp.Or(of.DataSourceID, of.CollectionName), numberFound(made.Result)}, true
	case datasource.PatchDataToDataSourceParams:
		result, _ := made.Result.(datasource.PatchDataToDataSourceResult)
		return use{cmp.Or(of.DataSourceID, of.CollectionName), result.Matched + result.Inserted}, true
	case datasource.UpsertDataToDataSourceParams:
		return use{of.DataSourceID, int64(len(of.Data))}, true
	case datasource.FindAndModifyDataFromDataSourceParams:
		found := numberFound(made.Result)
		if of.Option.Upsert {
			found = 1
		}
		return use{of.DataSourceID, found}, true
	default:
		return use{}, false
	}
}
