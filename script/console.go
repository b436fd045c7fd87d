package script

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"

	"github.com/botctx/go-sdk/internal/display"
)

// longestLine is how many bytes of what a script logs at once are kept, and mostLines how many lines of a run.
const (
	longestLine = 8 << 10
	mostLines   = 1000
)

var levels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}

// hostLog writes a line to the log: [level, text, stack].
func (r *run) hostLog(payload string) error {
	r.lines++
	if r.lines > mostLines {
		return nil
	}
	var line [3]string
	if err := json.Unmarshal([]byte(payload), &line); err != nil {
		return err
	}
	text := display.Redact(line[1])
	if len(text) > longestLine {
		text = strings.ToValidUTF8(text[:longestLine], "") + "..."
	}
	where := r.program.name
	for _, at := range r.places(line[2]) {
		where = fmt.Sprintf("%s:%d", at.file, at.line)
		break
	}
	r.engine.options.Console.Log(r.ctx, levels[line[0]], text, "script", where)
	if r.lines == mostLines {
		r.engine.options.Console.WarnContext(r.ctx, "the script logs too much: what follows is left out", "script", r.program.name)
	}
	return nil
}

// logRejected logs what failed without the script waiting for it.
func (r *run) logRejected(reports string) error {
	if reports == "[]" {
		return nil
	}
	var all []report
	if err := json.Unmarshal([]byte(reports), &all); err != nil {
		return errText
	}
	for _, one := range all {
		r.engine.options.Console.WarnContext(r.ctx, "a script did not wait for what failed",
			"script", r.program.name, "error", r.failed(r.thrown(one)))
	}
	return nil
}
