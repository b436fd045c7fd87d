package fakes

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/render"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// Changes are the differences between two states of a platform: in the records that bots and operators see,
// and in everything sent out. They are zero if the states are equal, so that a test can use
//
//	require.Empty(t, p.Since(before))
//
// Fields that each write renews do not count, and neither do the time, transcripts, calls, faults or the SDK's
// internal records (leases and accepted events).
type Changes struct {
	Channels    []RecordChange[channel.Channel]
	Members     []RecordChange[member.Member]
	Data        []RecordChange[document.Object]
	Agendas     []RecordChange[agenda.Record]
	Assignments []RecordChange[livechat.AssignmentRecord]
	Groups      []RecordChange[livechat.Group]
	// PostComments are the comments on posts recorded by the bot.
	PostComments []RecordChange[send.PostComment]
	// Sent are the messages sent since. Shown are the earlier messages changed or recalled since.
	Sent, Shown []Sent
	// Mails were sent since. Files were stored, or stored again. Payments were made or changed.
	Mails    []Mail
	Files    []File
	Payments []RecordChange[utility.Payment]

	// names are the recipients' names in a transcript.
	names map[address]string
}

// Diff returns the differences between two states of a platform, or of a platform and its fork. before is the
// earlier state. A nil snapshot means an empty platform.
func Diff(before, after *Snapshot) Changes {
	nothing := &Snapshot{}
	changes, err := diff(cmp.Or(before, nothing), cmp.Or(after, nothing))
	if err != nil {
		panic(fmt.Sprintf("fakes: Diff: %v", err)) // The store can read everything that it has stored.
	}
	return changes
}

// Since returns the changes on the platform since a snapshot, as Diff does. No call may be in progress.
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
	c.Members, err = recordsOf[member.Member](stores, "members", record.FieldLaneFence)
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

type twoStores struct{ before, after *Snapshot }

func recordsOf[R any](s twoStores, collection string, but ...string) ([]RecordChange[R], error) {
	read := func(stored document.Object) (*R, error) {
		return record.Read[R](&record.Schema{Name: "record of " + collection}, stored.Without(record.FieldLaneFence))
	}
	return compareRecords(s.before.store.Documents(collection), s.after.store.Documents(collection), read, but...)
}

// data compares the entries of all data sources.
func (s twoStores) data() (all []RecordChange[document.Object], err error) {
	names := slices.Concat(s.before.store.Collections(), s.after.store.Collections())
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		source := partOf(name)
		if source.service != ServiceDataSources {
			continue
		}
		entries, err := compareRecords(s.before.store.Documents(name), s.after.store.Documents(name),
			func(stored document.Object) (*document.Object, error) { return &stored, nil })
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			entry.In = dataSourceIn(source)
			all = append(all, entry)
		}
	}
	return all, nil
}

// dataSourceIn returns RecordChange.In for a data source.
func dataSourceIn(source part) string {
	if source.app == DefaultApp {
		return source.id
	}
	return source.app + "/" + source.id
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
	return record.Read[utility.Payment](&record.Schema{Name: "payment"}, encoded.Without(record.FieldID))
}

// messages returns the messages sent since, and the earlier messages that show differently now.
func (s twoStores) messages() (sent, shown []Sent) {
	before, after := s.before.outbox.sent, s.after.outbox.sent
	for at := range min(len(before), len(after)) {
		if !document.Equal(before[at].Shown.Object(), after[at].Shown.Object()) {
			shown = append(shown, after[at])
		}
	}
	return newOf(before, after), shown
}

// newOf returns the elements of after beyond the length of before.
func newOf[T any](before, after []T) []T {
	if len(after) <= len(before) {
		return nil
	}
	return slices.Clone(after[len(before):])
}

// files returns the files stored since, in the order of their keys.
func (s twoStores) files() (all []File) {
	for _, key := range slices.Sorted(maps.Keys(s.after.files)) {
		before, after := s.before.files[key], s.after.files[key]
		if !before.StoredAt.Equal(after.StoredAt) || before.ContentType != after.ContentType || !slices.Equal(before.Content, after.Content) {
			after.Content = slices.Clone(after.Content)
			all = append(all, after)
		}
	}
	return all
}

// String returns the changes as text, one line for each: + for a new record, - for a removed one, ~ for a
// changed one. Credentials are redacted. Without changes it returns "no changes".
//
//	~ member member-1: meta.coupon: none -> "SPRING"
//	+ Ada <- "Your code: SPRING"
//	+ agenda agenda-1 {"member":"member-1","nodeCompositeId":"reminder",...}
func (c Changes) String() string {
	var lines []string
	for _, one := range c.entries() {
		one.At = time.Time{}
		lines = append(lines, one.mark+" "+one.Line())
	}
	if len(lines) == 0 {
		return "no changes"
	}
	return strings.Join(lines, "\n")
}

// GoString returns String, so that test failures are readable.
func (c Changes) GoString() string { return c.String() }

// changed is an entry of Changes, with its mark and its section in a golden file.
type changed struct {
	render.Entry

	mark, section string
}

// changeList collects the entries of Changes.
type changeList []changed

func (l *changeList) add(mark, section string, one render.Entry) {
	*l = append(*l, changed{Entry: one, mark: mark, section: section})
}

func (c Changes) entries() []changed {
	var all changeList
	for _, sent := range c.Sent {
		all.add("+", fmt.Sprintf("messages in %s (%s)", sent.Channel, sent.Type), render.Entry{
			At: sent.SentAt, Kind: render.Sent, Who: c.names[address{sent.Channel, sent.To}], Text: render.Line(sent.Response) + remark(sent),
		})
	}
	for _, sent := range c.Shown {
		all.add("~", "messages", render.Entry{
			Kind: "message " + sent.MessageID + " to", Who: c.names[address{sent.Channel, sent.To}], Text: render.Line(sent.Shown),
		})
	}
	for _, mail := range c.Mails {
		all.add("+", "mails", mail.entry())
	}
	for _, file := range c.Files {
		all.add("+", "files", file.entry())
	}
	addRecords(&all, "payment", "payments", c.Payments)
	addRecords(&all, "channel", sectionChannels, c.Channels)
	addRecords(&all, "member", "members", c.Members)
	addRecords(&all, "entry", "data", c.Data)
	addRecords(&all, "agenda", "agendas", c.Agendas)
	addRecords(&all, "assignment", "assignments", c.Assignments)
	addRecords(&all, "group", "groups", c.Groups)
	addRecords(&all, "comment on a post", "comments on posts", c.PostComments)
	return all
}

// remark returns a remark on a message that was repeated, changed or recalled.
func remark(sent Sent) string {
	switch {
	case sent.IsRepeat:
		return " (sent before)"
	case sent.Shown.IsZero():
		return " " + render.TakenBack
	case sent.Shown.String() != sent.Response.String():
		return " (shows " + render.Line(sent.Shown) + ")"
	default:
		return ""
	}
}

// addRecords adds an entry for each new or removed record and for each changed field.
func addRecords[R any](all *changeList, kind, section string, records []RecordChange[R]) {
	for _, one := range records {
		switch {
		case one.IsNew():
			all.add("+", section, render.Record(kind, one.ID, one.In, one.After))
		case one.IsGone():
			all.add("-", section, render.Record(kind, one.ID, one.In, one.Before))
		}
		for _, field := range one.Fields {
			field.Before, field.After = shownAt(one.Before, field.Path, field.Before), shownAt(one.After, field.Path, field.After)
			all.add("~", section, render.Entry{Kind: kind, Who: render.NameOf(one.ID, one.In), Change: field})
		}
	}
}

// shownAt returns the value for a reader: as a time if the field at path holds one, otherwise unchanged.
func shownAt[R any](of *R, path string, value any) any {
	if _, isNumber := value.(int64); !isNumber || of == nil {
		return value
	}
	shown, _ := document.ForReader(of)
	encoded, _ := shown.(document.Object)
	found, _ := encoded.Lookup(path)
	if at, isTime := found.(time.Time); isTime {
		return at
	}
	return value
}

// RecordChange is a record that was created, changed or removed.
type RecordChange[R any] struct {
	// ID is the record's id as text.
	ID string
	// In is the data source of an entry or the account of a payment, or "" for other records. For an app other
	// than DefaultApp, it starts with the app and a slash.
	In string
	// Before is the earlier value, or nil for a new record. After is the later value, or nil for a removed one.
	Before, After *R
	// Fields are the differences, in the order of After. It is empty if Before or After is nil.
	Fields []FieldChange
}

// IsNew reports whether the record did not exist before.
func (r RecordChange[R]) IsNew() bool { return r.Before == nil }

// IsGone reports whether the record no longer exists.
func (r RecordChange[R]) IsGone() bool { return r.After == nil }

// Field returns the change at a path, and reports whether there is one.
func (r RecordChange[R]) Field(path string) (FieldChange, bool) {
	for _, field := range r.Fields {
		if field.Path == path {
			return field, true
		}
	}
	return FieldChange{}, false
}

// FieldChange is a changed value of a record. Path is its path, such as "meta.coupon". Before and After are the
// values as package document represents them; nil means null or a missing value, and WasThere and IsThere distinguish
// the two. String returns the path and both values, with credentials redacted: meta.coupon: none -> "SPRING".
type FieldChange = render.Change

// changedFields returns the differences between two objects, ignoring the top-level fields named in but.
// Objects are compared field by field, other values as a whole. The order of fields does not matter.
func changedFields(before, after document.Object, but ...string) []FieldChange {
	for _, name := range but {
		before, after = before.Without(name), after.Without(name)
	}
	return render.Comparison{}.Changes("", before, after)
}

// stamps returns the fields that each write renews. A change in these alone does not count.
func stamps() []string {
	return []string{record.FieldUpdatedAt, record.FieldVersion, record.FieldEtag}
}

// compareRecords compares two lists of documents by their _id. It returns new and changed records in the
// order of after, then removed records in the order of before. It ignores stamps and the fields named in but.
// read decodes a document.
func compareRecords[R any](
	before, after iter.Seq[document.Object], read func(document.Object) (*R, error), but ...string,
) ([]RecordChange[R], error) {
	but = append(stamps(), but...)
	old, isLeft := map[string]document.Object{}, map[string]bool{}
	for one := range before {
		old[idOf(one)] = one
	}
	var all []RecordChange[R]
	for one := range after {
		id := idOf(one)
		isLeft[id] = true
		was, wasThere := old[id]
		change := RecordChange[R]{ID: id}
		if wasThere {
			if change.Fields = changedFields(was, one, but...); len(change.Fields) == 0 {
				continue
			}
		}
		if err := change.read(was, one, read); err != nil {
			return nil, err
		}
		all = append(all, change)
	}
	for one := range before {
		if id := idOf(one); !isLeft[id] {
			change := RecordChange[R]{ID: id}
			if err := change.read(one, document.Object{}, read); err != nil {
				return nil, err
			}
			all = append(all, change)
		}
	}
	return all, nil
}

// read sets Before and After.
func (r *RecordChange[R]) read(before, after document.Object, read func(document.Object) (*R, error)) (err error) {
	if !before.IsZero() {
		if r.Before, err = read(before); err != nil {
			return err
		}
	}
	if !after.IsZero() {
		r.After, err = read(after)
	}
	return err
}

func idOf(one document.Object) string {
	id, _ := one.Field(record.FieldID)
	if text, ok := id.(string); ok {
		return text
	}
	return render.Value(id)
}
