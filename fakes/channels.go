package fakes

import (
	"context"
	"fmt"
	"sync"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/record"
)

// AddChannel adds a channel to the store and returns it as it is stored. It is on; its app is
// DefaultApp and its type webchat where it has none. It ends the test where Config sets a
// LoadChannel that does not know the channel: such a host makes its channels itself.
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

// loadChannel is botctx.Config.LoadChannel: a host's own way to load channels.
type loadChannel func(ctx context.Context, app, id string) (*channel.Channel, error)

// channelOf returns a channel of an app: by the host's function, or from the store.
func (p *Platform) channelOf(app, id string) (*channel.Channel, error) {
	if p.loadChannel == nil {
		return channels.New(p.Runtime().Env(), record.Scope{App: app}).Load(testContext(), id)
	}
	loaded, err := p.loadChannel(testContext(), app, id)
	if loaded, err = record.Found("channel", id, loaded, err); err != nil {
		return nil, fmt.Errorf("the LoadChannel of Config: %w", err)
	}
	return loaded, nil
}

// knownChannels are the channels of an app, wherever they are.
type knownChannels struct {
	platform *Platform
	app      string
}

// GetChannel implements channel.Operations.
func (k knownChannels) GetChannel(_ context.Context, params channel.GetChannelParams) (*channel.Reference, error) {
	_, err := k.platform.channelOf(k.app, params.ChannelID) //nolint:contextcheck // It is the test that asks.
	if err != nil {
		return nil, err
	}
	return &channel.Reference{ChannelID: params.ChannelID, AppID: k.app}, nil
}

// foundChannel is the channel of a scope, which is known to be there.
type foundChannel struct{ scope record.Scope }

// GetChannel implements channel.Operations.
func (f foundChannel) GetChannel(context.Context, channel.GetChannelParams) (*channel.Reference, error) {
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

// Pair sets which outlets of DefaultApp serve the live chats of an inlet, in order, in place
// of those before.
func (p *Platform) Pair(inlet string, outlets ...string) {
	p.test.Helper()
	channels := channels.New(p.Runtime().Env(), record.Scope{App: DefaultApp})
	if err := channels.Pair(testContext(), inlet, outlets...); err != nil {
		p.test.Fatalf("fakes: Pair: %v", err)
	}
}

// appChannels are the webchat channels that were made for members without one, by
// app.
type appChannels struct {
	mu    sync.Mutex
	byApp map[string]string
}

func (c *appChannels) all() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return copyOfMap(c.byApp)
}

func (c *appChannels) set(byApp map[string]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byApp = byApp
}

// defaultChannel returns the id of the webchat channel of an app's members without a
// channel, made where there is none yet.
func (p *Platform) defaultChannel(app string) string {
	p.test.Helper()
	p.channels.mu.Lock()
	defer p.channels.mu.Unlock()
	id, ok := p.channels.byApp[app]
	if !ok {
		id = p.AddChannel(channel.Channel{App: app}).ID
		put(&p.channels.byApp, app, id)
	}
	return id
}
