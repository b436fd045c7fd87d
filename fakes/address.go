package fakes

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/internal/record"
)

// address is the address of a message's sender or recipient. An external id is unique only in its channel.
type address struct{ channel, externalID string }

type person struct{ memberID, name string }

// typeOf returns the type of a channel, or "" if there is no such channel.
func (p *Platform) typeOf(app, id string) channel.Type {
	loaded, err := p.channelOf(app, id)
	if err != nil {
		return ""
	}
	return loaded.Type
}

// mustBeOfType ends the test if a channel does not have the type that the calling method needs.
func (p *Platform) mustBeOfType(app, id string, want channel.Type, what string) {
	p.test.Helper()
	switch got := p.typeOf(app, id); got {
	case want:
	case "":
		p.test.Fatalf("fakes: there is no channel %s in %s: add it with AddChannel first", id, app)
	default:
		p.test.Fatalf("fakes: the channel %s is of type %s, and only channels of type %s have %s", id, got, want, what)
	}
}

// mustBeOn ends the test if the member is not on the platform that the calling method needs.
func (a *Actor) mustBeOn(want channel.Type, what string) {
	a.platform.test.Helper()
	a.platform.mustBeOfType(a.scope.App, a.scope.Channel, want, what)
}

// AddChannel adds a channel to the store and returns the stored channel. It is switched on; the defaults are
// DefaultApp and type webchat. It ends the test if Config sets a LoadChannel that does not know the channel,
// because such a host makes its channels itself.
func (p *Platform) AddChannel(added channel.Channel) *channel.Channel {
	p.test.Helper()
	if added.App == "" {
		added.App = DefaultApp
	}
	if added.Type == "" {
		added.Type = channel.Webchat
	}
	if added.ID == "" {
		added.ID = p.ids.next("channel")
	}
	added.On = true
	stored, err := channels.New(p.Runtime().Env(), record.Scope{App: added.App}).Save(testContext(), &added)
	if err == nil && p.loadChannel != nil {
		_, err = p.channelOf(added.App, added.ID)
	}
	if err != nil {
		p.test.Fatalf("fakes: AddChannel: %v", err)
	}
	return stored
}

// loadChannel is the type of botctx.Config.LoadChannel.
type loadChannel func(ctx context.Context, app, id string) (*channel.Channel, error)

// channelOf returns a channel of an app: from the LoadChannel of Config if there is one, otherwise from the store.
func (p *Platform) channelOf(app, id string) (*channel.Channel, error) {
	if p.loadChannel == nil {
		return channels.New(p.Runtime().Env(), record.Scope{App: app}).Load(testContext(), id)
	}
	loaded, err := p.loadChannel(testContext(), app, id)
	if loaded, err = record.Found("channel", id, loaded, err); err != nil {
		return nil, fmt.Errorf("calling Config.LoadChannel: %w", err)
	}
	return loaded, nil
}

type knownChannels struct {
	platform *Platform
	app      string
}

func (k knownChannels) GetChannel(_ context.Context, params channel.GetParams) (*channel.Reference, error) {
	_, err := k.platform.channelOf(k.app, params.ChannelID) //nolint:contextcheck // The test makes this call, without a context.
	if err != nil {
		return nil, err
	}
	return &channel.Reference{ChannelID: params.ChannelID, AppID: k.app}, nil
}

type foundChannel struct{ scope botctx.Scope }

func (f foundChannel) GetChannel(context.Context, channel.GetParams) (*channel.Reference, error) {
	return &channel.Reference{ChannelID: f.scope.Channel, AppID: f.scope.App}, nil
}

// SwitchChannel switches a channel of DefaultApp on or off.
func (p *Platform) SwitchChannel(id string, on bool) {
	p.test.Helper()
	channels := channels.New(p.Runtime().Env(), record.Scope{App: DefaultApp})
	loaded, err := channels.Load(testContext(), id)
	if err == nil {
		loaded.On = on
		_, err = channels.Save(testContext(), loaded)
	}
	if err != nil {
		p.test.Fatalf("fakes: SwitchChannel: %v", err)
	}
}

// Pair sets the outlets of DefaultApp that serve the live chats of an inlet, in order, replacing earlier
// ones.
func (p *Platform) Pair(inlet string, outlets ...string) {
	p.test.Helper()
	channels := channels.New(p.Runtime().Env(), record.Scope{App: DefaultApp})
	if err := channels.Pair(testContext(), channels, inlet, outlets...); err != nil {
		p.test.Fatalf("fakes: Pair: %v", err)
	}
}

// appChannels holds the webchat channels made for members added without a channel, by app.
type appChannels struct{ guarded[table[string, string]] }

// defaultChannel returns the id of an app's webchat channel for members added without a channel, and makes
// the channel on first use.
func (p *Platform) defaultChannel(app string) string {
	p.test.Helper()
	p.channels.mu.Lock()
	defer p.channels.mu.Unlock()
	id, ok := p.channels.kept[app]
	if !ok {
		id = p.AddChannel(channel.Channel{App: app}).ID
		put(&p.channels.kept, app, id)
	}
	return id
}

type dataSource struct{ app, name string }

// knownDataSources records the data sources that the test has added or that calls have found non-empty.
type knownDataSources struct {
	guarded[table[dataSource, bool]]

	// ofHost is the set of apps whose data sources come from the test's Override. The platform does not see
	// their entries.
	ofHost map[string]bool
}

func (k *knownDataSources) add(one dataSource) {
	k.mu.Lock()
	defer k.mu.Unlock()
	put(&k.kept, one, true)
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

// noteOverride wraps the test's Override, which may be nil, to record the apps for which it supplies data
// sources.
func (k *knownDataSources) noteOverride(
	override func(botctx.Scope, botctx.Services) botctx.Services,
) func(botctx.Scope, botctx.Services) botctx.Services {
	if override == nil {
		return nil
	}
	return func(scope botctx.Scope, own botctx.Services) botctx.Services {
		given := override(scope, own)
		if given.DataSources != nil && given.DataSources != own.DataSources {
			k.addOfHost(scope.App)
		}
		return given
	}
}

// DataSources returns the sorted names of DefaultApp's data sources that the test has added or in which a
// call of the bot has found or written an entry.
func (p *Platform) DataSources() []string { return p.dataSources.of(DefaultApp) }

// of returns the sorted names of an app's data sources.
func (k *knownDataSources) of(app string) []string {
	var names []string
	for one := range k.state() {
		if one.app == app {
			names = append(names, one.name)
		}
	}
	slices.Sort(names)
	return names
}

// doubt returns a remark that a data source was never added, with the nearest name. It returns "" if the data
// source is known or comes from the test's Override.
func (k *knownDataSources) doubt(of dataSource) string {
	names := k.of(of.app)
	if slices.Contains(names, of.name) || k.isOfHost(of.app) {
		return ""
	}
	if near := nearest.To(of.name, names); near != "" {
		return fmt.Sprintf(" (the data source %q was never added; did you mean %q?)", of.name, near)
	}
	return fmt.Sprintf(" (the data source %q was never added: AddData adds it)", of.name)
}

// doubt returns a remark on a call that found nothing in a data source that was never added, or "" for other
// calls.
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

// use describes how a call used a data source.
type use struct {
	name string
	// entries is the number of entries found or written.
	entries int64
}

// useOf returns how a call used a data source, and false if it used none.
func useOf(made Call) (use, bool) {
	switch of := made.Params.(type) {
	case datasource.CountParams:
		return use{cmp.Or(of.DataSourceID, of.CollectionName), numberFound(made.Result)}, true
	case datasource.FetchParams:
		return use{cmp.Or(of.DataSourceID, of.CollectionName), numberFound(made.Result)}, true
	case datasource.FetchDistinctParams:
		return use{cmp.Or(of.DataSourceID, of.CollectionName), numberFound(made.Result)}, true
	case datasource.FetchGeoNearParams:
		return use{cmp.Or(of.DataSourceID, of.CollectionName), numberFound(made.Result)}, true
	case datasource.PatchParams:
		result, _ := made.Result.(datasource.PatchResult)
		return use{cmp.Or(of.DataSourceID, of.CollectionName), result.Matched + result.Inserted}, true
	case datasource.UpsertParams:
		return use{of.DataSourceID, int64(len(of.Data))}, true
	case datasource.FindAndModifyParams:
		found := numberFound(made.Result)
		if of.Option.Upsert {
			found = 1
		}
		return use{of.DataSourceID, found}, true
	default:
		return use{}, false
	}
}
