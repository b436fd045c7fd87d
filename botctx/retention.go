package botctx

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// Retention is how long what the SDK writes is kept once nobody needs it. 0 means the default, and a
// negative duration for ever. Members and the entries of data sources are the bot's own: nothing removes
// them but the bot, or a host by EraseMember.
type Retention struct {
	// HandledEvents is how long the repeat of an event that was handled is recognised. The default is 30 days.
	HandledEvents time.Duration
	// DeadLetters is how long events are kept that were given up. The default is 90 days.
	DeadLetters time.Duration
	// Agendas is how long a completed agenda is kept. The default is 30 days.
	Agendas time.Duration
	// FailedAgendas is how long an agenda is kept that failed for good. The default is 90 days.
	FailedAgendas time.Duration
	// Assignments is how long an assignment is kept that ended, with its groups. The default is 90 days.
	Assignments time.Duration
	// PostComments is how long a comment on a post is kept. The default is 90 days.
	PostComments time.Duration
}

const (
	defaultAssignments  = 90 * 24 * time.Hour
	defaultPostComments = 90 * 24 * time.Hour
	// retentionPause is how often Run removes what is old.
	retentionPause = time.Hour
)

// withRetention hands the settings to the inbox and the scheduler. InvalidArgument: one is set there, too.
func (c Config) withRetention() (Config, error) {
	for _, setting := range [...]struct {
		field  string
		there  *time.Duration
		wanted time.Duration
	}{
		{"Inbox.Retention", &c.Inbox.Retention, c.Retention.HandledEvents},
		{"Inbox.DeadRetention", &c.Inbox.DeadRetention, c.Retention.DeadLetters},
		{"Scheduler.Retention", &c.Scheduler.Retention, c.Retention.Agendas},
		{"Scheduler.FailedRetention", &c.Scheduler.FailedRetention, c.Retention.FailedAgendas},
	} {
		if *setting.there != 0 && setting.wanted != 0 {
			return c, boterr.Invalid(setting.field, "is set, and so is Config.Retention: set it there alone")
		}
		if setting.wanted != 0 {
			*setting.there = setting.wanted
		}
	}
	if c.Retention.Assignments == 0 {
		c.Retention.Assignments = defaultAssignments
	}
	if c.Retention.PostComments == 0 {
		c.Retention.PostComments = defaultPostComments
	}
	return c, nil
}

// RemoveOld removes what is older than Config.Retention allows, of all apps. Run does so each hour; a
// host that drives the time itself calls it. It works in batches, beside everything else; after an error
// the next call removes the rest. The errors are those of the store.
func (r *Runtime) RemoveOld(ctx context.Context) error {
	_, ofInbox := r.inbox.RemoveOld(ctx)
	_, ofAgendas := r.scheduler.RemoveCompleted(ctx)
	return errors.Join(ofInbox, ofAgendas, r.removeRecords(ctx))
}

// removeRecords removes what neither the inbox nor the scheduler has.
func (r *Runtime) removeRecords(ctx context.Context) (err error) {
	defer func() { err = r.orPanic(ctx, place{}, err, recover()) }()
	_, ofLiveChats := livechat.RemoveEnded(ctx, r.guarded, r.config.Retention.Assignments)
	_, ofComments := send.RemovePostComments(ctx, r.guarded, r.config.Retention.PostComments)
	return errors.Join(ofLiveChats, ofComments)
}

// runRetention removes what is old now and then, until ctx ends. The inbox and the scheduler see to
// theirs themselves.
func (r *Runtime) runRetention(ctx context.Context) {
	ticker := time.NewTicker(retentionPause)
	defer ticker.Stop()
	for ctx.Err() == nil {
		if err := r.removeRecords(ctx); err != nil && ctx.Err() == nil {
			r.config.Logger.LogAttrs(ctx, slog.LevelWarn, "botctx: old records not removed", slog.String("error", display.Text(err)))
		}
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}
