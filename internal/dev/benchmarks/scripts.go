package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/dop251/goja"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/script"
	"github.com/botctx/go-sdk/send"
)

// packagesFolder has moment and lodash, from the folder of this program, in which it is run.
var packagesFolder = filepath.Join("..", "..", "..", "script", "testdata", "npm")

// scriptRow is a script that both engines run.
type scriptRow struct {
	title, source string
	// needsPackages is true if the script uses moment or lodash.
	needsPackages bool
	// per is how many pieces of work the row's time is divided by, 0 for one.
	per float64
	// less is a script whose time is taken off.
	less string
}

// awaiting is a script that waits for operations, one after the other.
const awaiting = "let found = 0\nfor (let i = 0; i < %d; i++) {\n" +
	"  const { _id } = await this.getChannel({ channelId: this.channel._id })\n  if (_id === this.channel._id) found++\n}\nreturn found"

// The numbers of operations whose difference is the cost of more of them.
const fewOperations, manyOperations = 10, 20

var scriptRows = []scriptRow{
	{title: "nothing", source: "return"},
	{title: "a trigger reads the message", source: "return this.messageEvent.data.text === 'menu'"},
	{
		title: "one field of the member is read", source: "return this.member.firstName",
	},
	{
		title: "the member is changed",
		source: "this.member.meta.visits = ((this.member.meta.visits ?? 0) + 1) % 10\n" +
			"this.member.botMeta.tempData.choice = this.member.firstName.toLowerCase()",
	},
	{
		title: "one more operation is awaited", per: manyOperations - fewOperations,
		source: fmt.Sprintf(awaiting, manyOperations), less: fmt.Sprintf(awaiting, fewOperations),
	},
	{
		title: "20,000 numbers are sorted by a comparator",
		source: "const all = []\nfor (let i = 0, x = 1; i < 20000; i++) all.push(x = x * 48271 % 2147483647)\n" +
			"all.sort((a, b) => a - b)\nreturn [all[0], all[19999]]",
	},
	{
		title: "JSON of 1 MB is written, read and written",
		source: "const rows = []\nfor (let i = 0; i < 10000; i++) {\n" +
			"  rows.push({ id: i, name: 'place ' + i, area: 'north', price: i % 20, tags: ['a', 'b'], rating: i / 10, taken: false })\n}\n" +
			"const text = JSON.stringify(rows)\n" +
			"return [text.length, JSON.stringify(JSON.parse(text)) === text]",
	},
	{
		title: "100,000 entries of a Map",
		source: "const all = new Map()\nfor (let i = 0; i < 100000; i++) all.set('key' + i % 50000, i)\n" +
			"let sum = 0\nfor (const [key, value] of all) if (all.has(key)) sum += value\nreturn [all.size, sum]",
	},
	{
		title: "a pattern in 300 kB of text",
		source: "const text = 'Ada of 12 North Street writes to ada.l@example.org on 2024-05-17 about tea. '.repeat(4000)\n" +
			`const mails = text.match(/[\w.]+@[\w.]+\.(?:com|org)/g).length` + "\n" +
			`return [mails, text.replace(/(\d{4})-(\d{2})-(\d{2})/g, '$3.$2.$1').length]`,
	},
	{
		title: "lodash: 5,000 rows grouped, summed and merged", needsPackages: true,
		source: "const _ = this.lodash, rows = _.range(5000).map((i) => ({ id: i, area: 'area' + i % 50, price: i % 20, at: { x: i } }))\n" +
			"const groups = _.mapValues(_.groupBy(rows, 'area'), (all) => _.sumBy(all, 'price'))\n" +
			"const merged = _.reduce(rows, (sum, row) => _.merge(sum, { [row.area]: { at: row.at, last: { id: row.id } } }), {})\n" +
			"return [groups.area7, _.size(merged), merged.area7.last.id]",
	},
	{
		title: "moment: 1,000 dates are moved and formatted", needsPackages: true,
		source: "const { moment } = this, all = []\n" +
			"for (let i = 0; i < 1000; i++) all.push(moment.utc(i * 1e8).add(1, 'month').format('dddd, D MMMM YYYY, HH:mm'))\n" +
			"return [all[7], all[999]]",
	},
}

// mostBusy is beyond what any of the scripts computes, on a busy machine too.
const mostBusy = time.Minute

type scriptStage struct {
	platform *fakes.Platform
	ada      *fakes.Actor
	ours     *script.Engine
	goja     *gojaEngine
	// hasPackages is true if moment and lodash are there.
	hasPackages bool
}

func newScriptStage() (*scriptStage, error) {
	engine, err := script.New(script.Options{Modules: os.DirFS(packagesFolder), MaxBusy: mostBusy})
	if err != nil {
		return nil, err
	}
	platform := fakes.New()
	_, missing := os.Stat(filepath.Join(packagesFolder, "node_modules", "moment", "moment.js"))
	return &scriptStage{
		platform: platform, ada: platform.AddMember(member.Member{FirstName: "Ada", Meta: document.O("visits", 0)}), ours: engine,
		goja: &gojaEngine{}, hasPackages: !errors.Is(missing, fs.ErrNotExist),
	}, nil
}

// runner runs a script once.
type runner func(ctx context.Context, bot *botctx.Context) (any, error)

// runners compile a script for both engines.
func (s *scriptStage) runners(source string) ([]runner, error) {
	ours, err := s.ours.Compile("bench.js", source)
	if err != nil {
		return nil, err
	}
	gojas, err := s.goja.compile(source)
	if err != nil {
		return nil, err
	}
	return []runner{ours.Run, gojas.run}, nil
}

func (s *scriptStage) bot() *botctx.Context {
	bot := s.ada.Context()
	bot.MessageEvent = &send.MessageEvent{From: s.ada.ExternalID(), Type: send.TypeText, Data: document.O("text", "what is there?")}
	return bot
}

// answers returns what both engines return for a script, as JSON.
//
//nolint:contextcheck // What is compiled and made before takes no context.
func (s *scriptStage) answers(ctx context.Context, source string) (answers []string, err error) {
	runners, err := s.runners(source)
	if err != nil {
		return nil, err
	}
	for _, run := range runners {
		value, err := run(ctx, s.bot())
		if err != nil {
			return nil, err
		}
		text, err := document.AppendJSON(nil, value)
		if err != nil {
			return nil, err
		}
		answers = append(answers, string(text))
	}
	return answers, nil
}

// compare measures a row with both engines by turns.
//
//nolint:contextcheck // As for answers.
func (s *scriptStage) compare(ctx context.Context, row scriptRow, of settings) (ours, gojas timing, err error) {
	sources := []string{row.source}
	if row.less != "" {
		sources = append(sources, row.less)
	}
	var turns []*turn
	for _, source := range sources {
		answers, err := s.answers(ctx, source)
		if err != nil {
			return 0, 0, err
		}
		if answers[0] != answers[1] {
			return 0, 0, fmt.Errorf("it is %s, and with goja %s", answers[0], answers[1])
		}
		runners, err := s.runners(source)
		if err != nil {
			return 0, 0, err
		}
		for _, run := range runners {
			bot := s.bot()
			turns = append(turns, &turn{do: func(int) error {
				_, err := run(ctx, bot)
				return err
			}})
		}
	}
	timings, err := medians(turns, of)
	if err != nil {
		return 0, 0, err
	}
	ours, gojas = timings[0], timings[1]
	if row.less != "" {
		ours, gojas = ours-timings[2], gojas-timings[3]
	}
	if row.per != 0 {
		ours, gojas = ours/timing(row.per), gojas/timing(row.per)
	}
	return ours, gojas, nil
}

// printScripts prints what scripts cost beside goja, embedded as its documentation shows it: a script is compiled once,
// and each run has a Runtime of its own.
//
//nolint:contextcheck // As for answers.
func printScripts(ctx context.Context, out *strings.Builder, of settings) error {
	stage, err := newScriptStage()
	if err != nil {
		return err
	}
	if !stage.hasPackages {
		fmt.Fprintf(out, "The rows of lodash and moment are left out: run npm ci --ignore-scripts in %s.\n\n", packagesFolder)
	}
	fmt.Fprint(out, "| a script | time | goja | of goja |\n|---|---|---|---|\n")
	for _, row := range scriptRows {
		if row.needsPackages && !stage.hasPackages {
			continue
		}
		ours, gojas, err := stage.compare(ctx, row, of)
		if err != nil {
			return fmt.Errorf("%s: %w", row.title, err)
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s |\n", row.title, ours, gojas, shortNumber(float64(ours/gojas)))
	}
	return stage.printTriggers(out, of)
}

// triggerCount is the number of nodes that a message meets.
const triggerCount = 100

// printTriggers prints what a message costs that meets many nodes, none of which answers.
func (s *scriptStage) printTriggers(out *strings.Builder, of settings) error {
	talkers := []*fakes.Actor{}
	for _, engine := range []int{0, 1} {
		platform := fakes.New()
		var nodes []*botctx.Node
		for i := range triggerCount {
			runners, err := s.runners(fmt.Sprintf("return this.messageEvent.data.text === 'choice %d'", i))
			if err != nil {
				return err
			}
			nodes = append(nodes, &botctx.Node{ID: fmt.Sprint("node", i), Trigger: triggerOf(runners[engine])})
		}
		platform.Handle(nodes...)
		talkers = append(talkers, platform.AddMember(member.Member{FirstName: "Ada"}))
	}
	var turns []*turn
	for _, talker := range talkers {
		turns = append(turns, &turn{do: func(int) error { return talker.TrySays("what is there?") }})
	}
	timings, err := medians(turns, of)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "| a message meets %d triggers | %s | %s | %s |\n", triggerCount, timings[0], timings[1],
		shortNumber(float64(timings[0]/timings[1])))
	return nil
}

func triggerOf(run runner) botctx.Trigger {
	return botctx.TriggerFunc(func(ctx context.Context, bot *botctx.Context) (bool, error) {
		value, err := run(ctx, bot)
		matches, _ := value.(bool)
		return matches, err
	})
}

// gojaEngine runs scripts in goja as its users embed it: what is compiled is kept, and each run has a Runtime. It has no
// limits, and nothing that a script needs beside the language.
type gojaEngine struct {
	// modules are the *goja.Program of the modules that were compiled.
	modules sync.Map
}

type gojaScript struct {
	engine  *gojaEngine
	program *goja.Program
}

func (e *gojaEngine) compile(source string) (*gojaScript, error) {
	program, err := goja.Compile("bench.js", "(async function () {"+source+"\n})", false)
	return &gojaScript{engine: e, program: program}, err
}

// gojaModules are the files of the modules on `this`.
var gojaModules = map[string]string{
	"lodash": filepath.Join("node_modules", "lodash", "lodash.js"),
	"moment": filepath.Join("node_modules", "moment", "moment.js"),
}

// gojaOperation is the operation that scripts call.
const gojaOperation = "getChannel"

// run runs the script on a context, in a Runtime of its own.
func (s *gojaScript) run(ctx context.Context, bot *botctx.Context) (any, error) {
	r := &gojaRun{engine: s.engine, vm: goja.New(), ctx: ctx, bot: bot}
	value, err := r.vm.RunProgram(s.program)
	if err != nil {
		return nil, err
	}
	function, _ := goja.AssertFunction(value)
	this := r.vm.NewObject()
	r.provide(this, "member", func() (any, error) { return document.Encode(bot.Member) })
	r.provide(this, "channel", func() (any, error) { return document.Encode(bot.Channel) })
	r.provide(this, "messageEvent", func() (any, error) { return document.Encode(bot.MessageEvent) })
	for name := range gojaModules {
		r.lazily(this, name, func() (goja.Value, error) { return r.require(name) })
	}
	_ = this.Set(gojaOperation, func(call goja.FunctionCall) goja.Value { return r.operation(gojaOperation, call.Argument(0)) })
	returned, err := function(this)
	if err != nil {
		return nil, err
	}
	// Every operation has settled its promise at once, so nothing is left to wait for.
	promise, _ := returned.Export().(*goja.Promise)
	switch promise.State() {
	case goja.PromiseStateFulfilled:
		if err := r.keepMember(); err != nil {
			return nil, err
		}
		return document.ValueOf(promise.Result().Export())
	case goja.PromiseStateRejected:
		return nil, fmt.Errorf("the script threw %s", promise.Result())
	case goja.PromiseStatePending:
	}
	return nil, errors.New("the script waits for something that nobody settles")
}

type gojaRun struct {
	engine *gojaEngine
	vm     *goja.Runtime
	//nolint:containedctx // Functions of scripts have no ctx.
	ctx context.Context
	bot *botctx.Context
	// member is the member as the script has it, nil if it did not ask for it.
	member goja.Value
}

// lazily adds a property that is made when a script first asks for it.
func (r *gojaRun) lazily(this *goja.Object, name string, value func() (goja.Value, error)) {
	var made goja.Value
	_ = this.DefineAccessorProperty(name, r.vm.ToValue(func(goja.FunctionCall) goja.Value {
		if made == nil {
			var err error
			if made, err = value(); err != nil {
				panic(r.vm.NewGoError(err))
			}
		}
		return made
	}), nil, goja.FLAG_TRUE, goja.FLAG_TRUE)
}

// provide adds a record.
func (r *gojaRun) provide(this *goja.Object, name string, read func() (any, error)) {
	r.lazily(this, name, func() (goja.Value, error) {
		record, err := read()
		if err != nil {
			return nil, err
		}
		if o, isObject := record.(document.Object); isObject && name == "member" {
			botMeta := document.Get(o, "botMeta", document.O())
			record = o.Put("botMeta", botMeta.Put("tempData", document.Get(botMeta, "tempData", document.O())))
		}
		made := r.toScript(record)
		if name == "member" {
			r.member = made
		}
		return made, nil
	})
}

// keepMember puts the member into the context.
func (r *gojaRun) keepMember() error {
	if r.member == nil {
		return nil
	}
	changed, err := document.ValueOf(r.member.Export())
	if err != nil {
		return err
	}
	return document.DecodeValue(changed, r.bot.Member)
}

// toScript returns a value as scripts see it: plain objects and arrays of their own, and dates.
func (r *gojaRun) toScript(value any) goja.Value {
	switch v := value.(type) {
	case nil:
		return goja.Null()
	case time.Time:
		made, err := r.vm.New(r.vm.Get("Date"), r.vm.ToValue(v.UnixMilli()))
		if err != nil {
			panic(err)
		}
		return made
	case document.Array:
		items := make([]any, 0, v.Len())
		for _, item := range v.All() {
			items = append(items, r.toScript(item))
		}
		return r.vm.NewArray(items...)
	case document.Object:
		made := r.vm.NewObject()
		for name, value := range v.All() {
			_ = made.Set(name, r.toScript(value))
		}
		return made
	default:
		return r.vm.ToValue(value)
	}
}

// operation calls an operation, and returns the promise of its result.
func (r *gojaRun) operation(name string, argument goja.Value) goja.Value {
	promise, resolve, reject := r.vm.NewPromise()
	params, err := document.ValueOf(argument.Export())
	if err != nil {
		_ = reject(r.vm.NewGoError(err))
		return r.vm.ToValue(promise)
	}
	given, _ := params.(document.Object)
	result, err := r.bot.CallValue(r.ctx, name, given)
	if err != nil {
		_ = reject(r.vm.NewGoError(err))
	} else {
		_ = resolve(r.toScript(result))
	}
	return r.vm.ToValue(promise)
}

func (r *gojaRun) require(name string) (goja.Value, error) {
	program, isCompiled := r.engine.modules.Load(name)
	if !isCompiled {
		source, err := os.ReadFile(filepath.Join(packagesFolder, gojaModules[name])) //nolint:gosec // The name is one of gojaModules.
		if err != nil {
			return nil, err
		}
		compiled, err := goja.Compile(name, "(function (exports, module) {"+string(source)+"\n})", false)
		if err != nil {
			return nil, err
		}
		program, _ = r.engine.modules.LoadOrStore(name, compiled)
	}
	value, err := r.vm.RunProgram(program.(*goja.Program)) //nolint:forcetypeassert // Nothing else is stored.
	if err != nil {
		return nil, err
	}
	body, _ := goja.AssertFunction(value)
	module, exports := r.vm.NewObject(), r.vm.NewObject()
	_ = module.Set("exports", exports)
	if _, err := body(goja.Undefined(), exports, module); err != nil {
		return nil, err
	}
	return module.Get("exports"), nil
}
