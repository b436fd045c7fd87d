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
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes/expect"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// Changes are the differences between two states of a platform: records that bots and operators see, and
// everything that left the platform. They are zero without a difference, so that a test can say
//
//	require.Empty(t, p.Since(before))
//
// Fields that each write renews are no change, and neither are the time, transcripts, calls, faults, and the
// SDK's internal records: leases and accepted events.
type Changes struct {
	Channels    []RecordChange[channel.Channel]
	Members     []RecordChange[member.Member]
	Data        []RecordChange[document.Object]
	Agendas     []RecordChange[agenda.Record]
	Assignments []RecordChange[livechat.AssignmentRecord]
	Groups      []RecordChange[livechat.Group]
	// PostComments are the comments on posts that the bot keeps.
	PostComments []RecordChange[send.PostComment]
	// Sent are the messages that were sent since, Shown the earlier ones that have changed since or were
	// recalled.
	Sent, Shown []Sent
	// Mails were sent since; Files were stored, or stored again; Payments were made or changed.
	Mails    []Mail
	Files    []File
	Payments []RecordChange[utility.Payment]

	// names are the names of recipients in a transcript.
	names map[address]string
}

// Diff returns the differences between two states of a platform, or of a platform and its fork; before is the
// earlier one. nil is the state of an empty platform.
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

// twoStores are a platform before and after.
type twoStores struct{ before, after *Snapshot }

func recordsOf[R any](s twoStores, collection string, but ...string) ([]RecordChange[R], error) {
	read := func(stored document.Object) (*R, error) {
		return record.Read[R](&record.Schema{Name: "record of " + collection}, stored.Without(record.FieldLaneFence))
	}
	return compareRecords(s.before.store.Documents(collection), s.after.store.Documents(collection), read, but...)
}

// dataPrefix is the prefix of the collections of data sources.
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

// dataSourceIn returns RecordChange.In for a data source.
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

// String returns the changes as text, a line for each: with + before what is new, - before what is gone, and ~ before
// what has changed. Credentials are redacted. It is "no changes" if there are none.
//
//	~ member member-1: meta.coupon: none -> "SPRING"
//	+ agenda agenda-1 {"member":"member-1","nodeCompositeId":"reminder",...}
//	+ message to Ada: "Your code: SPRING"
func (c Changes) String() string {
	var lines changeLines
	addRecords(&lines, "channel", c.Channels)
	addRecords(&lines, "member", c.Members)
	addRecords(&lines, "entry", c.Data)
	addRecords(&lines, "agenda", c.Agendas)
	addRecords(&lines, "assignment", c.Assignments)
	addRecords(&lines, "group", c.Groups)
	addRecords(&lines, "comment on a post", c.PostComments)
	for _, sent := range c.Sent {
		lines.addf("+ message to %s: %s", c.names[address{sent.Channel, sent.To}], expect.Shown(sent.Response))
	}
	for _, sent := range c.Shown {
		shows := "nothing any more"
		if !sent.Shown.IsZero() {
			shows = expect.Shown(sent.Shown)
		}
		lines.addf("~ message %s to %s shows %s", sent.MessageID, c.names[address{sent.Channel, sent.To}], shows)
	}
	for _, mail := range c.Mails {
		lines.addf("+ mail to %s: %s", strings.Join(addressesOf(mail), ", "), mail.Subject.Data)
	}
	for _, file := range c.Files {
		lines.addf("+ file %s: %s, %d bytes", file.Key, file.ContentType, len(file.Content))
	}
	addRecords(&lines, "payment", c.Payments)
	if len(lines) == 0 {
		return "no changes"
	}
	return strings.Join(lines, "\n")
}

// GoString is String, for failures of tests.
func (c Changes) GoString() string { return c.String() }

// changeLines are the lines of a text about changes.
type changeLines []string

// addf adds a line. Each is redacted separately: an open bracket after the name of a credential does not hide
// the next ones.
func (l *changeLines) addf(format string, args ...any) {
	*l = append(*l, display.Text(fmt.Sprintf(format, args...)))
}

// addRecords adds a line for each record that is new or gone, and for each field that has changed.
func addRecords[R any](lines *changeLines, kind string, all []RecordChange[R]) {
	for _, one := range all {
		name := kind + " " + one.ID
		if one.In != "" {
			name += " of " + one.In
		}
		switch {
		case one.IsNew():
			lines.addf("+ %s %s", name, recordText(one.After))
		case one.IsGone():
			lines.addf("- %s %s", name, recordText(one.Before))
		}
		for _, field := range one.Fields {
			field.Before, field.After = shownAt(one.Before, field.Path, field.Before), shownAt(one.After, field.Path, field.After)
			*lines = append(*lines, "~ "+name+": "+fieldText(field))
		}
	}
}

// fieldText returns a changed field, without its values if a name of its path is the name of a credential.
func fieldText(field FieldChange) string {
	if !slices.ContainsFunc(strings.Split(field.Path, "."), display.IsCredential) {
		return display.Text(field.String())
	}
	before, after := "none", "none"
	if field.WasThere {
		before = "[redacted]"
	}
	if field.IsThere {
		after = "[redacted]"
	}
	return field.Path + ": " + before + " -> " + after
}

// shownAt returns the value at the path of a record: a time if that is one, and otherwise the value as it is.
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

// recordText is a record as JSON, without what its line says already and without its stamps.
func recordText(of any) string {
	shown, err := document.ForReader(of)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	encoded, _ := shown.(document.Object)
	for _, name := range []string{
		record.FieldID, "id", record.FieldApp, record.FieldCreatedAt, record.FieldUpdatedAt, record.FieldVersion, record.FieldEtag,
	} {
		encoded = encoded.Without(name)
	}
	return encoded.String()
}

// RecordChange is a record that was made, changed or removed.
type RecordChange[R any] struct {
	// ID is the record's id as text.
	ID string
	// In is the data source of an entry, with the app and a slash before it if that is not the default one, and the
	// account of a payment. It is "" for other records.
	In string
	// Before is the earlier value, nil if there was none; After is the later value, nil if there is none any
	// more.
	Before, After *R
	// Fields are the differences, in the order of After; none if Before or After is nil.
	Fields []FieldChange
}

// IsNew reports whether there was no such record before.
func (r RecordChange[R]) IsNew() bool { return r.Before == nil }

// IsGone reports whether there is no such record any more.
func (r RecordChange[R]) IsGone() bool { return r.After == nil }

// Field returns what became of a path, and whether it differs.
func (r RecordChange[R]) Field(path string) (FieldChange, bool) {
	for _, field := range r.Fields {
		if field.Path == path {
			return field, true
		}
	}
	return FieldChange{}, false
}

// FieldChange is one value of a record that differs.
type FieldChange struct {
	// Path leads to it, such as "meta.coupon".
	Path string
	// Before and After are the values, as package document has them; nil also for none.
	Before, After any
	// WasThere and IsThere tell none from null.
	WasThere, IsThere bool
}

// String returns the path and both values: meta.coupon: none -> "SPRING".
func (f FieldChange) String() string {
	before, after := "none", "none"
	if f.WasThere {
		before = jsonOf(f.Before)
	}
	if f.IsThere {
		after = jsonOf(f.After)
	}
	return f.Path + ": " + before + " -> " + after
}

func jsonOf(value any) string {
	text, err := document.EncodeJSON(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

// changedFields returns what differs between two objects, but for the fields of these names at the top: objects are compared
// field by field, other values whole. The order of fields is no difference.
func changedFields(before, after document.Object, but ...string) []FieldChange {
	var c comparison
	for _, name := range but {
		before, after = before.Without(name), after.Without(name)
	}
	c.objects(before, after)
	return c.fields
}

// comparison collects what differs.
type comparison struct {
	path   []string
	fields []FieldChange
}

func (c *comparison) objects(before, after document.Object) {
	if before == after {
		return
	}
	for name, value := range after.All() {
		old, wasThere := before.Field(name)
		c.at(name, func() { c.values(FieldChange{Before: old, After: value, WasThere: wasThere, IsThere: true}) })
	}
	for name, old := range before.All() {
		if !after.Has(name) {
			c.at(name, func() { c.values(FieldChange{Before: old, WasThere: true}) })
		}
	}
}

// values compares what is at one path.
func (c *comparison) values(f FieldChange) {
	before, wasObject := f.Before.(document.Object)
	after, isObject := f.After.(document.Object)
	switch {
	case wasObject && isObject, wasObject && !f.IsThere && before.Len() > 0, isObject && !f.WasThere && after.Len() > 0:
		c.objects(before, after)
	case f.WasThere != f.IsThere || !document.Equal(f.Before, f.After):
		f.Path = strings.Join(c.path, ".")
		c.fields = append(c.fields, f)
	}
}

func (c *comparison) at(name string, visit func()) {
	c.path = append(c.path, name)
	visit()
	c.path = c.path[:len(c.path)-1]
}

// stamps are the fields that each write renews: alone they are no change.
func stamps() []string {
	return []string{record.FieldUpdatedAt, record.FieldVersion, record.FieldEtag}
}

// compareRecords compares two lists of documents by their _id: what is new and what has changed, in the order of after, and
// then what is gone, in the order of before. What a write renews, and the fields of these names, are no change. read
// makes a record of a document.
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
	return jsonOf(id)
}
