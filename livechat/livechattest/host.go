package livechattest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// HostConfig configures a MemoryHost.
type HostConfig struct {
	// Outlet is the channel of the agents, with a broadcast group. The host stores it. Required.
	Outlet *channel.Channel
	// Connect returns the connectors of a new process, by type of channel. It is called for the first process and for
	// each Restart. h has no Runtime yet; handlers can use MemoryHost.Accept and MemoryHost.LoadChannel. Required.
	Connect func(h *MemoryHost) send.Connectors
	// Inlet is the channel of the members. The host stores it, and Connect must return a connector for it. The default
	// is a channel in memory, see MemoryHost.Inlet.
	Inlet *channel.Channel
	// Started is called when the Runtime of a new process exists, for example to mount its handlers. It may be nil.
	Started func(h *MemoryHost)
}

// MemoryHost is a Host with a store in memory. Its clock moves by Advance, and by a millisecond each time it is read.
// It is safe for concurrent use.
type MemoryHost struct {
	// Store is the store of all processes.
	Store store.Store

	tb      testing.TB
	config  HostConfig
	clock   atomic.Int64
	runtime atomic.Pointer[botctx.Runtime]
	nodes   []*botctx.Node
	members members
}

// start is the time at which the clock starts, in milliseconds.
const start = 1_772_359_200_000

// NewHost returns a host with a running process. An error fails the test.
func NewHost(tb testing.TB, config HostConfig) *MemoryHost {
	tb.Helper()
	h := &MemoryHost{tb: tb, config: config}
	h.clock.Store(start)
	h.Store = memstore.New(memstore.WithNow(h.Now))
	require.NoError(tb, botctx.EnsureIndexes(tb.Context(), h.Store))
	if h.config.Inlet == nil {
		h.config.Inlet = &channel.Channel{ID: "members", Type: membersType, On: true}
	}
	h.Restart()
	for _, in := range []*channel.Channel{h.config.Inlet, h.config.Outlet} {
		stored := *in
		stored.App, stored.On = "", true
		_, err := h.Runtime().SaveChannel(tb.Context(), App, &stored)
		require.NoError(tb, err)
	}
	require.NoError(tb, h.Runtime().Pair(tb.Context(), App, h.config.Inlet.ID, h.config.Outlet.ID))
	return h
}

// Runtime implements Host.
func (h *MemoryHost) Runtime() *botctx.Runtime { return h.runtime.Load() }

// Now returns the time of the clock.
func (h *MemoryHost) Now() time.Time { return time.UnixMilli(h.clock.Add(1)).UTC() }

// Accept calls Accept of the running process's Runtime.
func (h *MemoryHost) Accept(ctx context.Context, inbound botctx.Inbound) error {
	return h.Runtime().Accept(ctx, inbound)
}

// LoadChannel calls LoadChannel of the running process's Runtime.
func (h *MemoryHost) LoadChannel(ctx context.Context, app, id string) (*channel.Channel, error) {
	return h.Runtime().LoadChannel(ctx, app, id)
}

// Handle implements Host.
func (h *MemoryHost) Handle(nodes ...*botctx.Node) {
	h.tb.Helper()
	h.nodes = append(h.nodes, nodes...)
	require.NoError(h.tb, h.Runtime().Handle(nodes...))
}

// Restart implements Host.
func (h *MemoryHost) Restart() {
	h.tb.Helper()
	connectors := send.Connectors{membersType: &h.members}
	maps.Copy(connectors, h.config.Connect(h))
	runtime, err := botctx.New(botctx.Config{Store: h.Store, Now: h.Now, Connectors: connectors, Pause: noPause})
	require.NoError(h.tb, err)
	require.NoError(h.tb, runtime.Handle(h.nodes...))
	h.runtime.Store(runtime)
	if h.config.Started != nil {
		h.config.Started(h)
	}
}

// noPause does not wait, because the clock is virtual.
func noPause(context.Context, time.Duration) {}

// Advance implements Host.
func (h *MemoryHost) Advance(by time.Duration) {
	h.tb.Helper()
	to := time.UnixMilli(h.clock.Load()).Add(by)
	const most = 10_000
	for range most {
		if !h.runsNext(to) {
			h.wait(to)
			return
		}
	}
	require.Fail(h.tb, "the events and agendas do not end", "%d have run until %v", most, h.Now())
}

// runsNext runs the next event or agenda that falls due by a time, and reports whether there was one. A failed run is
// tried again later.
func (h *MemoryHost) runsNext(to time.Time) bool {
	h.tb.Helper()
	ctx, runtime := h.tb.Context(), h.Runtime()
	event, hasEvent, err := runtime.NextEvent(ctx)
	require.NoError(h.tb, err)
	agenda, hasAgenda, err := runtime.NextAgenda(ctx)
	require.NoError(h.tb, err)
	if now := h.Now(); now.After(to) {
		to = now // Reading the clock has moved it.
	}
	switch {
	case hasEvent && !event.After(to) && (!hasAgenda || !agenda.Before(event)):
		h.wait(event)
		_, err = runtime.RunNextEvent(ctx)
	case hasAgenda && !agenda.After(to):
		h.wait(agenda)
		_, err = runtime.RunNextAgenda(ctx)
	default:
		return false
	}
	require.NoError(h.tb, err)
	return true
}

// wait moves the clock forward to a time.
func (h *MemoryHost) wait(to time.Time) {
	if at := h.clock.Load(); at < to.UnixMilli() {
		h.clock.CompareAndSwap(at, to.UnixMilli())
	}
}

// membersType is the type of the channel in memory.
const membersType = channel.Type("members")

// members is the connector of the channel in memory.
type members struct {
	mu   sync.Mutex
	sent []send.Message
	said int
}

// Send implements send.Connector.
func (m *members) Send(_ context.Context, message send.Message) (send.Delivery, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	isRepeat := slices.ContainsFunc(m.sent, func(one send.Message) bool { return one.ID == message.ID })
	if !isRepeat {
		m.sent = append(m.sent, message)
	}
	return send.Delivery{MessageID: message.ID, ChatID: message.To}, nil
}

// Inlet returns the channel in memory for a Harness.
func (h *MemoryHost) Inlet() Inlet {
	return Inlet{Channel: h.config.Inlet.ID, Says: h.memberSays, Shown: h.members.shown}
}

// memberID is the id of a member in the channel in memory.
func memberID(who int) string { return fmt.Sprintf("member-%d", who) }

func (h *MemoryHost) memberSays(who int, text string) {
	h.tb.Helper()
	h.members.mu.Lock()
	h.members.said++
	id := fmt.Sprintf("said-%d", h.members.said)
	h.members.mu.Unlock()
	require.NoError(h.tb, h.Accept(h.tb.Context(), botctx.Inbound{
		App: App, Channel: h.config.Inlet.ID, Profile: member.Member{FirstName: memberID(who)},
		Event: send.MessageEvent{
			Type: send.TypeText, From: memberID(who), To: "bot", MessageID: id, Data: document.O("text", text),
			Timestamp: document.TimestampOf(h.Now()),
		},
	}))
}

func (m *members) shown(who int) []Line {
	m.mu.Lock()
	defer m.mu.Unlock()
	var lines []Line
	for _, message := range m.sent {
		if message.To == memberID(who) {
			lines = append(lines, Line{Text: TextOf(message.Response)})
		}
	}
	return lines
}

// TextOf returns the text of a response, or the address of its file, for a Line.
func TextOf(response send.Response) string {
	if text := response.Text(); text != "" {
		return text
	}
	return document.Get(response, "url", document.Get(response, "attachments[0].payload.url", ""))
}
