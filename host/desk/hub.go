package desk

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/chatlog"
	"github.com/botctx/go-sdk/store"
)

// hub keeps the lists of open chats for the streams of this process. While there is a stream, it reads the apps
// of all streams again after each change, and at intervals, because other processes change them too. Each
// stream sends the changes since its last look.
type hub struct {
	woken chan struct{}

	mu      sync.Mutex
	streams map[*listener]struct{}
	stop    context.CancelFunc
	// look is the number of the last reading. rows are the open chats by id, each with the look that changed it.
	look int64
	rows map[string]*listed
	// covered are the apps that the last reading covered.
	covered []string
	agents  []presence
	// agentsLook is the look that changed agents.
	agentsLook int64
}

// listed is a row of the list.
type listed struct {
	row
	look int64
	// follows is signalled after a change of the conversation. It is nil until there is one, and after a failure.
	follows *chatlog.Subscription
}

// listener is a stream that waits for changes.
type listener struct {
	apps []string
	wake chan struct{}
}

// looksAtMost is the minimum time between two readings.
const looksAtMost = 100 * time.Millisecond

func newHub() *hub {
	return &hub{woken: make(chan struct{}, 1), streams: map[*listener]struct{}{}, rows: map[string]*listed{}}
}

// wake makes the hub read again.
func (h *hub) wake() {
	select {
	case h.woken <- struct{}{}:
	default:
	}
}

// listen adds a stream, and begins reading if it is the first one. leave removes it.
func (d *Desk) listen(apps []string) (l *listener, leave func()) {
	h := d.hub
	l = &listener{apps: apps, wake: make(chan struct{}, 1)}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.streams[l] = struct{}{}
	if h.stop == nil {
		ctx, cancel := context.WithCancel(context.Background())
		h.stop = cancel
		go d.follow(ctx)
	}
	h.wake()
	return l, func() { h.leave(l) }
}

func (h *hub) leave(l *listener) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.streams, l)
	if len(h.streams) > 0 || h.stop == nil {
		return
	}
	h.stop()
	h.stop = nil
	for _, one := range h.rows {
		one.close()
	}
	h.rows, h.agents, h.covered = map[string]*listed{}, nil, nil
}

// follow reads the apps of all streams until ctx ends.
func (d *Desk) follow(ctx context.Context) {
	if watcher, ok := d.env.Store.(store.Watcher); ok {
		stop := d.watch(watcher)
		defer stop()
	}
	ticks := time.NewTicker(d.config.Poll)
	defer ticks.Stop()
	for ctx.Err() == nil {
		if err := d.read(ctx); err != nil && ctx.Err() == nil {
			d.warn(ctx, "desk: the open chats cannot be read", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(looksAtMost):
		}
		select {
		case <-ctx.Done():
		case <-ticks.C:
		case <-d.hub.woken:
		}
	}
}

// watch wakes the hub after changes of the records that it reads, until stop is called.
func (d *Desk) watch(watcher store.Watcher) (stop func()) {
	var stops []func()
	for _, collection := range []string{"assignments", "members", agentSchema.Collection} {
		stops = append(stops, watcher.Watch(collection, func(document.Object, document.Object) { d.hub.wake() }, d.hub.wake))
	}
	return func() {
		for _, stop := range stops {
			stop()
		}
	}
}

// read reads the open chats and the agents of the apps of all streams, and wakes the streams if something changed.
func (d *Desk) read(ctx context.Context) error {
	h := d.hub
	now := reading{apps: h.apps(), following: map[string]*chatlog.Subscription{}}
	for _, app := range now.apps {
		open, agents, err := d.openRows(ctx, app)
		if err != nil {
			return err
		}
		now.open, now.agents = append(now.open, open...), append(now.agents, agents...)
	}
	now.agents = byName(now.agents)
	for i := range now.open {
		following, err := d.fresh(ctx, &now.open[i])
		now.following[now.open[i].ID] = following
		if err != nil {
			h.forget(ctx, now.following)
			return err
		}
	}
	if !h.replace(ctx, now) {
		h.forget(ctx, now.following)
	}
	return nil
}

// forget ends all subscriptions after a failed reading, which may have consumed their signals. The next reading reads
// all conversations. If ctx has ended, the subscriptions of the rows belong to another reader.
func (h *hub) forget(ctx context.Context, following map[string]*chatlog.Subscription) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, one := range following {
		if one != nil {
			one.Close()
		}
	}
	if ctx.Err() != nil {
		return
	}
	for _, one := range h.rows {
		one.close()
		one.follows = nil
	}
}

// hasNews reports whether a subscription has signaled a change.
func hasNews(of *chatlog.Subscription) bool {
	select {
	case <-of.C:
		return true
	default:
		return false
	}
}

func (l *listed) close() {
	if l.follows != nil {
		l.follows.Close()
	}
}

// fresh adds the parts of a row that come from the log of messages. It takes them from the hub unless the log has
// changed. It returns the subscription to the conversation, or nil if there is none yet.
func (d *Desk) fresh(ctx context.Context, shown *row) (*chatlog.Subscription, error) {
	if shown.Chat == "" {
		return nil, nil
	}
	known := d.hub.known(ctx, shown.ID)
	isFollowed := known != nil && known.follows != nil && known.log() == shown.log()
	if isFollowed && !hasNews(known.follows) {
		shown.Seq, shown.Read, shown.Unread, shown.Last = known.Seq, known.Read, known.Unread, known.Last
		for _, one := range known.Typing { // Typing ends without a change of the log.
			if one.until > d.now() {
				shown.Typing = append(shown.Typing, one)
			}
		}
		return known.follows, nil
	}
	var to *chatlog.Subscription
	var err error
	if isFollowed {
		to = known.follows
	} else if to, err = d.chats.Subscribe(shown.log()); err != nil { //nolint:contextcheck // A subscription outlasts the reading.
		return nil, err
	}
	with, version, err := d.withChat(ctx, *shown)
	if err != nil {
		return to, err
	}
	*shown = with
	to.Seen(with.Seq, version)
	return to, nil
}

// known returns a row of the last reading. It returns nil if ctx has ended, because the rows are another reader's.
func (h *hub) known(ctx context.Context, id string) *listed {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.Err() != nil {
		return nil
	}
	return h.rows[id]
}

// apps returns the apps of all streams.
func (h *hub) apps() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []string
	for l := range h.streams {
		all = append(all, l.apps...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// reading is the result of reading the open chats and the agents.
type reading struct {
	apps      []string
	open      []row
	following map[string]*chatlog.Subscription
	agents    []presence
}

// replace sets the open chats and the agents. It returns false if ctx has ended: another reader may have begun.
func (h *hub) replace(ctx context.Context, now reading) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.Err() != nil {
		return false
	}
	h.look++
	next := make(map[string]*listed, len(now.open))
	for _, one := range now.open {
		shown := &listed{row: one, look: h.look, follows: now.following[one.ID]}
		if before := h.rows[one.ID]; before != nil && reflect.DeepEqual(before.row, one) {
			shown.look = before.look
		}
		next[one.ID] = shown
	}
	for id, before := range h.rows {
		if next[id] == nil || next[id].follows != before.follows {
			before.close()
		}
	}
	h.rows, h.covered = next, now.apps
	if !reflect.DeepEqual(h.agents, now.agents) {
		h.agents, h.agentsLook = now.agents, h.look
	}
	for l := range h.streams {
		select {
		case l.wake <- struct{}{}:
		default:
		}
	}
	return true
}

// news are the changes of the list since an earlier look.
type news struct {
	// Set are the chats that are new or have changed. Gone are the ids of chats that are no longer open.
	Set    []row      `json:"set,omitempty"`
	Gone   []string   `json:"gone,omitempty"`
	Agents []presence `json:"agents,omitempty"`
	// IsAll is true for the first news of a stream, which list all chats.
	IsAll bool `json:"isAll,omitempty"`
}

// since returns the changes for a listener after a look, and the number of the current look. If the apps of the
// listener were not read yet, it returns the given look. known are the ids of the chats that the listener has; since
// updates it.
func (h *hub) since(l *listener, look int64, known map[string]bool) (news, int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var told news
	for _, app := range l.apps {
		if !slices.Contains(h.covered, app) {
			return told, look
		}
	}
	for id, one := range h.rows {
		if slices.Contains(l.apps, one.App) && (one.look > look || !known[id]) {
			told.Set = append(told.Set, one.row)
			known[id] = true
		}
	}
	for id := range known {
		if h.rows[id] == nil {
			told.Gone = append(told.Gone, id)
			delete(known, id)
		}
	}
	if h.agentsLook > look {
		told.Agents = []presence{}
		for _, p := range h.agents {
			p.Apps = slices.DeleteFunc(slices.Clone(p.Apps), func(app string) bool { return !slices.Contains(l.apps, app) })
			if len(p.Apps) > 0 {
				told.Agents = append(told.Agents, p)
			}
		}
	}
	return told, h.look
}
