package fakes

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/livechat"
)

// settings are what options set.
type settings struct {
	test    TB
	start   time.Time
	changes []func(*botctx.Config)
	// onRequest are called before requests to services.
	onRequest []func(ctx context.Context, asked Request)
	// pause is how the Runtime waits for a while.
	pause func(of *clock) func(ctx context.Context, d time.Duration)
	// within makes the contexts in which the bot runs, nil where they are those of its process.
	within func(ctx context.Context) context.Context
	// hasInbox tells that what is written goes to Runtime.Accept.
	hasInbox bool
	// isEveryExpected tells that a message which no expectation has read fails the test.
	isEveryExpected bool
}

// Option is a setting of a platform.
type Option func(*settings)

// StartAt makes the platform's clock begin at a time. The default is Start.
func StartAt(start time.Time) Option { return func(s *settings) { s.start = start } }

// Config changes what the platform's Runtime is made of, as a host decides it:
//
//	fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) { c.Strict = true }))
//
// The change finds what the platform gives the Runtime, such as the virtual clock as Now, and may
// use, wrap or replace it:
//
//	fakes.Config(func(c *botctx.Config) { c.Store = open(t, c.Now) })
//
// A Store in the place of the one in memory holds no records yet and goes by that clock; such a
// platform has no Snapshot and no Fork. Interceptors are empty: those of the platform, which
// record calls and make them fail, stand around those that the change sets, and its transcript has
// each choice before OnChoice, each warning before OnWarning, and each placeholder before OnUnfilled.
// Several changes are made in their order, and once more for each Fork; Restart goes on with what they made.
// A change does not keep the botctx.Config.
func Config(change func(*botctx.Config)) Option {
	return func(s *settings) { s.changes = append(s.changes, change) }
}

// maxWait is how long a run waits for one of the same member, in real time: a run that
// waits for itself, since an action says something for its own member, fails then and
// does not hang.
const maxWait = 30 * time.Second

// configure makes what the platform's Runtimes are made of.
func (p *Platform) configure() {
	config := &p.hosted
	*config = botctx.Config{
		Store:       p.own,
		Now:         p.clock.Now,
		Pause:       p.settings.pause(&p.clock),
		NewID:       func() string { return p.ids.next("id") },
		DeriveID:    func(of string) string { return p.ids.derived("id", of) },
		NewEtag:     func() string { return p.ids.next("etag") },
		Connectors:  p.outbox.connectors(),
		HTTP:        recordedWeb{p},
		Mailer:      &p.mails,
		Payments:    p.account,
		ObjectStore: &p.files,
		LiveChat:    botctx.LiveChat{HistoryURL: historyURL},
		MaxWait:     maxWait,
		AgendaWait:  maxWait,
		MaxRun:      -1, // Real time is no part of a test, and a debugger may stop it.
		MaxSend:     -1,
	}
	for _, change := range p.settings.changes {
		change(config)
	}
	config.Override = p.dataSources.noteOverride(config.Override)
	config.OnChoice, config.OnWarning = p.noteChoice(config.OnChoice), p.noteWarning(config.OnWarning)
	config.OnUnfilled = p.noteUnfilled(config.OnUnfilled)
	config.Interceptors = slices.Concat([]botctx.Interceptor{p.recordCall, p.injectFault}, config.Interceptors)
}

// historyURL makes up the address of a conversation's history.
func historyURL(a *livechat.Assignment) (string, error) {
	return "https://history.example/" + url.PathEscape(a.ID), nil
}
