package script

import (
	"slices"

	"github.com/dop251/goja"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// recordNames are the records on `this`, in the order in which Object.keys has them.
var recordNames = []string{"channel", "member", "node", "agendaMeta", "messageEvent", "group"}

// record is one record on `this`.
type record struct {
	recordKind
	// seen is what the script was given, and given the object that it was.
	seen  any
	given goja.Value
}

// recordKind is how a record gets to a script and back.
type recordKind struct {
	// read returns the record of the context, nil where there is none.
	read func(r *run) (any, error)
	// write puts what the script made of it into the context. It is nil where changes are the script's
	// alone.
	write func(r *run, value any) error
	// replace makes room for another record, where the script has put another object in its place, nil
	// where that makes no difference.
	replace func(r *run)
}

// records are those of one run, in the order of recordNames.
type records [6]record

// newRecords returns the records of a run.
func newRecords() records {
	return records{
		{recordKind: recordKind{read: (*run).readChannel}},
		{recordKind: recordKind{read: (*run).readMember, write: (*run).writeMember, replace: (*run).makeOtherMember}},
		{recordKind: recordKind{read: (*run).readNode}},
		{recordKind: recordKind{read: (*run).readAgendaMeta, write: (*run).writeAgendaMeta}},
		{recordKind: recordKind{read: (*run).readMessageEvent, write: (*run).writeMessageEvent}},
		{recordKind: recordKind{read: (*run).readGroup, write: (*run).writeGroup}},
	}
}

// of returns the record of a name, nil where there is none.
func (all *records) of(name string) *record {
	if i := slices.Index(recordNames, name); i >= 0 {
		return &all[i]
	}
	return nil
}

// load makes the object of a record. A record that cannot be read throws.
func (rec *record) load(r *run) goja.Value {
	value, err := rec.read(r)
	if err != nil {
		panic(r.errorObject(err))
	}
	rec.seen, rec.given = value, r.toScript(value)
	return rec.given
}

// storeRecord puts what the script has changed of a record into the context.
func (r *run) storeRecord(name string) error {
	record, now := r.this.records.of(name), r.this.made[name]
	if record.write == nil || now == nil {
		return nil
	}
	value, err := r.fromScript(now, record.seen)
	if err != nil {
		return boterr.In(name, err)
	}
	value = orNull(value)
	isSame := record.given != nil && now.SameAs(record.given)
	if isSame && document.Identical(value, record.seen) {
		return nil
	}
	if !isSame && record.replace != nil {
		record.replace(r)
	}
	if err := record.write(r, value); err != nil {
		return boterr.In(name, err)
	}
	record.seen, record.given = value, now
	return nil
}

// orNull returns null for what is missing.
func orNull(value any) any {
	if value == document.Missing {
		return nil
	}
	return value
}

// readChannel reads the channel as getChannel shows it, without credentials.
func (r *run) readChannel() (any, error) {
	if r.bot.Channel == nil {
		return nil, nil //nolint:nilnil // Null is meant.
	}
	text, err := document.EncodeJSON(r.bot.Channel)
	if err != nil {
		return nil, err
	}
	return document.ParseJSON(text)
}

// tempData is the field of botMeta into which scripts write without asking whether it is there.
const (
	fieldBotMeta  = "botMeta"
	fieldTempData = "tempData"
)

// readMember reads the member, with a tempData.
func (r *run) readMember() (any, error) {
	if r.bot.Member == nil {
		return nil, nil //nolint:nilnil // Null is meant.
	}
	read, err := document.Encode(r.bot.Member)
	if err != nil {
		return nil, err
	}
	botMeta, isObject := read.Value(fieldBotMeta).(document.Object)
	if !isObject {
		botMeta = document.O()
	}
	if _, has := botMeta.Field(fieldTempData); !has {
		read = read.Put(fieldBotMeta, botMeta.Put(fieldTempData, document.O()))
	}
	return read, nil
}

// makeOtherMember puts another record in the place of the run's member, to be written to.
func (r *run) makeOtherMember() {
	if r.bot.Member != nil {
		other := *r.bot.Member
		r.bot.Member = &other
	}
}

// writeMember puts the member into the record of the context.
func (r *run) writeMember(value any) error {
	changed, isObject := value.(document.Object)
	if !isObject {
		r.bot.Member = nil
		return nil
	}
	var written member.Member
	if err := document.Decode(r.withoutEmptyTempData(changed), &written); err != nil {
		return err
	}
	if r.bot.Member == nil {
		r.bot.Member = new(member.Member)
	}
	*r.bot.Member = written
	return nil
}

// withoutEmptyTempData leaves out the tempData that no script has written to, unless the stored
// member has one.
func (r *run) withoutEmptyTempData(changed document.Object) document.Object {
	botMeta, isObject := changed.Value(fieldBotMeta).(document.Object)
	if !isObject || r.bot.Member != nil && r.bot.Member.BotMeta.Has(fieldTempData) {
		return changed
	}
	if tempData, isObject := botMeta.Value(fieldTempData).(document.Object); !isObject || tempData.Len() > 0 {
		return changed
	}
	return changed.Put(fieldBotMeta, botMeta.Without(fieldTempData))
}

// replaceMember puts the member that a script returned in the place of the run's.
func (r *run) replaceMember(returned goja.Value) error {
	object, isObject := returned.(*goja.Object)
	if !isObject || object.ClassName() == "Array" {
		return nil
	}
	if replacing, isRecord := object.Get("member").(*goja.Object); isRecord {
		r.this.Get("member") // What it was tells what is new.
		r.this.Set("member", replacing)
	}
	return nil
}

// readNode reads the node that runs.
func (r *run) readNode() (any, error) {
	return document.O("compositeId", r.bot.Node.CompositeID, "tree", r.bot.Node.Tree), nil
}

// readAgendaMeta reads the meta of the agenda or redirect, empty where there is none.
func (r *run) readAgendaMeta() (any, error) {
	if r.bot.AgendaMeta.IsZero() {
		return document.O(), nil
	}
	return r.bot.AgendaMeta, r.bot.AgendaMeta.Err()
}

func (r *run) writeAgendaMeta(value any) error {
	return document.DecodeValue(value, &r.bot.AgendaMeta)
}

// readMessageEvent reads the message that caused the run.
func (r *run) readMessageEvent() (any, error) {
	if r.bot.MessageEvent == nil {
		return nil, nil //nolint:nilnil // Null is meant.
	}
	return document.Encode(r.bot.MessageEvent)
}

func (r *run) writeMessageEvent(value any) error {
	written, err := written[send.MessageEvent](value)
	if err == nil {
		r.bot.MessageEvent = written
	}
	return err
}

// readGroup reads the group of the live chat.
func (r *run) readGroup() (any, error) {
	if r.bot.Group == nil {
		return nil, nil //nolint:nilnil // Null is meant.
	}
	return document.Encode(r.bot.Group)
}

func (r *run) writeGroup(value any) error {
	written, err := written[livechat.Group](value)
	if err == nil {
		r.bot.Group = written
	}
	return err
}

// written decodes a record, nil where it is null.
func written[T any](value any) (*T, error) {
	if value == nil {
		return nil, nil //nolint:nilnil // Null is meant.
	}
	into := new(T)
	return into, document.DecodeValue(value, into)
}
