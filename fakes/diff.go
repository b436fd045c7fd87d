package fakes

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// Changes are what differs between two states of a platform: records that bots and operators see, and what left the
// platform. They are zero where nothing does, so that a test can say
//
//	require.Empty(t, p.Since(before))
//
// What each write renews is no change by itself, and neither are the time, transcripts, calls, faults, and what the SDK
// keeps for itself: leases, turns, and what was accepted.
type Changes struct {
	Channels    []RecordChange[channel.Channel]
	Members     []RecordChange[member.Member]
	Data        []RecordChange[document.Object]
	Agendas     []RecordChange[agenda.Record]
	Assignments []RecordChange[livechat.AssignmentRecord]
	Groups      []RecordChange[livechat.Group]
	// PostComments are the comments on posts that the bot keeps.
	PostComments []RecordChange[send.PostComment]
	// Sent are the messages that were sent since, Shown those from before that show as something else now or were taken
	// back.
	Sent, Shown []Sent
	// Mails were sent since; Files were stored, or stored anew; Payments were made or changed.
	Mails    []Mail
	Files    []File
	Payments []RecordChange[utility.Payment]

	// names are what a transcript calls those who got messages.
	names map[address]string
}

// Diff returns what differs between two states of a platform, or of one and a fork of it, of which before is the earlier
// one. nil is the state of a platform in which nothing is.
func Diff(before, after *Snapshot) Changes {
	nothing := &Snapshot{}
	changes, err := diff(cmp.Or(before, nothing), cmp.Or(after, nothing))
	if err != nil {
		panic(fmt.Sprintf("fakes: Diff: %v", err)) // The store reads what it has stored.
	}
	return changes
}

// Since returns what has changed on the platform since a snapshot of it, as Diff does. No call may be under way.
func (p *Platform) Since(before *Snapshot) Changes {
	p.test.Helper()
	return Diff(before, p.Snapshot())
}

func diff(before, after *Snapshot) (c Changes, err error) {
	stores := twoStores{before, after}
	errs := make([]error, 0, 8)
	note := func(err error) { errs = append(errs, err) }
	c.Channels, err = recordsOf[channel.Channel](stores, "channels")
	note(err)
	c.Members, err = recordsOf[member.Member](stores, "members", record.FieldTurnFence)
	note(err)
	c.Agendas, err = recordsOf[agenda.Record](stores, "agendas")
	note(err)
	c.Assignments, err = recordsOf[livechat.AssignmentRecord](stores, "assignments")
	note(err)
	c.Groups, err = recordsOf[livechat.Group](stores, "groups")
	note(err)
	c.PostComments, err = recordsOf[send.PostComment](stores, "postComments")
	note(err)
	c.Data, err = stores.data()
	note(err)
	c.Payments, err = stores.payments()
	note(err)
	c.Sent, c.Shown = stores.messages()
	c.Mails = newOf(before.mails.mails, after.mails.mails)
	c.Files = stores.files()
	for _, sent := range slices.Concat(c.Sent, c.Shown) {
		if c.names == nil {
			c.names = map[address]string{}
		}
		c.names[address{sent.Channel, sent.To}] = after.outbox.called(address{sent.Channel, sent.To})
	}
	return c, errors.Join(errs...)
}

// twoStores are a platform before and after.
type twoStores struct{ before, after *Snapshot }

// recordsOf compares the records of a collection.
func recordsOf[R any](s twoStores, collection string, but ...string) ([]RecordChange[R], error) {
	read := func(stored document.Object) (*R, error) {
		return record.Read[R](&record.Kind{Name: "record of " + collection}, stored.Without(record.FieldTurnFence))
	}
	return compareRecords(s.before.store.Documents(collection), s.after.store.Documents(collection), read, but...)
}

// dataPrefix is how the names of the collections of data sources begin.
const dataPrefix = "data/"

// data compares the entries of all data sources.
func (s twoStores) data() (all []RecordChange[document.Object], err error) {
	names := slices.Concat(s.before.store.Collections(), s.after.store.Collections())
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		escaped, isData := strings.CutPrefix(name, dataPrefix)
		if !isData {
			continue
		}
		entries, err := compareRecords(s.before.store.Documents(name), s.after.store.Documents(name),
			func(stored document.Object) (*document.Object, error) { return &stored, nil })
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			entry.In = dataSourceIn(escaped)
			all = append(all, entry)
		}
	}
	return all, nil
}

// dataSourceIn returns what RecordChange.In says of a data source.
func dataSourceIn(escaped string) string {
	app, id, _ := strings.Cut(escaped, "/")
	app, _ = url.QueryUnescape(app)
	id, _ = url.QueryUnescape(id)
	if app == DefaultApp {
		return id
	}
	return app + "/" + id
}

// payments compares the payments of all accounts.
func (s twoStores) payments() (all []RecordChange[utility.Payment], err error) {
	keys := slices.SortedFunc(maps.Keys(s.after.payments.accounts), func(a, b accountKey) int {
		return cmp.Or(cmp.Compare(a.app, b.app), cmp.Compare(a.name, b.name))
	})
	for _, key := range keys {
		made, err := compareRecords(paymentsOf(s.before, key), paymentsOf(s.after, key), readPayment)
		if err != nil {
			return nil, err
		}
		for _, payment := range made {
			payment.In = key.name
			all = append(all, payment)
		}
	}
	return all, nil
}

// paymentsOf yields the payments of an account as documents.
func paymentsOf(s *Snapshot, key accountKey) iter.Seq[document.Object] {
	return func(yield func(document.Object) bool) {
		account := s.payments.accounts[key]
		if account == nil {
			return
		}
		for _, payment := range account.payments {
			encoded, err := document.Encode(payment)
			if err != nil || !yield(encoded.With(record.FieldID, payment.ID)) {
				return
			}
		}
	}
}

func readPayment(encoded document.Object) (*utility.Payment, error) {
	return record.Read[utility.Payment](&record.Kind{Name: "payment"}, encoded.Without(record.FieldID))
}

// messages returns what was sent since, and what shows otherwise now.
func (s twoStores) messages() (sent, shown []Sent) {
	before, after := s.before.outbox.sent, s.after.outbox.sent
	for at := range min(len(before), len(after)) {
		if !document.Equal(before[at].Shown.Object(), after[at].Shown.Object()) {
			shown = append(shown, after[at])
		}
	}
	return newOf(before, after), shown
}

// newOf returns what is behind what there was before.
func newOf[T any](before, after []T) []T {
	if len(after) <= len(before) {
		return nil
	}
	return slices.Clone(after[len(before):])
}

// files returns what was stored since, in the order of the keys.
func (s twoStores) files() (all []File) {
	for _, key := range slices.Sorted(maps.Keys(s.after.files.files)) {
		before, after := s.before.files.files[key], s.after.files.files[key]
		if !before.StoredAt.Equal(after.StoredAt) || before.ContentType != after.ContentType || !slices.Equal(before.Content, after.Content) {
			after.Content = slices.Clone(after.Content)
			all = append(all, after)
		}
	}
	return all
}
