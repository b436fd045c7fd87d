package script

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/dop251/goja"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// longestLine is how many bytes of what a script logs at once are kept.
const longestLine = 8 << 10

// longestRead is how many bytes are looked at for what is not to be logged, more than are kept.
const longestRead = 4 * longestLine

// installConsole gives scripts console.
func (r *run) installConsole() {
	console := r.vm.NewObject()
	for name, level := range map[string]slog.Level{
		"debug": slog.LevelDebug, "trace": slog.LevelDebug, "log": slog.LevelInfo, "info": slog.LevelInfo,
		"dir": slog.LevelInfo, "table": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	} {
		_ = console.Set(name, func(call goja.FunctionCall) goja.Value {
			r.log(level, call.Arguments)
			return goja.Undefined()
		})
	}
	for _, name := range []string{"time", "timeEnd", "timeLog", "group", "groupEnd", "assert", "count"} {
		_ = console.Set(name, func(goja.FunctionCall) goja.Value { return goja.Undefined() })
	}
	r.globalValue("console", console)
}

// log writes a line to the log.
func (r *run) log(level slog.Level, values []goja.Value) {
	if !r.engine.options.Console.Enabled(r.ctx, level) {
		return
	}
	var line strings.Builder
	for i, value := range values {
		if i > 0 {
			line.WriteByte(' ')
		}
		shown := r.shown(value)
		line.WriteString(shown[:min(len(shown), longestRead)])
		if line.Len() > longestRead {
			break
		}
	}
	text := boterr.Redact(line.String())
	if len(text) > longestLine {
		text = strings.ToValidUTF8(text[:longestLine], "") + "..."
	}
	frames := r.vm.CaptureCallStack(2, nil)
	where := r.program.name
	if places := placesOf(frames); len(places) > 0 {
		at := r.placed(places[0].at)
		where = fmt.Sprintf("%s:%d", at.Filename, at.Line)
	}
	r.engine.options.Console.Log(r.ctx, level, text, "script", where)
}

// shown returns a value as console.log shows it: texts as they are, objects as JSON, errors by their
// stack.
func (r *run) shown(value goja.Value) string {
	object, isObject := value.(*goja.Object)
	if !isObject {
		return value.String()
	}
	if object.ClassName() == "Error" {
		return object.String()
	}
	plain, err := r.fromScript(value, nil)
	if err != nil || plain == document.Missing {
		return object.ClassName()
	}
	text, err := document.AppendJSON(nil, plain)
	if err != nil {
		return object.ClassName()
	}
	return string(text)
}
