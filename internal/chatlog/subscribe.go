package chatlog

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Subscription follows a conversation. Close ends it.
//
// A reader subscribes, and then repeats these steps: read with After and State, call Seen, and wait for C. So the
// reader misses no change between reading and waiting.
type Subscription struct {
	// C receives when the conversation may have changed, even if another process changed it. It may also receive
	// without a change.
	C <-chan struct{}

	log          *Log
	key          string
	wake         chan struct{}
	seq, version atomic.Int64
}

// Subscribe returns a new subscription to a conversation. Callers must call Close. InvalidArgument: the conversation is
// incomplete.
func (l *Log) Subscribe(to Conversation) (*Subscription, error) {
	if err := to.check(); err != nil {
		return nil, err
	}
	wake := make(chan struct{}, 1)
	s := &Subscription{C: wake, log: l, key: to.key(), wake: wake}
	if watcher, ok := l.database.(store.Watcher); ok {
		l.subs.watching.Do(func() { l.watch(watcher) })
		l.subs.add(s, nil)
	} else {
		l.subs.add(s, l.poll)
	}
	return s, nil
}

// Seen records the number of the last entry that the reader has read, and the version of the state. Polls look for later
// ones.
func (s *Subscription) Seen(seq, version int64) {
	s.seq.Store(seq)
	s.version.Store(version)
}

// Close ends the subscription. C receives nothing afterwards.
func (s *Subscription) Close() { s.log.subs.remove(s) }

func (s *Subscription) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// subscribers are the open subscriptions of a Log.
type subscribers struct {
	watching sync.Once

	mu    sync.Mutex
	byLog map[string]map[*Subscription]struct{}
	// stop ends the polling. It is nil while there is none.
	stop context.CancelFunc
}

// add adds a subscription, and starts polling if poll is not nil and it is the first one.
func (s *subscribers) add(added *Subscription, poll func(context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byLog[added.key] == nil {
		s.byLog[added.key] = map[*Subscription]struct{}{}
	}
	s.byLog[added.key][added] = struct{}{}
	if poll != nil && s.stop == nil {
		ctx, cancel := context.WithCancel(context.Background())
		s.stop = cancel
		go poll(ctx)
	}
}

// remove removes a subscription. After the last one, it ends polling.
func (s *subscribers) remove(removed *Subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byLog[removed.key], removed)
	if len(s.byLog[removed.key]) == 0 {
		delete(s.byLog, removed.key)
	}
	if len(s.byLog) == 0 && s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

func (s *subscribers) notify(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for one := range s.byLog[key] {
		one.signal()
	}
}

func (s *subscribers) notifyAll() {
	for _, one := range s.all() {
		one.signal()
	}
}

func (s *subscribers) all() []*Subscription {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*Subscription
	for _, subs := range s.byLog {
		for one := range subs {
			all = append(all, one)
		}
	}
	return all
}

// watch notifies the subscriptions of changes that a store reports.
func (l *Log) watch(watcher store.Watcher) {
	for collection, key := range map[string]string{l.config.Collection: fieldLog, l.config.Collection + statesSuffix: document.IDField} {
		watcher.Watch(collection, func(before, after document.Object) {
			if after.IsZero() {
				after = before
			}
			l.subs.notify(document.Get(after, key, ""))
		}, l.subs.notifyAll)
	}
}

const (
	// pollBatch is the maximum number of ids in one query.
	pollBatch = 1000
	// wakeAllAfter is the number of polls after which all subscriptions are woken, because a poll does not notice
	// that a conversation was erased.
	wakeAllAfter = 60
)

// poll calls pollOnce at intervals, until ctx ends.
func (l *Log) poll(ctx context.Context) {
	ticker := time.NewTicker(l.config.Poll)
	defer ticker.Stop()
	for round := 1; ; round++ {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if round%wakeAllAfter == 0 {
			l.subs.notifyAll()
			continue
		}
		if err := l.pollOnce(ctx); err != nil && ctx.Err() == nil {
			l.log.LogAttrs(ctx, slog.LevelWarn, "chatlog: poll failed", slog.String("error", display.Text(err)))
		}
	}
}

// pollOnce wakes the subscriptions whose conversations have a new entry or a changed state.
func (l *Log) pollOnce(ctx context.Context) error {
	byID := map[string][]*Subscription{}
	for _, s := range l.subs.all() {
		next := s.seq.Load()
		if next > 0 {
			next++
		}
		id := entryID(s.key, next)
		byID[id] = append(byID[id], s)
		byID[s.key] = append(byID[s.key], s)
	}
	for ids := range slices.Chunk(slices.Collect(maps.Keys(byID)), pollBatch) {
		if err := l.look(ctx, ids, byID); err != nil {
			return err
		}
	}
	return nil
}

// look queries the entries and states with the given ids. It wakes the subscriptions in byID of each entry that exists
// and of each state that has changed.
func (l *Log) look(ctx context.Context, ids []string, byID map[string][]*Subscription) error {
	filter := mustFilter(document.IDField, document.O("$in", ids))
	entries, err := l.entries.Find(ctx, filter, store.FindOptions{Projection: onlyID})
	if err != nil {
		return err
	}
	for _, o := range entries {
		for _, s := range byID[document.Get(o, document.IDField, "")] {
			s.signal()
		}
	}
	states, err := l.states.Find(ctx, filter, store.FindOptions{Projection: onlyVersion})
	for _, o := range states {
		version := document.Get(o, fieldVersion, int64(0))
		for _, s := range byID[document.Get(o, document.IDField, "")] {
			if version != s.version.Load() {
				s.signal()
			}
		}
	}
	return err
}

var (
	onlyID      = must(query.CompileProjection(document.O(document.IDField, 1)))
	onlyVersion = must(query.CompileProjection(document.O(fieldVersion, 1)))
)
