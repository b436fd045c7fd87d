package webchat

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/chatlog"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/safelog"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/utility"
)

// Config configures a Connector. Store is required. The zero value of each other field means its default.
type Config struct {
	// Store stores the messages. Usually it is the Runtime's store. Processes with the same store serve the
	// same visitors. Required.
	Store store.Store
	// FindChannel returns the channel with this id, with its credentials. It returns NotFound if there is none.
	// The default reads channels from Store.
	FindChannel func(ctx context.Context, id string) (*channel.Channel, error)
	// Files stores visitors' files, for example a blob.Store. If it is nil, visitors cannot send files.
	Files Files
	// URL is the public address of Handler, such as "https://bot.example/chat/". It is required if Files is
	// set, because addresses of files begin with it.
	URL string
	// Limits limits the requests to Handler.
	Limits Limits
	// KeepFor is the age at which messages and files are removed. The default is 90 days. KeepMessages is the
	// approximate number of messages to keep for each visitor. The default is 2,000. A negative value keeps
	// everything.
	KeepFor      time.Duration
	KeepMessages int
	// Poll is the interval at which open streams query the store for messages from other processes. The default
	// is a second. If the store belongs to one process, it is not polled.
	Poll time.Duration
	// Address returns the address of a request's sender, for the limits. The default returns the connection's
	// address. Behind a proxy, return the address that the proxy puts into a header.
	Address func(r *http.Request) string
	// SignsPayloads makes Send sign the payloads of quick replies and buttons, and makes Handler refuse taps
	// with other payloads. Then a visitor can only send payloads that the bot offered to that visitor.
	SignsPayloads bool
	// OnTyping is called when a visitor types, at most 20 times a minute, for example to show it to an agent.
	// The visitor's request waits for the call. The default does nothing.
	OnTyping func(ctx context.Context, in *channel.Channel, visitor string)
	// Now is the clock. The default is time.Now.
	Now func() time.Time
	// Drops counts the messages that Handler refuses as invalid, and requests to channels without a valid secret. The
	// connectors of a host can share one. The default is a new one that logs to slog.Default.
	Drops *send.Drops
	// Logger logs failures of the store and of Files, as warnings. The default is slog.Default.
	Logger *slog.Logger
}

// Files stores files. Implementations must be safe for concurrent use.
type Files interface {
	utility.ObjectStore
	// Open returns the content of the file with this key. It returns NotFound if there is none.
	Open(ctx context.Context, key string) (io.ReadCloser, error)
	// Remove removes the file with this key, if there is one.
	Remove(ctx context.Context, key string) error
}

func (c Config) withDefaults() (Config, error) {
	if c.Store == nil {
		return c, boterr.Missing("Store", "the store of the messages, usually the Runtime's")
	}
	if err := cmp.Or(absent.Check("Store", c.Store), absent.Check("Files", c.Files)); err != nil {
		return c, err
	}
	if c.Poll < 0 {
		return c, boterr.Invalid("Poll", "must not be negative; 0 means the default")
	}
	var err error
	if c.Limits, err = c.Limits.withDefaults(); err != nil {
		return c, err
	}
	if c.URL, err = checkURL(c.URL); err != nil {
		return c, err
	}
	if c.Files != nil && c.URL == "" {
		return c, boterr.Missing("URL", "the public address of Handler, such as https://bot.example/chat/, since Files is set")
	}
	env := record.Env{Store: c.Store, Now: c.Now}.WithDefaults()
	c.Now = env.Now
	if c.FindChannel == nil {
		decoded := channels.NewDecoded()
		c.FindChannel = func(ctx context.Context, id string) (*channel.Channel, error) {
			return channels.Find(ctx, env, decoded, id)
		}
	}
	if c.OnTyping == nil {
		c.OnTyping = func(context.Context, *channel.Channel, string) {}
	}
	if c.Address == nil {
		c.Address = addressOf
	}
	c.Drops = cmp.Or(c.Drops, &send.Drops{})
	c.Logger = safelog.New(cmp.Or(c.Logger, slog.Default()))
	return c, nil
}

// checkURL makes an address end in a slash. It returns InvalidArgument if the address is invalid. It may be
// empty.
func checkURL(address string) (string, error) {
	if address == "" {
		return "", nil
	}
	if _, isBase := bounded.ParseBase(address); !isBase {
		return "", boterr.Invalid("URL", "must be the public address of Handler, such as https://bot.example/chat/")
	}
	return strings.TrimSuffix(address, "/") + "/", nil
}

// Connector is the connector to every channel of type webchat. It is safe for concurrent use.
//
// Errors have a code if a caller can act on them. NotFound: the id does not belong to a visitor.
// InvalidArgument or Unsupported: the widget cannot show the content. FailedPrecondition: the channel has no
// valid secret. Unavailable: the store did not answer. A message with the same ID is stored once.
type Connector struct {
	config Config
	log    *chatlog.Log
	// ended has the sessions that visitors have ended. files has the records of visitors' files.
	ended   store.Collection
	files   store.Collection
	indexes indexes
	rates   rates
	streams streams
	closing chan struct{}
	close   func()
}

var (
	_ send.Connector    = (*Connector)(nil)
	_ send.RecordKeeper = (*Connector)(nil)
)

// New returns a connector. It returns InvalidArgument if a field of the config is invalid.
func New(config Config) (*Connector, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	log, err := chatlog.New(chatlog.Config{
		Env: record.Env{Store: config.Store, Now: config.Now}, Collection: chatlog.Webchat, Poll: config.Poll,
		KeepFor: config.KeepFor, KeepEntries: config.KeepMessages, Log: config.Logger,
	})
	if err != nil {
		return nil, err
	}
	database := store.Wrap(config.Store, nil)
	c := &Connector{
		config: config, log: log, ended: database.Collection("webchat_ended"), files: database.Collection("webchat_files"),
		rates: newRates(config.Limits), streams: newStreams(config.Limits), closing: make(chan struct{}),
	}
	c.close = sync.OnceFunc(func() { close(c.closing) })
	return c, nil
}

// Close ends all streams, so that a server can shut down. Their visitors connect to another process. Other
// requests continue. Close may be called more than once.
func (c *Connector) Close() { c.close() }

// indexes remembers whether this process has created the indexes.
type indexes struct {
	mu     sync.Mutex
	isMade bool
}

// ensureIndexes creates the indexes of the connector's own records, once per process.
func (c *Connector) ensureIndexes(ctx context.Context) error {
	c.indexes.mu.Lock()
	defer c.indexes.mu.Unlock()
	if c.indexes.isMade {
		return nil
	}
	for _, one := range []struct {
		of    store.Collection
		index store.Index
	}{
		{c.files, store.Ascending(fieldApp, fieldChannel, fieldVisitor)},
		{c.files, store.Ascending(fieldAt)},
		{c.ended, store.Ascending(fieldUntil)},
	} {
		if err := one.of.EnsureIndex(ctx, one.index); err != nil {
			return err
		}
	}
	c.indexes.isMade = true
	return nil
}

// conversation identifies a visitor's messages in the log.
func conversation(in *channel.Channel, visitor string) chatlog.Conversation {
	return chatlog.Conversation{App: in.App, Channel: in.ID, ID: visitor}
}

// EraseMember implements send.RecordKeeper. It removes the messages and files of a member of a webchat channel.
// An open page of the member then shows an empty chat. If the member writes again, a new log begins.
//
// InvalidArgument: App or Channel is missing. Other errors are from the store and Files.
func (c *Connector) EraseMember(ctx context.Context, m *member.Member) error {
	switch {
	case m == nil || m.App == "" || m.Channel == "":
		return boterr.Invalid("member", "needs app and channel; pass the member's record")
	case m.ExternalID == "": // A member without an ExternalID has not written.
		return nil
	}
	of := chatlog.Conversation{App: m.App, Channel: m.Channel, ID: m.ExternalID}
	if err := c.removeAll(ctx, filesOf(of)); err != nil {
		return err
	}
	_, err := c.log.Erase(ctx, of)
	return err
}

// RemoveOld implements send.RecordKeeper. It removes messages and files that are older than Config.KeepFor.
// Errors are from the store and Files.
func (c *Connector) RemoveOld(ctx context.Context) error {
	_, ofLog := c.log.RemoveOld(ctx)
	return errors.Join(ofLog, c.removeOldFiles(ctx))
}

// warn logs a failure that does not fail the request.
func (c *Connector) warn(ctx context.Context, message string, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		c.config.Logger.LogAttrs(ctx, slog.LevelWarn, message, slog.String("error", err.Error()))
	}
}
