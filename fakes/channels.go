package fakes

import (
	"maps"
	"sync"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/record"
)

// AddChannel adds a channel and returns it as it is stored. It is on; its app is
// DefaultApp and its type webchat where it has none.
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
	stored, err := channel.New(p.runtime.Env(), record.Scope{App: added.App}).Save(testContext(), &added)
	if err != nil {
		p.test.Fatalf("fakes: AddChannel: %v", err)
	}
	return stored
}

// SwitchChannel switches a channel of DefaultApp on or off.
func (p *Platform) SwitchChannel(id string, on bool) {
	p.test.Helper()
	channels := channel.New(p.runtime.Env(), record.Scope{App: DefaultApp})
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
	channels := channel.New(p.runtime.Env(), record.Scope{App: DefaultApp})
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

func newAppChannels() *appChannels { return &appChannels{byApp: map[string]string{}} }

func (c *appChannels) all() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.byApp)
}

func (c *appChannels) set(byApp map[string]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byApp = maps.Clone(byApp)
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
		p.channels.byApp[app] = id
	}
	return id
}
