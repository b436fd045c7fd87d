package send

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/botctx/go-sdk/channel"
)

// Drop is a platform event that a connector received but did not pass to the Runtime.
type Drop struct {
	// Platform is the channel's type; App and Channel are ids.
	Platform channel.Type
	App      string
	Channel  string
	// Kind is the platform's name for the event, such as "reaction_added".
	Kind   string
	Reason DropReason
}

// DropReason is the reason why an event was dropped.
type DropReason string

// The reasons.
const (
	// DropFromBot is for messages written by a bot, including the channel's own.
	DropFromBot DropReason = "from_bot"
	// DropIncomplete is for an event without a sender or a conversation.
	DropIncomplete DropReason = "incomplete"
	// DropUnsupported is for an event that the connector does not handle.
	DropUnsupported DropReason = "unsupported"
	// DropInvalid is for a malformed event; its sender receives an error.
	DropInvalid DropReason = "invalid"
	// DropNoChannel is for an event of an account for which the host has no channel.
	DropNoChannel DropReason = "no_channel"
	// DropNoSecret is for a request that cannot be verified, because a secret is missing; see AddUnverified.
	DropNoSecret DropReason = "no_secret"
)

// Drops logs and counts the events that connectors drop. All connectors of a host share one, given
// in their Config. The zero value is ready to use. It is safe for concurrent use.
type Drops struct {
	// Logger logs each event, at debug level for messages of bots, else at info. The default is
	// slog.Default.
	Logger *slog.Logger

	mu     sync.Mutex
	counts map[dropKind]int64
	// logged has the lines of AddUnverified that were logged.
	logged map[unverified]bool
}

// DropCount is the number of events of one kind dropped for one reason.
type DropCount struct {
	Platform channel.Type
	Kind     string
	Reason   DropReason
	Count    int64
}

type dropKind struct {
	platform channel.Type
	kind     string
	reason   DropReason
}

type unverified struct {
	platform          channel.Type
	app, channel, err string
}

// Limits on the memory for kinds, because platforms may invent any number of them.
const (
	maxDropKinds      = 500
	maxDropKindLength = 100
)

// OtherKinds is the Kind under which Drops counts all further kinds, after the first 500.
const OtherKinds = "other"

// Add logs and counts an event.
func (d *Drops) Add(ctx context.Context, drop Drop) {
	if len(drop.Kind) > maxDropKindLength {
		drop.Kind = strings.ToValidUTF8(drop.Kind[:maxDropKindLength], "") // Without the part of a cut character.
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

// AddUnverified counts a request that cannot be verified, because its channel has no usable secret. err has the reason and
// the remedy. Anyone can send such requests, so each reason is logged once for each channel, as a warning. If the host has
// no secret, in has only a Type.
func (d *Drops) AddUnverified(ctx context.Context, in *channel.Channel, err error) {
	d.count(dropKind{platform: in.Type, kind: "request", reason: DropNoSecret})
	if d.isFirst(unverified{in.Type, in.App, in.ID, err.Error()}) {
		cmp.Or(d.Logger, slog.Default()).LogAttrs(ctx, slog.LevelWarn, "requests refused",
			slog.String("platform", string(in.Type)), slog.String("app", in.App), slog.String("channel", in.ID),
			slog.String("error", err.Error()))
	}
}

// isFirst reports whether a line has not been logged before. After 500 lines it forgets them.
func (d *Drops) isFirst(line unverified) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.logged[line] {
		return false
	}
	if d.logged == nil || len(d.logged) >= maxDropKinds {
		d.logged = map[unverified]bool{}
	}
	d.logged[line] = true
	return true
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

// Counts returns the number of dropped events since the process started, sorted by platform, kind
// and reason.
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
