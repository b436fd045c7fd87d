package script

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/script/internal/quickjs"
)

// Program is a compiled script. It is safe for concurrent use.
type Program struct {
	engine   *Engine
	name     string
	bytecode []byte
	source   string
	// helpers are the modules of the helpers that the script mentions.
	helpers []string
}

// Name returns the name that was passed to Compile.
func (p *Program) Name() string { return p.name }

// longestSource bounds the bytes of a script.
const longestSource = 256 << 10

// Compile compiles a script: the body of an async function with the context as `this`. Its top level may use return
// and await. name is the file name for errors. If the script does not compile, the error is an *Error that wraps
// InvalidArgument.
func (e *Engine) Compile(name, source string) (*Program, error) {
	if len(source) > longestSource {
		return nil, &Error{File: name, Err: boterr.Invalid("", "is longer than %d bytes: put parts of it into modules", longestSource)}
	}
	source = strings.TrimPrefix(source, "\uFEFF")
	if strings.HasPrefix(source, "#!") { // the first line of an executable file
		source = "//" + source[2:]
	}
	_ = e.slots.Take(context.Background(), fair.Key{}) // Compiling takes a slot, like a run. This context does not end.
	defer e.slots.Release(fair.Key{})
	// The second argument detects a source that closes the function and opens another one.
	if _, err := e.compile(name, checkHead, checkHead+source+checkFoot); err != nil {
		return nil, err
	}
	head := scriptHead
	if !strings.Contains(source, "await") {
		head = plainHead // Without await, the function need not be async.
	}
	bytecode, err := e.compile(name, scriptHead, head+source+foot)
	if err != nil {
		return nil, err
	}
	return &Program{engine: e, name: name, bytecode: bytecode, source: source, helpers: e.helpersIn(source)}, nil
}

// The heads of the functions around each source. They are on the first line of the source, so that line numbers stay
// the same. plainHead has the same length as scriptHead, so that columns stay the same, too.
const (
	scriptHead = "(async function () {"
	plainHead  = "(      function () {"
	checkHead  = "({ async f() {"
	moduleHead = "(function (exports, require, module, __filename, __dirname) {"
	foot       = "\n})"
	checkFoot  = "\n} })"
)

// longestRead is the time limit for compiling a script.
const longestRead = 2 * time.Second

// compile returns the bytecode of a text that starts with head. The instance that compiles runs no part of the text.
func (e *Engine) compile(name, head, text string) ([]byte, error) {
	base, err := e.preparedWith(nil)
	if err != nil {
		return nil, err
	}
	busy := longestLoad
	if head == scriptHead || head == checkHead {
		busy = longestRead
	}
	in, err := base.Take(context.Background(), quickjs.Run{Busy: busy, Clock: e.options.clock()})
	if err != nil {
		return nil, err
	}
	defer in.Release()
	bytecode, err := in.Compile(name, text)
	if err != nil {
		return nil, unreadable(name, head, err)
	}
	return bytecode, nil
}

// unreadable returns the error for a source that does not compile.
func unreadable(name, head string, err error) *Error {
	failed := &Error{File: name, Err: boterr.Invalid("", "%w", err)}
	if errors.Is(err, quickjs.ErrBusy) {
		failed.Err = boterr.Invalid("", "takes too long to parse: simplify it")
	}
	if thrown, ok := errors.AsType[*quickjs.ThrownError](err); ok {
		text := strings.TrimPrefix(strings.TrimSpace(thrown.Text), "SyntaxError: ")
		if text == stackIsFull {
			text = "is nested too deep: brackets, functions or operators"
		}
		failed.Err = boterr.Invalid("", "%s", text)
		for _, at := range placesIn(thrown.Stack) {
			if at.file == name {
				at = at.without(head)
				failed.Line, failed.Column = at.line, at.column
				break
			}
		}
	}
	return failed
}

// word matches names in a source.
var word = regexp.MustCompile(`[\p{L}_$][\p{L}\p{N}_$]*`)

// helpersIn returns the sorted modules of the helpers that a source mentions.
func (e *Engine) helpersIn(source string) []string {
	var found []string
	for _, name := range word.FindAllString(source, -1) {
		if module, isHelper := e.options.Helpers[name]; isHelper {
			found = append(found, module)
		}
		for part := range parts {
			if slices.Contains(parts[part].names, name) {
				found = append(found, ownFiles+part)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// take returns an instance for a run, with the mentioned helpers loaded. If they cannot be loaded, the script gets
// the error when it uses them.
func (p *Program) take(ctx context.Context, run quickjs.Run) (*prepared, *quickjs.Instance, error) {
	ready, err := p.engine.preparedWith(p.helpers) //nolint:contextcheck // It outlives the run.
	if err != nil {
		ready, err = p.engine.preparedWith(nil) //nolint:contextcheck // As above.
	}
	if err != nil {
		return nil, nil, err
	}
	in, err := ready.Take(ctx, run)
	return ready, in, err
}

// hostFind returns the file of a required module: [folder, name].
func (r *run) hostFind(asked [2]string) (any, error) {
	return r.engine.modules.Find(asked[0], asked[1])
}

// compiled is the bytecode of a module, or the error of a module that does not compile.
type compiled struct {
	bytecode []byte
	err      error
}

// hostLoad passes the function of a module to the prelude and returns null. For a JSON file it returns the text.
func (r *run) hostLoad(file string) (any, error) {
	if _, isCompiled := r.engine.compiled.Load(file); isCompiled {
		return nil, r.handOver(file, "", "")
	}
	module, err := r.engine.modules.Read(file)
	if err != nil || module.IsJSON {
		return module.Source, err
	}
	return nil, r.handOver(file, moduleHead, moduleHead+module.Source+foot)
}

// hostPart passes the function of a part of the prelude to the prelude.
func (r *run) hostPart(name string) (any, error) {
	return nil, r.handOver(ownFiles+name, "", parts[name].source)
}

// handOver passes the function in a file to the prelude without running it. At the first time it compiles text.
func (r *run) handOver(file, head, text string) error {
	known, isCompiled := r.engine.compiled.Load(file)
	if !isCompiled {
		bytecode, err := r.engine.compile(file, head, text)
		if _, isUnreadable := errors.AsType[*Error](err); err != nil && !isUnreadable {
			return err
		}
		known = compiled{bytecode, err}
		r.engine.compiled.Store(file, known)
	}
	module := known.(compiled) //nolint:forcetypeassert // Nothing else is stored.
	if module.err != nil {
		return module.err
	}
	body, err := r.in.Load(module.bytecode)
	if err == nil {
		_, err = r.in.Call(r.prepared.take, body)
	}
	if err != nil {
		return endingError{err}
	}
	return nil
}

// Action returns the script as an action of a node.
func (p *Program) Action() botctx.Action {
	return func(ctx context.Context, bot *botctx.Context) error {
		_, err := p.run(ctx, bot, wantNothing)
		return err
	}
}

// Trigger returns the script as a trigger of a node, which matches if the script returns a truthy value.
func (p *Program) Trigger() botctx.Trigger { return trigger{p} }

// trigger is a script that decides whether its node answers.
type trigger struct{ program *Program }

// Matches runs the script.
func (t trigger) Matches(ctx context.Context, bot *botctx.Context) (bool, error) {
	value, err := t.program.run(ctx, bot, wantTruth)
	isTrue, _ := value.(bool)
	return isTrue, err
}

// String returns the name of the script.
func (t trigger) String() string { return t.program.name }

var _ botctx.Trigger = trigger{}

// Redirect returns the script as the redirect of a node. The script returns the target: the id of a node, or an
// object with the parameters nodeCompositeId, treeId, redirectOptions and meta of redirectMemberToNode. If it
// returns nothing, null or false, the run ends. Any other result is an *Error that wraps InvalidArgument.
func (p *Program) Redirect() botctx.RedirectFunc {
	return func(ctx context.Context, bot *botctx.Context) (*botctx.Redirect, error) {
		value, err := p.Run(ctx, bot)
		if err != nil {
			return nil, err
		}
		redirect, err := redirectOf(value)
		if err != nil {
			return nil, &Error{File: p.name, Err: err}
		}
		return redirect, nil
	}
}

// redirectOf reads the result of a redirect script.
func redirectOf(value any) (*botctx.Redirect, error) {
	switch v := value.(type) {
	case string:
		if v == "" {
			return nil, nil //nolint:nilnil // The run ends.
		}
		return &botctx.Redirect{NodeCompositeID: v}, nil
	case document.Object:
		var params botctx.RedirectMemberToNodeParams
		if err := document.Decode(v, &params); err != nil {
			return nil, boterr.PrefixField("result", err)
		}
		if params.NodeCompositeID == "" {
			return nil, boterr.Missing("result.nodeCompositeId", "the id of a node")
		}
		return &botctx.Redirect{
			NodeCompositeID: params.NodeCompositeID, TreeID: params.TreeID, Options: params.RedirectOptions, Meta: params.Meta,
		}, nil
	}
	if isTrue, isBool := value.(bool); value != nil && (isTrue || !isBool) {
		return nil, boterr.Invalid("result", "must be the id of a node, an object with nodeCompositeId, or nothing")
	}
	return nil, nil //nolint:nilnil // The run ends.
}
