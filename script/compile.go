package script

import (
	"errors"
	"strings"
	"time"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/parser"
	"github.com/evanw/esbuild/pkg/api"

	"github.com/botctx/go-sdk/boterr"
)

// Program is a script that was compiled. It is safe for concurrent use.
type Program struct {
	engine *Engine
	name   string
	code   *code
	// helpers are the modules of the helpers that it names.
	helpers []string
}

// compiler compiles sources, and knows what they may need.
type compiler struct {
	needs []need
	// guards are the indexes of the guards that a name needs which is put together.
	guards map[string][]int
	// patience is how long reading a source may take.
	patience time.Duration
}

func newCompiler() *compiler {
	needs := allNeeds()
	return &compiler{needs: needs, guards: guardsByName(needs), patience: longestCompile}
}

// code is JavaScript that was compiled: that of one expression, which is a function.
type code struct {
	program *goja.Program
	// needs are the parts of the global scope that it needs, and uses what it says.
	needs []int
	uses  uses
}

// Compile reads a script: the body of an async function over `this`, in which return and await may
// stand. name is that of its file, for errors. What the engine below lacks of the language is put in
// other words first.
//
// A script that cannot be read is an *Error with InvalidArgument behind it.
func (e *Engine) Compile(name, source string) (*Program, error) {
	if len(source) > longestSource {
		return nil, &Error{File: name, Err: boterr.Invalid("", "is longer than %d bytes: put parts of it into modules", longestSource)}
	}
	e.slots.take() // Reading computes, as a run does.
	defer e.slots.leave()
	compiled, err := e.compileFunction(name, scriptHead, source)
	if err != nil {
		return nil, err
	}
	return &Program{engine: e, name: name, code: compiled, helpers: e.helpersIn(compiled.uses)}, nil
}

const (
	// longestSource is how many bytes a script may have, and a module that has to be put in plainer words.
	longestSource = 256 << 10
	// longestModule is how many bytes a module may have.
	longestModule = 768 << 10
	// longestCompile is how long it may take to read a source.
	longestCompile = 30 * time.Second
)

// Name returns the name that was given to Compile.
func (p *Program) Name() string { return p.name }

// The heads of the functions that sources become the bodies of. They stand on the source's first
// line, so that lines keep their numbers.
const (
	scriptHead = "(async function () {"
	moduleHead = "(function (exports, require, module, __filename, __dirname) {"
	foot       = "\n})"
)

// compileFunction compiles a source as the body of a function. Reading it is bounded: by what the source may be,
// so that the stack of the process is large enough, and by time. Who reads what takes longer is left behind, and
// ends by itself.
func (c *compiler) compileFunction(name, head, source string) (*code, error) {
	if err := checkSource(source); err != nil {
		return nil, &Error{File: name, Err: err}
	}
	type outcome struct {
		code *code
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		compiled, err := c.read(name, head, source)
		done <- outcome{compiled, err}
	}()
	late := time.NewTimer(c.patience)
	defer late.Stop()
	select {
	case out := <-done:
		return out.code, out.err
	case <-late.C:
		return nil, &Error{File: name, Err: boterr.Invalid("", "takes longer than %v to be read: make it simpler", c.patience)}
	}
}

// checkSource refuses what cannot be read within the stack of the process.
func checkSource(source string) error {
	if len(source) > longestModule {
		return boterr.Invalid("", "is longer than %d bytes: make several modules of it", longestModule)
	}
	if err := checkBrackets(source); err != nil {
		return err
	}
	return checkChains(source)
}

// read compiles a source, in other words where it has to be.
func (c *compiler) read(name, head, source string) (*code, error) {
	if strings.HasPrefix(source, "#!") { // As a file begins that is run by itself.
		source = "//" + source[2:]
	}
	text := head + source + foot
	compiled, failed := c.compileText(name, text, parser.WithDisableSourceMaps)
	if failed == nil {
		return compiled, nil
	}
	if errors.Is(failed, errTooDeep) {
		return nil, &Error{File: name, Err: errTooDeep}
	}
	if _, isPlaced := errors.AsType[*placedError](failed); isPlaced {
		return nil, syntaxError(name, head, failed)
	}
	if len(source) > longestSource {
		return nil, syntaxError(name, head, failed)
	}
	if err := checkCommas(source); err != nil {
		return nil, &Error{File: name, Err: err}
	}
	plainer, err := inPlainerWords(name, head, text)
	if err != nil {
		return nil, err
	}
	if compiled, err = c.compileText(name, plainer, parser.WithSourceMapLoader(noSourceMaps)); errors.Is(err, errTooDeep) {
		return nil, &Error{File: name, Err: errTooDeep}
	} else if err != nil {
		if _, isPlaced := errors.AsType[*placedError](err); isPlaced {
			failed = err
		}
		return nil, syntaxError(name, head, failed)
	}
	return compiled, nil
}

// mostBrackets is how many brackets may be open at once. Those in texts and comments count as well.
const mostBrackets = 1000

// checkBrackets refuses what is nested so deep that reading it takes more of the stack than there is.
func checkBrackets(source string) error {
	open := 0
	for i := range len(source) {
		switch source[i] {
		case '(', '[', '{':
			open++
		case ')', ']', '}':
			open = max(0, open-1)
		}
		if open > mostBrackets {
			return boterr.Invalid("", "has more than %d brackets open at once", mostBrackets)
		}
	}
	return checkSigns(source)
}

// checkSigns refuses rows of signs such as !!!, which nest as brackets do. Those in texts and comments
// count as well.
func checkSigns(source string) error {
	signs := 0
	for i := range len(source) {
		switch source[i] {
		case '!', '~', '+', '-':
			signs++
		case ' ', '\t', '\r', '\n':
		default:
			signs = 0
		}
		if signs > mostBrackets {
			return boterr.Invalid("", "has more than %d signs in a row", mostBrackets)
		}
	}
	return nil
}

// syntaxError returns the error of a source that goja cannot read, with its place.
func syntaxError(name, head string, err error) *Error {
	failed := &Error{File: name, Err: boterr.Invalid("", "%w", err)}
	var at file.Position
	if list, ok := errors.AsType[parser.ErrorList](err); ok && len(list) > 0 {
		at, failed.Err = list[0].Position, boterr.Invalid("", "%s", list[0].Message)
	}
	if compiling, ok := errors.AsType[*goja.CompilerSyntaxError](err); ok && compiling.File != nil {
		at, failed.Err = compiling.File.Position(compiling.Offset), boterr.Invalid("", "%s", compiling.Message)
	}
	if found, ok := errors.AsType[*placedError](err); ok {
		at, failed.Err = found.at, found.cause
	}
	at.Filename = name
	at = placed(name, head, at)
	failed.Line, failed.Column = at.Line, at.Column
	return failed
}

// compileText compiles what is to be one function.
func (c *compiler) compileText(name, text string, sourceMaps parser.Option) (compiled *code, err error) {
	defer func() { // The parser panics at some of what it cannot read, such as \u{...} beside others.
		if cause := recover(); cause != nil {
			compiled, err = nil, boterr.Recovered(cause)
		}
	}()
	parsed, err := parser.ParseFile(nil, name, text, 0, sourceMaps)
	if err != nil {
		return nil, err
	}
	function := onlyFunction(parsed)
	if function == nil {
		return nil, errors.New("the brackets of the script are not its own: one closes more than was opened")
	}
	used, err := guardSyntax(parsed)
	if found, isPlaced := errors.AsType[*placedError](err); isPlaced {
		found.at = parsed.File.Position(int(found.idx) - 1)
	}
	if err != nil {
		return nil, err
	}
	// A promise costs about as much as all else of a small script: what awaits nothing makes none.
	function.Async = function.Async && used.awaits
	program, err := goja.CompileAST(parsed, false)
	if err != nil {
		return nil, err
	}
	return &code{program: program, needs: c.needsOf(used), uses: used}, nil
}

// noSourceMaps reads no maps: scripts name no files of the host. Those within the text are read.
func noSourceMaps(string) ([]byte, error) {
	return nil, errors.New("source maps are read from the text alone")
}

// onlyFunction returns the function that a program is, in brackets, before which nothing stands but the
// variables that plainer words need. It is nil where a program is anything else.
func onlyFunction(parsed *ast.Program) *ast.FunctionLiteral {
	last := len(parsed.Body) - 1
	if last < 0 {
		return nil
	}
	for _, before := range parsed.Body[:last] {
		if _, isVariable := before.(*ast.VariableStatement); !isVariable {
			return nil
		}
	}
	statement, isExpression := parsed.Body[last].(*ast.ExpressionStatement)
	if !isExpression {
		return nil
	}
	function, _ := statement.Expression.(*ast.FunctionLiteral)
	return function
}

// inPlainerWords says what goja cannot read in what it can. What cannot be read at all is an error
// with its place.
func inPlainerWords(name, head, text string) (string, error) {
	result := api.Transform(text, api.TransformOptions{
		Loader:         api.LoaderJS,
		Target:         api.ES2022,
		Supported:      map[string]bool{"async-generator": false, "for-await": false, "using": false},
		Sourcemap:      api.SourceMapInline,
		SourcesContent: api.SourcesContentExclude,
		Sourcefile:     name,
		LogLevel:       api.LogLevelSilent,
		Charset:        api.CharsetUTF8, // Characters, where escapes would not be read.
	})
	if len(result.Errors) == 0 {
		return string(result.Code), nil
	}
	first := result.Errors[0]
	failed := &Error{File: name, Err: boterr.Invalid("", "%s", first.Text)}
	if first.Location != nil {
		at := placed(name, head, file.Position{Filename: name, Line: first.Location.Line, Column: first.Location.Column + 1})
		failed.Line, failed.Column = at.Line, at.Column
	}
	return "", failed
}

// placed is a position in the source, of one in the text that a head was put before.
func placed(name, head string, at file.Position) file.Position {
	if at.Filename == name && at.Line == 1 {
		at.Column = max(1, at.Column-len(head))
	}
	return at
}
