// Command calls makes one call of the SDK and records which functions run: calls CALL FOLDER. It must be built with
// -cover -covermode=atomic. The counters that it writes to the folder only include the call.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"runtime/coverage"
	"strings"
	"time"

	"github.com/botctx/go-sdk/backends/sqlite"
	"github.com/botctx/go-sdk/backends/webhook"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

func main() {
	calls := map[string]func(context.Context, string) error{
		"send": sendOnFakes, "read": readOnFakes, "webhook": answerWebhook, "way": wayOfRead,
	}
	call, isKnown := calls[os.Args[1]]
	if !isKnown {
		fmt.Fprintln(os.Stderr, "there is no call", os.Args[1])
		os.Exit(2)
	}
	if err := call(context.Background(), os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// hello is the bot's message.
func hello() send.SendResponseParams {
	return send.SendResponseParams{Response: send.Text("Hello")}
}

// onFakes measures a call on a platform in memory. A first call does the one-time work.
func onFakes(folder string, call func(*botctx.Context) error) error {
	p := fakes.New()
	bot := p.AddMember(member.Member{FirstName: "Ada"}).Context()
	if err := call(bot); err != nil {
		return err
	}
	if err := errors.Join(coverage.WriteMetaDir(folder), coverage.ClearCounters()); err != nil {
		return err
	}
	return errors.Join(call(bot), coverage.WriteCountersDir(folder))
}

func sendOnFakes(ctx context.Context, folder string) error {
	return onFakes(folder, func(bot *botctx.Context) error {
		_, err := bot.SendResponse(ctx, hello())
		return err
	})
}

func readOnFakes(ctx context.Context, folder string) error {
	return onFakes(folder, func(bot *botctx.Context) error {
		_, err := bot.GetMember(ctx, member.GetParams{MemberID: bot.Member.ID})
		return err
	})
}

// answerWebhook measures a member's first message with an SQLite file, from the webhook request until the bot's
// answer. A first message of another member does the one-time work.
func answerWebhook(ctx context.Context, folder string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	said := make(chan error)
	isFirst := true
	chat := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if isFirst {
			isFirst = false
			said <- nil
			return
		}
		said <- coverage.WriteCountersDir(folder)
	}))
	defer chat.Close()
	secret := channel.NewSecret("a-secret-of-this-program-alone")

	database, err := sqlite.Open(filepath.Join(folder, "bots.db"))
	if err != nil {
		return err
	}
	rt, web, err := newHost(ctx, database, chat.URL, secret)
	if err != nil {
		return err
	}
	inbound := httptest.NewServer(web.Handler(rt.Accept))
	defer inbound.Close()
	ended := make(chan error, 1)
	go func() { ended <- rt.Run(ctx) }()

	if err := says(ctx, inbound.URL, "ada", secret, said); err != nil {
		return err
	}
	for stats, err := rt.InboxStats(ctx); stats.Pending+int64(stats.Lanes) > 0 || err != nil; stats, err = rt.InboxStats(ctx) {
		if err != nil {
			return err
		}
	}
	if err := errors.Join(coverage.WriteMetaDir(folder), coverage.ClearCounters()); err != nil {
		return err
	}
	if err := says(ctx, inbound.URL, "ben", secret, said); err != nil {
		return err
	}
	stop()
	return errors.Join(<-ended, database.Close()) //nolint:contextcheck // It takes none.
}

// says posts a member's message and waits for the bot's answer.
func says(ctx context.Context, address, member string, secret channel.Secret, said <-chan error) error {
	body := []byte(`{"app":"shop","channel":"chat","messageEvent":{"type":"TEXT","from":"` + member + `","data":{"text":"hi"}}}`)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body)) //nolint:gosec // To this program.
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if err := webhook.Sign(request.Header, "of-"+member, time.Now(), body, secret); err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(request) //nolint:gosec // As above.
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the host answers %s", answer.Status)
	}
	return errors.Join(<-said, answer.Body.Close())
}

// newHost returns a bot that greets and counts, with a store and a webchat channel.
func newHost(ctx context.Context, database *sqlite.Store, chat string, secret channel.Secret) (*botctx.Runtime, *webhook.Connector, error) {
	client, err := outbound.New(outbound.Config{Allow: []string{"127.0.0.1"}, MaxRedirects: new(0)})
	if err != nil {
		return nil, nil, err
	}
	web, err := webhook.New(webhook.Config{LoadChannel: webhook.Stored(database), HTTP: client})
	if err != nil {
		return nil, nil, err
	}
	rt, err := botctx.New(botctx.Config{Store: database, Connectors: map[channel.Type]send.Connector{channel.Webchat: web}})
	if err != nil {
		return nil, nil, err
	}
	if err := botctx.EnsureIndexes(ctx, database); err != nil {
		return nil, nil, err
	}
	_, err = rt.SaveChannel(ctx, "shop", &channel.Channel{
		ID: "chat", Type: channel.Webchat, On: true, Metadata: document.O("webhookUrl", chat),
		Info: channel.OtherInfo{Hidden: channel.Hide(document.O("webhookSecret", secret.Reveal()))},
	})
	if err != nil {
		return nil, nil, err
	}
	rt.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		bot.Member.Meta = document.O("messages", document.Get(bot.Member.Meta, "messages", 0)+1)
		_, err := bot.SendResponse(ctx, hello())
		return err
	})
	return rt, web, nil
}

// noting is a store that records the call stack of each look-up by id.
type noting struct {
	store.Store

	way *[]string
}

func (n noting) Collection(name string) store.Collection {
	return notingCollection{Collection: n.Store.Collection(name), way: n.way}
}

type notingCollection struct {
	store.Collection

	way *[]string
}

// Get records the functions on the stack.
func (c notingCollection) Get(ctx context.Context, id any) (document.Object, bool, error) {
	callers := make([]uintptr, 200)
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)])
	*c.way = nil
	for frame, more := frames.Next(); more && !strings.HasPrefix(frame.Function, "main."); frame, more = frames.Next() {
		*c.way = append(*c.way, frame.Function)
	}
	return c.Collection.Get(ctx, id)
}

// wayOfRead prints the functions on the stack from GetMember to the store.
func wayOfRead(ctx context.Context, _ string) error {
	var way []string
	p := fakes.New(fakes.Config(func(c *botctx.Config) { c.Store = noting{Store: c.Store, way: &way} }))
	bot := p.AddMember(member.Member{FirstName: "Ada"}).Context() //nolint:contextcheck // A platform in memory takes none.
	_, err := bot.GetMember(ctx, member.GetParams{MemberID: bot.Member.ID})
	_, _ = fmt.Fprintln(os.Stdout, strings.Join(way, "\n"))
	return err
}
