package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/botctx/go-sdk/store"
)

var _ store.Notifier = (*Store)(nil)

const (
	// noticeInterval is the shortest time between two NOTIFYs of a process. Each NOTIFY is a commit, and
	// commits with a NOTIFY wait for each other.
	noticeInterval = 5 * time.Millisecond
	// Sizes in bytes. longestNotice is the longest payload of a NOTIFY, longestText is the longest text in it,
	// and enoughText limits the total of its texts before escaping.
	longestNotice = 7900
	longestText   = 1000
	enoughText    = 5000
	// quietTime is the time without notices after which the connection is checked.
	quietTime = time.Minute
	// reconnectInterval is the wait before a lost connection for notices is replaced.
	reconnectInterval = time.Second
)

// notices sends and receives notices. All texts of a few milliseconds share a NOTIFY. It is not part of the
// transactions that cause it, because PostgreSQL commits transactions with a NOTIFY one after the other.
type notices struct {
	store *Store
	// channel is the PostgreSQL channel for all notices of the schema.
	channel string
	// ending stops the goroutines. all waits for them.
	ctx    context.Context //nolint:containedctx // It is for the goroutines.
	ending context.CancelFunc
	all    sync.WaitGroup
	// wake receives a value if there is something to send.
	wake chan struct{}

	mu sync.Mutex
	// waiting has the texts to send, by topic. size is their total size in bytes.
	waiting map[string][]string
	size    int
	// isSending and isListening are true once the goroutines have started.
	isSending, isListening bool

	// hearing guards listeners. It is locked while they are called, so that none is called after its stop.
	hearing   sync.Mutex
	listeners map[string][]*listener
}

type listener struct{ heard func(text string) }

func (n *notices) begin(s *Store) {
	sum := sha256.Sum256([]byte(s.name))
	n.store, n.channel = s, "botctx_"+hex.EncodeToString(sum[:16]) // A name has at most 63 bytes.
	n.ctx, n.ending = context.WithCancel(context.Background())
	n.wake, n.waiting, n.listeners = make(chan struct{}, 1), map[string][]string{}, map[string][]*listener{}
}

func (n *notices) end() {
	n.mu.Lock()
	n.ending() // No goroutine starts after this.
	n.mu.Unlock()
	n.all.Wait()
}

// Notify implements store.Notifier.
func (s *Store) Notify(topic, text string) { s.notices.add(topic, text) }

func (n *notices) add(topic, text string) {
	if len(text) > longestText {
		text = "" // For an empty text, listeners check everything, as after a lost notice.
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ctx.Err() != nil {
		return
	}
	texts := n.waiting[topic]
	switch {
	case slices.Contains(texts, text) || len(texts) > 0 && texts[0] == "":
		return
	case text == "" || n.size+len(text) > enoughText:
		n.waiting[topic] = []string{""}
	default:
		n.waiting[topic] = append(texts, text)
		n.size += len(text) + len(topic)
	}
	if !n.isSending {
		n.isSending = true
		n.all.Go(n.send)
	}
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// send sends the waiting texts until the store is closed.
func (n *notices) send() {
	pause := time.NewTicker(noticeInterval)
	defer pause.Stop()
	for n.ctx.Err() == nil {
		select {
		case <-n.ctx.Done():
		case <-n.wake:
			ctx, cancel := within(n.ctx, n.store.timeout)
			if _, err := n.store.pool.Exec(ctx, "SELECT pg_notify($1, $2)", n.channel, n.take()); err != nil && n.ctx.Err() == nil {
				n.store.log.LogAttrs(ctx, slog.LevelWarn, "postgres: notices were not sent; others must poll", slog.Any("error", err))
			}
			cancel()
			pause.Reset(noticeInterval)
			select {
			case <-n.ctx.Done():
			case <-pause.C:
			}
		}
	}
}

// take returns the waiting texts as a payload, and removes them.
func (n *notices) take() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	payload, err := json.Marshal(n.waiting)
	if err == nil && len(payload) > longestNotice {
		for topic := range n.waiting {
			n.waiting[topic] = []string{""}
		}
		payload, err = json.Marshal(n.waiting)
	}
	if err != nil {
		n.store.log.LogAttrs(n.ctx, slog.LevelWarn, "postgres: notices were not sent; others must poll", slog.Any("error", err))
	}
	clear(n.waiting)
	n.size = 0
	return string(payload)
}

// Listen implements store.Notifier.
func (s *Store) Listen(topic string, heard func(text string)) (stop func()) {
	n, own := &s.notices, &listener{heard: heard}
	n.hearing.Lock()
	n.listeners[topic] = append(n.listeners[topic], own)
	n.hearing.Unlock()
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.isListening && n.ctx.Err() == nil {
		n.isListening = true
		n.all.Go(n.listen)
	}
	return func() {
		n.hearing.Lock()
		defer n.hearing.Unlock()
		n.listeners[topic] = slices.DeleteFunc(n.listeners[topic], func(l *listener) bool { return l == own })
	}
}

// listen receives notices until the store is closed.
func (n *notices) listen() {
	for n.ctx.Err() == nil {
		err := n.receive()
		if n.ctx.Err() != nil {
			return
		}
		n.store.log.LogAttrs(n.ctx, slog.LevelWarn, "postgres: notices do not arrive; trying again", slog.Any("error", err))
		select {
		case <-n.ctx.Done():
		case <-time.After(reconnectInterval):
		}
	}
}

// receive listens on a separate connection until the connection is lost.
func (n *notices) receive() error {
	ctx, cancel := within(n.ctx, n.store.timeout)
	defer cancel()
	c, err := pgx.ConnectConfig(ctx, n.store.pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	if _, err := c.Exec(ctx, "LISTEN "+n.channel); err != nil {
		return err
	}
	n.hear(nil)
	for {
		if err := n.wait(c, quietTime); err != nil {
			return err
		}
	}
}

// wait waits for a notice. If none arrives within quiet, it checks the connection.
func (n *notices) wait(c *pgx.Conn, quiet time.Duration) error {
	ctx, cancel := context.WithTimeout(n.ctx, quiet)
	defer cancel()
	notice, err := c.WaitForNotification(ctx)
	if err != nil && ctx.Err() != nil && n.ctx.Err() == nil {
		alive, cancel := within(n.ctx, n.store.timeout)
		defer cancel()
		return c.Ping(alive)
	}
	if err != nil {
		return err
	}
	var texts map[string][]string
	if json.Unmarshal([]byte(notice.Payload), &texts) == nil { // Ignore notices of other programs.
		n.hear(texts)
	}
	return nil
}

// hear passes texts to the listeners of their topics. If texts is nil, notices may have been lost, and every
// listener gets "".
func (n *notices) hear(texts map[string][]string) {
	n.hearing.Lock()
	defer n.hearing.Unlock()
	for topic, listeners := range n.listeners {
		of := texts[topic]
		if texts == nil {
			of = []string{""}
		}
		for _, l := range listeners {
			for _, text := range of {
				l.heard(text)
			}
		}
	}
}
