package script

import (
	"encoding/json"
	"errors"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/script/internal/quickjs"
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

// report describes a thrown value in the format of border.js.
type report struct {
	Text    string `json:"text"`
	Stack   string `json:"stack"`
	IsError bool   `json:"isError"`
	// Number identifies an error that the script received from the host. It is 0 for other values.
	Number int `json:"number"`
}

// thrownError is a value that a script threw, with its place and cause.
type thrownError struct {
	cause error
	stack string
}

func (e *thrownError) Error() string { return e.cause.Error() }

// hostFail ends the run with the thrown value.
func (r *run) hostFail(payload string) error {
	var told report
	if err := json.Unmarshal([]byte(payload), &told); err != nil {
		return err
	}
	r.fail(r.thrown(told))
	return nil
}

// stackIsFull is the engine's error for calls that are nested too deep.
const stackIsFull = "RangeError: Maximum call stack size exceeded"

// noModule is the engine's error for import().
const noModule = "ReferenceError: could not load module"

// thrown returns the error for a value that a script threw.
func (r *run) thrown(told report) *thrownError {
	read := &thrownError{stack: told.Stack}
	switch {
	case r.causes[told.Number] != nil:
		read.cause = r.causes[told.Number]
	case told.Text == stackIsFull:
		read.cause = boterr.New(boterr.ResourceExhausted, "", "function calls are nested too deep")
	case strings.HasPrefix(told.Text, noModule):
		read.cause = boterr.New(boterr.Unsupported, "", "import() is not supported: use require")
	case told.IsError:
		read.cause = boterr.New(boterr.Internal, "", "%s", told.Text)
	default:
		read.cause = boterr.New(boterr.Internal, "", "the script threw %s", told.Text)
	}
	return read
}

// mostFrames limits the calls in the stack of an error.
const mostFrames = 20

func (r *run) failed(err error) *Error {
	if known, ok := errors.AsType[*Error](err); ok { // a module that does not compile
		return known
	}
	if thrown, ok := errors.AsType[*quickjs.ThrownError](err); ok { // thrown outside the script's promise
		err = r.thrown(report{Text: thrown.Text, Stack: thrown.Stack, IsError: true})
	}
	var stack string
	var places []place
	cause := err
	if thrown, ok := errors.AsType[*thrownError](err); ok {
		cause, stack = thrown.cause, thrown.stack
	} else if ended, ok := errors.AsType[*quickjs.EndedError](err); ok {
		cause, places = r.endedBy(ended.Cause), r.placesOfEnd(ended)
	}
	if known, ok := errors.AsType[*Error](cause); ok {
		return known
	}
	if r.ctx.Err() != nil && boterr.CodeOf(cause) == boterr.Canceled {
		cause = boterr.Wrap("", cause) // A context's own error has no code.
	}
	failed := &Error{File: r.program.name, Err: cause}
	if stack != "" {
		places = r.places(stack)
	}
	for i, at := range places {
		if i == 0 {
			failed.File, failed.Line, failed.Column = at.file, at.line, at.column
		}
		if i < mostFrames {
			failed.Stack = append(failed.Stack, at.String())
		}
	}
	return failed
}

func (r *run) endedBy(cause error) error {
	options := r.engine.options
	switch {
	case errors.Is(cause, quickjs.ErrBusy):
		return boterr.New(boterr.ResourceExhausted, "",
			"the script and its operations computed for more than %v: see Options.MaxBusy", options.MaxBusy)
	case errors.Is(cause, quickjs.ErrMemory):
		return boterr.New(boterr.ResourceExhausted, "", "the script needs more than %d bytes: see Options.MaxMemory", options.MaxMemory)
	case errors.Is(cause, quickjs.ErrText):
		return boterr.New(boterr.ResourceExhausted, "", "the script passes more than %d bytes to the host at once: see Options.MaxResultBytes",
			longestText(options.MaxResultBytes))
	case errors.Is(cause, quickjs.ErrDepth):
		return boterr.New(boterr.ResourceExhausted, "", "the script nests calls to the host too deep: call it outside of toString and valueOf")
	}
	if ending, ok := errors.AsType[endingError](cause); ok {
		return ending.error
	}
	return cause
}

type place struct {
	function, file string
	line, column   int
}

// stackLine matches a line of a stack, such as "    at total (cart.js:4:9)".
var stackLine = regexp.MustCompile(`^\s*at (?:(.*) \()?(.+):(\d+):(\d+)\)?$`)

// placesIn reads a stack. It skips lines without a place in a script.
func placesIn(stack string) []place {
	var places []place
	for line := range strings.Lines(stack) {
		found := stackLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if len(found) == 0 || strings.HasPrefix(found[2], ownFiles) {
			continue
		}
		at := place{function: found[1], file: found[2]}
		at.line, _ = strconv.Atoi(found[3])
		at.column, _ = strconv.Atoi(found[4])
		if strings.HasPrefix(at.function, "<") { // For example <anonymous>.
			at.function = ""
		}
		places = append(places, at)
	}
	return places
}

// places reads a stack. It skips unknown files, because scripts can forge stacks.
func (r *run) places(stack string) (places []place) {
	const longestStack = 64 << 10
	for _, at := range placesIn(stack[:min(len(stack), longestStack)]) {
		head := scriptHead
		if at.file != r.program.name {
			head = moduleHead
			if _, isModule := r.engine.compiled.Load(at.file); !isModule {
				continue
			}
		}
		places = append(places, at.without(head))
	}
	return places
}

// placesOfEnd returns the place where a run was ended. In a loop, the engine may only know the start of the loop's
// function, so placesOfEnd skips places at the start of the script.
func (r *run) placesOfEnd(ended *quickjs.EndedError) []place {
	for _, stack := range []string{ended.Stack, ended.Noted} {
		if places := r.places(stack); len(places) > 0 && (places[0].line > 1 || places[0].column > 1) {
			return places
		}
	}
	return nil
}

// without returns the place in a source that head precedes.
func (p place) without(head string) place {
	if p.line == 1 {
		p.column = max(1, p.column-len(head))
	}
	return p
}

// String returns the place as a line of a stack shows it.
func (p place) String() string {
	at := p.file + ":" + strconv.Itoa(p.line) + ":" + strconv.Itoa(p.column)
	if p.function == "" {
		return at
	}
	return p.function + " (" + at + ")"
}
