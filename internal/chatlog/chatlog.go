// Package chatlog stores the conversations that people follow in a browser: chats on a web page, and chats at the
// agents' desk. Any number of processes may append to a conversation and read it.
//
// A conversation is a list of entries, numbered without gaps. A writer inserts an entry with the number that follows
// the newest one. The store refuses a second entry with the same number, and the writer then tries the next number. So
// an entry becomes visible only after all entries before it, a crash leaves no gap, and a reader who asks for the
// entries after a number misses none.
//
// The first number of a conversation is the store's time in milliseconds, so that a conversation that begins again
// after it was erased does not reuse numbers.
//
//   - To store a message, use [Log.Append]; to read, [Log.After] and [Log.Before].
//   - To follow a conversation, use [Log.Subscribe].
//   - For typing, and for marks such as "read up to here", use [Log.SetTyping], [Log.SetMark] and [Log.State].
//   - To remove a conversation, use [Log.Erase].
package chatlog

import (
	"cmp"
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/safelog"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Limits of an entry.
const (
	// MaxName is the maximum size of an entry's Key, From and Name, and of a conversation's ID, each in bytes.
	MaxName = 256
	// MaxBody is the maximum size of an entry's Body in bytes, by document.SizeOf.
	MaxBody = 256 << 10
	// MaxPage is the maximum number of entries that After and Before return.
	MaxPage = 200
)

// Webchat is the Collection of the chats on web pages. The ID of a conversation there is the member's ExternalID, and
// the Body of an entry is a response. FromVisitor is the From of the member's entries. Anonymous is the prefix of the
// ids of visitors without a signature of the host.
const (
	Webchat     = "webchat"
	FromVisitor = "me"
	Anonymous   = "v:"
)

// Conversation identifies a conversation.
type Conversation struct {
	// App and Channel are the ids of the app and the channel. ID is unique within the channel. Required.
	App, Channel, ID string
}

// key returns the value of fieldLog for the conversation, which is different for each conversation.
func (c Conversation) key() string {
	text := strconv.AppendQuote(nil, c.App)
	text = strconv.AppendQuote(append(text, ' '), c.Channel)
	return string(strconv.AppendQuote(append(text, ' '), c.ID))
}

func (c Conversation) check() error {
	switch {
	case c.App == "":
		return boterr.Missing("app", "the id of the app")
	case c.Channel == "":
		return boterr.Missing("channel", "the id of the channel")
	case c.ID == "":
		return boterr.Missing("conversation", "the id of the conversation")
	}
	return checkName("conversation", c.ID)
}

// checkName returns InvalidArgument if a text is too long or not UTF-8.
func checkName(field, text string) error {
	switch {
	case len(text) > MaxName:
		return boterr.Invalid(field, "has %d bytes; the limit is %d", len(text), MaxName)
	case !utf8.ValidString(text):
		return boterr.Invalid(field, "must be UTF-8")
	default:
		return nil
	}
}

// Entry is an entry of a conversation.
type Entry struct {
	// Seq is the entry's number. Append sets it.
	Seq int64
	// Key identifies the entry within its conversation, so that a repeated Append is detected. Required.
	Key string
	// From is the side that wrote the entry, such as "me" or "bot". Name is the name to show, or "".
	From, Name string
	// At is the time of the entry. The default is the present time.
	At document.Timestamp
	// Body is the content.
	Body document.Object
}

func (e Entry) check() error {
	if e.Key == "" {
		return boterr.Missing("key", "a text that identifies the entry within its conversation")
	}
	for _, name := range []struct{ field, text string }{{"key", e.Key}, {"from", e.From}, {"name", e.Name}} {
		if err := checkName(name.field, name.text); err != nil {
			return err
		}
	}
	if err := e.Body.Err(); err != nil {
		return boterr.PrefixField("body", err)
	}
	if size := document.SizeOf(e.Body); size > MaxBody {
		return boterr.Invalid("body", "has %d bytes; the limit is %d", size, MaxBody)
	}
	return nil
}

// The fields of an entry's document.
const (
	fieldLog  = "log"
	fieldSeq  = "seq"
	fieldKey  = "key"
	fieldFrom = "from"
	fieldName = "name"
	fieldAt   = "at"
	fieldBody = "body"
)

// entryID returns the _id of the entry with a number. For the first entry of a conversation, seq is 0 instead of the
// entry's number, so that only one of two writers can begin a conversation.
func entryID(key string, seq int64) string { return key + " " + strconv.FormatInt(seq, 10) }

func (e Entry) object(key string, idSeq int64) document.Object {
	return document.O(document.IDField, entryID(key, idSeq), fieldLog, key, fieldSeq, e.Seq, fieldKey, e.Key,
		fieldFrom, e.From, fieldName, e.Name, fieldAt, int64(e.At), fieldBody, e.Body)
}

func entryOf(o document.Object) Entry {
	return Entry{
		Seq: document.Get(o, fieldSeq, int64(0)), Key: document.Get(o, fieldKey, ""),
		From: document.Get(o, fieldFrom, ""), Name: document.Get(o, fieldName, ""),
		At: document.Timestamp(document.Get(o, fieldAt, int64(0))), Body: document.Get(o, fieldBody, document.Object{}),
	}
}

// Config configures a Log. Env.Store is required; the zero values of other fields mean defaults.
type Config struct {
	// Env provides the store and the clock.
	Env record.Env
	// Collection is the name of the store's collection with the entries. The collection with the states has the same
	// name with "_states" appended. The default is "chatlog".
	Collection string
	// Poll is the interval of queries for entries of other processes while there are subscriptions. A store that is
	// a store.Watcher is not polled. The default is a second.
	Poll time.Duration
	// KeepFor is the age after which RemoveOld removes entries. KeepEntries is the approximate number of entries that
	// a conversation keeps, apart from entries younger than an hour. The defaults are 90 days and 2,000. A negative
	// value means no limit.
	KeepFor     time.Duration
	KeepEntries int
	// Log receives warnings about failed polls and failed removals of old entries. By default, nothing is logged.
	Log *slog.Logger
}

// The defaults of Config.
const (
	defaultCollection  = "chatlog"
	defaultPoll        = time.Second
	defaultKeepFor     = 90 * 24 * time.Hour
	defaultKeepEntries = 2000
)

// Log stores conversations. Create it with New. It is safe for concurrent use.
type Log struct {
	config   Config
	database store.Store
	entries  store.Collection
	states   store.Collection
	log      *slog.Logger
	subs     subscribers
	indexes  indexes
}

// New returns a Log, or InvalidArgument if the configuration is invalid.
func New(config Config) (*Log, error) {
	switch {
	case config.Env.Store == nil:
		return nil, boterr.Missing("env.store", "the store that holds the conversations")
	case config.Poll < 0:
		return nil, boterr.Invalid("poll", "must not be negative: leave it out for the default")
	}
	config.Env = config.Env.WithDefaults()
	config.Collection = cmp.Or(config.Collection, defaultCollection)
	config.Poll = cmp.Or(config.Poll, defaultPoll)
	config.KeepFor = cmp.Or(config.KeepFor, defaultKeepFor)
	config.KeepEntries = cmp.Or(config.KeepEntries, defaultKeepEntries)
	if err := store.CheckName(config.Collection + statesSuffix); err != nil {
		return nil, err
	}
	database := store.Wrap(config.Env.Store, nil)
	return &Log{
		config: config, database: database, log: safelog.New(config.Log),
		entries: database.Collection(config.Collection), states: database.Collection(config.Collection + statesSuffix),
		subs: subscribers{byLog: map[string]map[*Subscription]struct{}{}},
	}, nil
}

// statesSuffix follows the name of the collection of entries in the name of the collection of states.
const statesSuffix = "_states"

// indexes is the state of prepare.
type indexes struct {
	mu      sync.Mutex
	areMade bool
}

// maxAttempts is the number of attempts to append an entry while other writers append to the same conversation.
const maxAttempts = 100

// Append adds an entry to a conversation, and returns it as stored. If the conversation already has an entry with the
// same Key, Append returns that entry, and isNew is false.
//
// InvalidArgument: the conversation or the entry is incomplete or too large. Unavailable: too many writers append to
// the conversation at the same time. Other errors come from the store. After an error, a repeated call with the same
// Key is safe.
func (l *Log) Append(ctx context.Context, in Conversation, e Entry) (stored Entry, isNew bool, err error) {
	if err := cmp.Or(in.check(), e.check()); err != nil {
		return Entry{}, false, err
	}
	if err := l.prepare(ctx); err != nil {
		return Entry{}, false, err
	}
	key := in.key()
	if e.At == 0 {
		e.At = document.TimestampOf(l.config.Env.Now())
	}
	for range maxAttempts {
		var idSeq int64
		if e.Seq, idSeq, err = l.next(ctx, key); err != nil {
			return Entry{}, false, err
		}
		err = l.entries.Insert(ctx, e.object(key, idSeq))
		if err == nil {
			l.subs.notify(key)
			l.trim(ctx, key, e.Seq)
			return e, true, nil
		}
		if boterr.CodeOf(err) != boterr.AlreadyExists {
			return Entry{}, false, err
		}
		// Another writer was first. It may have stored an entry with the same Key.
		known, isKnown, err := l.Lookup(ctx, in, e.Key)
		if err != nil || isKnown {
			return known, false, err
		}
	}
	return Entry{}, false, boterr.New(boterr.Unavailable, "", "too many writers append to this conversation at once; try again")
}

// next returns the number of the next entry of a conversation, and the number in the entry's _id.
func (l *Log) next(ctx context.Context, key string) (seq, idSeq int64, err error) {
	newest, err := l.newest(ctx, key)
	if err != nil || newest > 0 {
		return newest + 1, newest + 1, err
	}
	now, err := l.database.Now(ctx)
	return now.UnixMilli(), 0, err
}

// must returns what was compiled from a constant.
func must[T any](compiled T, err error) T {
	if err != nil {
		panic(err)
	}
	return compiled
}

func mustFilter(pairs ...any) *query.Filter { return must(query.CompileFilter(document.O(pairs...))) }
