package script

import (
	"encoding/json"
	"math"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// recordNames are the records on `this`, in the order in which Object.keys returns them.
var recordNames = []string{"channel", "member", "node", "agendaMeta", "messageEvent", "group"}

// record holds the functions that pass a record to a script and back.
type record struct {
	// read returns the context's record, or nil if there is none.
	read func(r *run) (any, error)
	// write stores the script's version of the record in the context. It is nil if changes have no effect outside the
	// script.
	write func(r *run, value any) error
	// replace is called before write if the script assigned another object. nil means that write needs no
	// preparation.
	replace func(r *run)
}

// recordOf returns the functions for a record. ok is false if name is not a record.
func recordOf(name string) (of record, ok bool) {
	switch name {
	case "channel":
		return record{read: (*run).readChannel}, true
	case "member":
		return record{read: (*run).readMember, write: (*run).writeMember, replace: (*run).makeOtherMember}, true
	case "node":
		return record{read: (*run).readNode}, true
	case "agendaMeta":
		return record{read: (*run).readAgendaMeta, write: (*run).writeAgendaMeta}, true
	case "messageEvent":
		return record{read: (*run).readMessageEvent, write: (*run).writeMessageEvent}, true
	case "group":
		return record{read: (*run).readGroup, write: (*run).writeGroup}, true
	}
	return record{}, false
}

// fixedNames returns the names of the records whose changes have no effect outside the script.
func fixedNames() (names []string) {
	for _, name := range recordNames {
		if of, _ := recordOf(name); of.write == nil {
			names = append(names, name)
		}
	}
	return names
}

// hostGet returns a record, or a value that an earlier script left.
func (r *run) hostGet(payload string) (any, error) {
	read := &reader{text: payload}
	name, err := read.string()
	if err != nil {
		return nil, err
	}
	value, err := r.read(name)
	if err == nil {
		r.seen[name] = value
	}
	return value, err
}

// read returns the current record or value with a name.
func (r *run) read(name string) (any, error) {
	if of, isRecord := recordOf(name); isRecord {
		return of.read(r)
	}
	left, isLeft := r.bot.Values[name]
	if !isLeft {
		return document.Missing, nil
	}
	value, err := document.ValueOf(left)
	if err != nil { // Scripts cannot use this value.
		return document.Missing, nil //nolint:nilerr // See above.
	}
	return value, nil
}

// store writes the script's changes to the context: records to their fields, and other values to Values for later
// scripts. It reads two lists, removed names and changes; see this.js.
func (r *run) store(read *reader) error {
	err := read.separated('[', ']', func(int) error {
		name, err := read.string()
		r.forget(name)
		return err
	})
	if err != nil {
		return err
	}
	read.want(',')
	var changes []change
	err = read.separated('[', ']', func(int) error {
		read.want('[')
		name, err := read.string()
		if err != nil {
			return err
		}
		read.want(',')
		isOther := read.word() == "true"
		read.want(',')
		begin := read.at
		value, err := read.value(forData)
		_, isRecord := recordOf(name)
		if err == nil && !isRecord {
			err = r.leave(name, read.at-begin)
		}
		if err == nil {
			read.want(']')
			changes = append(changes, change{name, isOther, value})
			return nil
		}
		if isRecord || read.isTooLarge {
			return boterr.PrefixField(name, err)
		}
		r.forget(name)
		r.engine.options.Console.DebugContext(r.ctx, "a value of a script stays in the script",
			"script", r.program.name, "value", name, "error", err)
		read.at = begin
		read.skip()
		read.want(']')
		return nil
	})
	if r.sizes != nil && r.left > read.largest { // One value may grow while another one shrinks, so only the sum counts.
		read.isTooLarge, r.sizes = true, nil
		return boterr.New(boterr.ResourceExhausted, "",
			"the values on this are together larger than %d bytes of JSON: see Options.MaxResultBytes", read.largest)
	}
	for _, c := range changes {
		if err := r.storeOne(c); err != nil {
			return boterr.PrefixField(c.name, err)
		}
	}
	return err
}

// forget removes a value that earlier scripts left.
func (r *run) forget(name string) {
	delete(r.bot.Values, name)
	delete(r.seen, name)
	r.left -= r.sizes[name]
	delete(r.sizes, name)
}

// leave counts the size of a value that the script leaves for later ones. The sum of these sizes has the same limit
// as a single value; see store.
func (r *run) leave(name string, length int) error {
	if r.sizes == nil {
		if err := r.measureLeft(); err != nil {
			return err
		}
	}
	size := len(name) + length
	r.left += size - r.sizes[name]
	r.sizes[name] = size
	return nil
}

// measureLeft measures the values that scripts and Go actions have left so far.
func (r *run) measureLeft() error {
	r.sizes, r.left = map[string]int{}, 0
	for name := range r.bot.Values {
		value, err := r.read(name)
		if err != nil {
			return err
		}
		w := newWriter(math.MaxInt64)
		w.value(value)
		size := len(name) + len(w.text)
		r.sizes[name], r.left = size, r.left+size
	}
	return nil
}

// change is a record or value that the script may have changed. isOther is true if the script assigned another
// object.
type change struct {
	name    string
	isOther bool
	value   any
}

func (r *run) storeOne(c change) error {
	of, isRecord := recordOf(c.name)
	if !isRecord {
		if c.value == document.Missing {
			r.forget(c.name)
			return nil
		}
		value := alike(c.value, r.seen[c.name])
		r.bot.Values[c.name], r.seen[c.name] = value, value
		return nil
	}
	if of.write == nil {
		return nil
	}
	before, isSeen := r.seen[c.name]
	if !isSeen {
		var err error
		if before, err = of.read(r); err != nil {
			return err
		}
	}
	value := alike(orNull(c.value), before)
	if !c.isOther && document.Identical(value, before) {
		return nil
	}
	if c.isOther && of.replace != nil {
		of.replace(r)
	}
	if err := of.write(r, value); err != nil {
		return err
	}
	written, err := of.read(r) // Read it back: a write omits some fields, such as an empty name.
	r.seen[c.name] = written
	return err
}

// alike returns now with the number types of before: scripts cannot distinguish 5 from 5.0.
func alike(now, before any) any {
	switch v := now.(type) {
	case document.Object:
		old, isObject := before.(document.Object)
		if !isObject || document.Identical(now, before) {
			return now
		}
		built := document.NewBuilder(v.Len())
		for name, value := range v.All() {
			built.Set(name, alike(value, old.Value(name)))
		}
		return built.Object()
	case document.Array:
		old, isArray := before.(document.Array)
		if !isArray || document.Identical(now, before) {
			return now
		}
		items := make([]any, 0, v.Len())
		for i, item := range v.All() {
			if i < old.Len() {
				item = alike(item, old.At(i))
			}
			items = append(items, item)
		}
		return document.ArrayOf(items)
	case int64:
		if old, isFloat := before.(float64); isFloat && old == float64(v) && v <= document.MaxExact && v >= -document.MaxExact {
			return old
		}
	}
	return now
}

// writeRenewed writes the records and values that a call changed, such as the member after a redirect that joined the
// run, and the names of all values on `this`.
func (r *run) writeRenewed(w *writer) {
	w.text = append(w.text, ",["...)
	first := true
	for name, before := range r.seen {
		if of, isRecord := recordOf(name); isRecord && of.write == nil {
			continue
		}
		now, err := r.read(name)
		if err != nil || now == document.Missing || document.Equal(now, before) {
			continue
		}
		r.seen[name] = now
		if !first {
			w.text = append(w.text, ',')
		}
		first = false
		w.text = append(w.text, '[')
		w.scalar(name)
		w.text = append(w.text, ',')
		w.whole(now)
		w.text = append(w.text, ']')
	}
	w.text = append(w.text, ']')
	left := r.leftNames()
	if len(left) == 0 {
		return
	}
	w.text = append(w.text, ',')
	names, err := json.Marshal(left)
	if err != nil {
		w.err = err
	}
	w.text = append(w.text, names...)
}

// readChannel reads the channel without credentials, as getChannel returns it.
func (r *run) readChannel() (any, error) {
	if r.bot.Channel == nil {
		return nil, nil //nolint:nilnil // It is null.
	}
	text, err := document.EncodeJSON(r.bot.Channel)
	if err != nil {
		return nil, err
	}
	return document.ParseJSON(text)
}

// tempData is a field of botMeta that scripts write to without creating it.
const (
	fieldBotMeta  = "botMeta"
	fieldTempData = "tempData"
)

func (r *run) readMember() (any, error) {
	if r.bot.Member == nil {
		return nil, nil //nolint:nilnil // It is null.
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

// makeOtherMember replaces the run's member by a copy, so that writes do not reach the original.
func (r *run) makeOtherMember() {
	if r.bot.Member != nil {
		other := *r.bot.Member
		r.bot.Member = &other
	}
}

// writeMember writes the script's fields to the context's member.
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

// withoutEmptyTempData removes tempData if no script wrote to it, unless the stored member has it.
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

func (r *run) readNode() (any, error) {
	return document.O("compositeId", r.bot.Node.CompositeID, "tree", r.bot.Node.Tree), nil
}

// readAgendaMeta reads the meta of the agenda or redirect. It is empty if there is none.
func (r *run) readAgendaMeta() (any, error) {
	if r.bot.AgendaMeta.IsZero() {
		return document.O(), nil
	}
	return r.bot.AgendaMeta, r.bot.AgendaMeta.Err()
}

func (r *run) writeAgendaMeta(value any) error {
	return document.DecodeValue(value, &r.bot.AgendaMeta)
}

func (r *run) readMessageEvent() (any, error) {
	if r.bot.MessageEvent == nil {
		return nil, nil //nolint:nilnil // It is null.
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
		return nil, nil //nolint:nilnil // It is null.
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

// written decodes a record. It returns nil for null.
func written[T any](value any) (*T, error) {
	if value == nil {
		return nil, nil //nolint:nilnil // It is null.
	}
	into := new(T)
	return into, document.DecodeValue(value, into)
}
