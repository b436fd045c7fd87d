package send

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"

	"github.com/botctx/go-sdk/channel"
)

// Drop is an event of a platform that a connector does not hand to the Runtime, although it came from the platform.
type Drop struct {
	// Platform is the type of the channel that it is for, App and Channel are the ids of app and channel.
	Platform channel.Type
	App      string
	Channel  string
	// Kind is the platform's own word for the event, such as "reaction_added".
	Kind   string
	Reason DropReason
}

// DropReason is why an event was dropped.
type DropReason string

// The reasons.
const (
	// DropFromBot is for what a bot wrote, the channel's own included.
	DropFromBot DropReason = "from_bot"
	// DropIncomplete is for an event without a sender or a conversation.
	DropIncomplete DropReason = "incomplete"
	// DropUnsupported is for an event that the connector does not know, or has no use for.
	DropUnsupported DropReason = "unsupported"
	// DropInvalid is for an event that is not in the agreed form, which its sender is told.
	DropInvalid DropReason = "invalid"
)

// Drops logs and counts the events that connectors drop, so that none is lost without a trace. The connectors of a
// host share one: each takes it in its Config. The zero value is ready to use, and safe for concurrent use.
type Drops struct {
	// Logger gets a line for each event: at debug for what bots wrote, else at info. The default is slog.Default.
	Logger *slog.Logger

	mu     sync.Mutex
	counts map[dropKind]int64
}

// DropCount is how many events of one kind were dropped for one reason.
type DropCount struct {
	Platform channel.Type
	Kind     string
	Reason   DropReason
	Count    int64
}

// dropKind is what events are counted by.
type dropKind struct {
	platform channel.Type
	kind     string
	reason   DropReason
}

// The bounds of what is kept for kinds of events, which platforms name.
const (
	maxDropKinds      = 500
	maxDropKindLength = 100
)

// OtherKinds is the kind under which events are counted once 500 kinds have been seen.
const OtherKinds = "other"

// Add logs and counts an event.
func (d *Drops) Add(ctx context.Context, drop Drop) {
	if len(drop.Kind) > maxDropKindLength {
		drop.Kind = drop.Kind[:maxDropKindLength]
	}
	d.count(dropKind{platform: drop.Platform, kind: drop.Kind, reason: drop.Reason})
	logger, level := cmp.Or(d.Logger, slog.Default()), slog.LevelInfo
	if drop.Reason == DropFromBot {
		level = slog.LevelDebug
	}
	logger.LogAttrs(ctx, level, "event dropped",
		slog.String("platform", string(drop.Platform)), slog.String("app", drop.App), slog.String("channel", drop.Channel),
		slog.String("kind", drop.Kind), slog.String("reason", string(drop.Reason)))
}

func (d *Drops) count(of dropKind) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, isKnown := d.counts[of]; !isKnown && len(d.counts) >= maxDropKinds {
		of.kind = OtherKinds
	}
	if d.counts == nil {
		d.counts = map[dropKind]int64{}
	}
	d.counts[of]++
}

// Counts returns how many events were dropped since the process began, by platform, kind and reason, in this order.
func (d *Drops) Counts() []DropCount {
	d.mu.Lock()
	defer d.mu.Unlock()
	counts := make([]DropCount, 0, len(d.counts))
	for of, count := range d.counts {
		counts = append(counts, DropCount{Platform: of.platform, Kind: of.kind, Reason: of.reason, Count: count})
	}
	slices.SortFunc(counts, func(a, b DropCount) int {
		return cmp.Or(cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Reason, b.Reason))
	})
	return counts
}
