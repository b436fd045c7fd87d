package inbox

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/safelog"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// DeadLettersParams are the params of DeadLetters, see botctx.DeadLettersParams.
type DeadLettersParams struct {
	App, Channel, ID string
	After, Before    string
	Limit            int
}

// check returns an error if the params contradict each other.
func (p DeadLettersParams) check() error {
	switch {
	case p.Limit < 0:
		return boterr.Invalid("limit", "is %d: it must not be negative", p.Limit)
	case p.After != "" && p.Before != "":
		return boterr.Invalid("before", "give after or before, not both")
	case p.After+p.Before != "" && p.App == "":
		return boterr.Missing("app", "the id of the app that the cursor belongs to")
	}
	return nil
}

// DeadLetters returns dead letters in the order of acceptance. Within an app, those accepted in the same millisecond
// are sorted by id. A page of an app reads few other events, unless Channel excludes many. It returns InvalidArgument
// for an invalid cursor or contradictory params. Other errors come from the store.
func (b *Inbox) DeadLetters(ctx context.Context, p DeadLettersParams) ([]DeadLetter, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	found, err := b.findDead(ctx, p)
	if err != nil {
		return nil, err
	}
	if p.Before != "" {
		slices.Reverse(found)
	}
	letters := make([]DeadLetter, len(found))
	for i, o := range found {
		letters[i] = readDead(o)
	}
	return letters, nil
}

// findDead finds dead letters, in reverse order for a page before p.Before. For an app's dead letters it uses the
// index of fieldDeadKey. This index costs other events nothing, because they lack the field.
func (b *Inbox) findDead(ctx context.Context, p DeadLettersParams) (found []document.Object, err error) {
	which, field, direction := allDead(), fieldAcceptedAt, 1
	if p.App != "" {
		between := document.O("$gt", deadKeys(p.App), "$lt", deadKeys(p.App)+afterHex)
		if err := p.addCursor(&between, "after", "$gt", p.After); err != nil {
			return nil, err
		}
		if err := p.addCursor(&between, "before", "$lt", p.Before); err != nil {
			return nil, err
		}
		which, field = document.O(fieldDeadKey, between), fieldDeadKey
	}
	if p.Channel != "" {
		which = which.With(fieldChannel, p.Channel)
	}
	if p.ID != "" {
		which = which.With(fieldID, p.ID)
	}
	if p.Before != "" {
		direction = -1
	}
	order, err := query.CompileSort(document.O(field, direction))
	if err != nil {
		return nil, err
	}
	return b.find(ctx, which, store.FindOptions{Sort: order, Limit: int64(p.Limit)})
}

// addCursor adds a cursor as a bound of fieldDeadKey to a condition, unless the cursor is "".
func (p DeadLettersParams) addCursor(between *document.Object, field, operator, cursor string) error {
	if cursor == "" {
		return nil
	}
	at, id, _ := strings.Cut(cursor, ".")
	acceptedAt, err := strconv.ParseInt(at, 10, 64)
	if err != nil || id == "" || len(cursor) > maxCursor || !utf8.ValidString(id) {
		return boterr.Invalid(field, "is %.100q: give the Cursor of a dead letter", cursor)
	}
	between.Set(operator, deadKey(p.App, acceptedAt, id))
	return nil
}

// deadKey returns the value of fieldDeadKey for an event of an app. The values sort like the dead letters.
func deadKey(app string, acceptedAt int64, id string) string {
	return fmt.Sprintf("%s%016x%s", deadKeys(app), uint64(acceptedAt)^1<<63, id) // XOR makes negative times sort first.
}

// deadKeys returns the common prefix of an app's deadKeys. A hexadecimal digit follows it.
func deadKeys(app string) string { return strconv.Quote(app) + " " }

// afterHex sorts after all hexadecimal digits.
const afterHex = "g"

// Cursor returns the position of a dead letter in the order of DeadLetters, for use in DeadLettersParams.
func Cursor(acceptedAt time.Time, id string) string {
	return strconv.FormatInt(int64(document.TimestampOf(acceptedAt)), 10) + "." + id
}

// maxCursor is the maximum length of a cursor in bytes. The cursors of an Inbox are much shorter.
const maxCursor = 1000

// DeadLetter returns the dead letter with an id, or NotFound. Other errors come from the store.
func (b *Inbox) DeadLetter(ctx context.Context, id string) (DeadLetter, error) {
	found, err := b.find(ctx, deadOf(id), store.FindOptions{Limit: 1})
	if err == nil && len(found) == 0 {
		err = noDeadLetter(id)
	}
	if err != nil {
		return DeadLetter{}, err
	}
	return readDead(found[0]), nil
}

// allDead matches all dead letters. It uses fieldDiedAt, which has an index; fieldState has none.
func allDead() document.Object {
	return document.O(fieldState, stateDead, fieldDiedAt, document.O("$gt", 0))
}

// deadOf returns a filter for the dead letter with an id.
func deadOf(id string) document.Object { return document.O(fieldID, id, fieldState, stateDead) }

func noDeadLetter(id string) error {
	return boterr.New(boterr.NotFound, "id", "there is no dead letter %s: it was retried or discarded, or never was one", id)
}

// Retry puts a dead letter back into its lane as the next event, with all attempts ahead of it. An earlier event of the
// lane that waits for its next attempt comes first. Values that earlier
// attempts remembered remain. It returns NotFound if there is no dead letter with this id. Other errors come from the
// store.
func (b *Inbox) Retry(ctx context.Context, id string) error {
	letter, err := b.DeadLetter(ctx, id)
	if err != nil {
		return err
	}
	lane := Lane(letter.Event.App, letter.Event.Channel, letter.Event.From)
	if err := b.changeDead(ctx, id, updates().revive, document.O(fieldLane, lane)); err != nil {
		return err
	}
	b.addLoad(letter.Event.App, 1)
	b.source.accepted(lane)
	return nil
}

// Discard removes an event that was given up. Repetitions of it are still not handled. NotFound: there is no
// dead letter with that id. Other errors come from the store.
func (b *Inbox) Discard(ctx context.Context, id string) error {
	now, err := b.leases.Cached(ctx)
	if err != nil {
		return err
	}
	return b.changeDead(ctx, id, updates().done, document.O(fieldDoneAt, int64(document.TimestampOf(now))))
}

func (b *Inbox) changeDead(ctx context.Context, id string, update *query.Update, set document.Object) error {
	changed, err := b.update(ctx, deadOf(id), update, set)
	if err == nil && changed == 0 {
		err = noDeadLetter(id)
	}
	return err
}

const (
	// Run removes old events at intervals of retentionPause.
	retentionPause = time.Hour
	// idleLane is the retention time of the document of a lane without events: far longer than the age of any
	// snapshot in use.
	idleLane = time.Hour
)

// RemoveOld removes records of events that were done longer ago than Config.Retention, dead letters older than
// Config.DeadRetention, and the documents of idle lanes. It returns the number of removed events. Run calls it every
// hour; hosts that use RunNext can call it themselves. Errors come from the store.
func (b *Inbox) RemoveOld(ctx context.Context) (removed int64, err error) {
	if _, err := b.leases.Sweep(ctx, idleLane); err != nil {
		return 0, err
	}
	now, err := b.leases.Now(ctx)
	if err != nil {
		return 0, err
	}
	for _, kept := range []struct {
		field     string
		retention time.Duration
	}{{fieldDoneAt, b.config.Retention}, {fieldDiedAt, b.config.DeadRetention}} {
		if kept.retention < 0 {
			continue
		}
		old := document.O(kept.field, document.O("$gt", 0, "$lt", int64(document.TimestampOf(now.Add(-kept.retention)))))
		some, err := b.removeAll(ctx, old)
		removed += some
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// removeAll removes the events that a filter matches, in batches, and returns their number. An event that no
// longer matches when its batch is removed is kept. A store that one process has to itself has no index of
// done events, because its upkeep would slow down each event: there, the call examines all events.
func (b *Inbox) removeAll(ctx context.Context, which document.Object) (removed int64, err error) {
	if err := b.ensureIndexes(ctx); err != nil {
		return 0, err
	}
	return record.Open(b.config.Env, eventSchema).Remove(ctx, record.Removal{Filter: which})
}

var eventSchema = &record.Schema{Name: "event", Collection: collection}

// Erase removes everything that the inbox stores about a sender: events that wait or are being handled, dead
// letters, the records of done events, and the document of the lane. It returns the number of events that it
// removed.
//
// A run in progress continues, but its result is not stored; see Delivery.IsErased. An event that is accepted during
// the call may remain. A repetition of a removed event is a new event. The document of a lane in use remains until the lane
// has been idle for an hour.
//
// InvalidArgument: app, channel or from is missing. Other errors come from the store. Then some events may
// remain, and Erase can be called again.
func (b *Inbox) Erase(ctx context.Context, app, channel, from string) (removed int64, err error) {
	if err := (Event{App: app, Channel: channel, From: from}).check(); err != nil {
		return 0, err
	}
	lane := Lane(app, channel, from)
	for _, which := range []document.Object{document.O(fieldState, statePending, fieldLane, lane), document.O(fieldSender, senderOf(lane))} {
		some, err := b.removeAll(ctx, which)
		removed += some
		if which.Has(fieldLane) {
			b.addLoad(app, -some)
		}
		if err != nil {
			return removed, err
		}
	}
	return removed, b.leases.Forget(ctx, lane)
}

// applyRetention removes old records and logs an error.
func (p *pool) applyRetention(ctx context.Context) {
	defer safelog.Recovered(ctx, p.log, "inbox: removal panicked", nil)
	if _, err := p.RemoveOld(ctx); err != nil && ctx.Err() == nil {
		p.log.LogAttrs(ctx, slog.LevelWarn, "inbox: old records not removed", slog.String("error", display.Text(err)))
	}
}
