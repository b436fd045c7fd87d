package script

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/nearest"
	"github.com/botctx/go-sdk/send"
)

// nodesName is the name of files with nodes.
const nodesName = "nodes.json"

// nodesFile reads the nodes of a file.
type nodesFile struct {
	*loader

	path string
	tree string
	// lines are the offsets at which the lines of the file begin.
	lines []int
}

// loaded is a node with its place, and the places of its fields by their names in botctx.Node.
type loaded struct {
	*botctx.Node
	located

	fields map[string]located
}

// located is a value's place with its path in the file.
type located struct {
	place place
	path  string
}

// value is a JSON value. Index is its offset in the file.
type value = gjson.Result

// read reads the file, and reports whether its nodes could be read.
func (f *nodesFile) read() bool {
	text, err := fs.ReadFile(f.files, f.path)
	if err != nil {
		f.complainf(place{file: f.path}, "", "cannot be read: %v", err)
		return false
	}
	text = bytes.ToValidUTF8(bytes.TrimPrefix(text, []byte("\uFEFF")), []byte("\uFFFD"))
	f.lines = []int{0}
	for i, one := range text {
		if one == '\n' {
			f.lines = append(f.lines, i+1)
		}
	}
	if err := json.Unmarshal(text, new(json.RawMessage)); err != nil {
		f.complainf(f.placeOf(text, err), "", "is not valid JSON: %s", syntaxOf(err))
		return false
	}
	all := gjson.ParseBytes(text)
	var nodes *value
	var at string
	isObject := f.object(all, "", schema{
		"$schema": f.text(new(string)),
		"tree":    f.treeName(&f.tree),
		"nodes":   func(v value, path string) { nodes, at = &v, path },
	})
	switch {
	case nodes != nil:
		f.array(*nodes, at, f.node) // Nodes need the tree, which is read first.
	case isObject:
		f.problemf(all, "nodes", "is missing; give an array of nodes")
	}
	return nodes != nil && nodes.IsArray()
}

// endsEarly is the text of package json for a file that is cut off.
const endsEarly = "unexpected end of JSON input"

// placeOf returns the place of an error about invalid JSON.
func (f *nodesFile) placeOf(text []byte, err error) place {
	offset := len(text)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok && syntax.Error() != endsEarly {
		offset = int(syntax.Offset) - 1
	}
	return f.place(offset)
}

// syntaxOf explains an error about invalid JSON.
func syntaxOf(err error) string {
	if err.Error() == endsEarly {
		return "the file ends too early: a bracket or a quote is open"
	}
	return err.Error()
}

// place converts an offset to a place. Like compilers, it counts columns in bytes.
func (f *nodesFile) place(offset int) place {
	line, _ := slices.BinarySearch(f.lines, offset+1)
	return place{file: f.path, line: line, column: offset - f.lines[line-1] + 1}
}

// problemf records a problem of a value.
func (f *nodesFile) problemf(v value, path, format string, args ...any) {
	f.complainf(f.place(v.Index), path, format, args...)
}

// refuse records err as a problem of a value.
func (f *nodesFile) refuse(v value, path string, err error) {
	text := err.Error()
	if coded, ok := errors.AsType[*boterr.Error](err); ok {
		text = coded.Message()
		path = strings.TrimSuffix(field(path, coded.Field), ".")
	}
	f.problemf(v, path, "%s", text)
}

// schema maps each field of an object to its reader.
type schema map[string]func(v value, path string)

func (f *nodesFile) object(v value, path string, fields schema) bool {
	if !v.IsObject() {
		f.problemf(v, path, "must be an object, got %s", kindOf(v))
		return false
	}
	seen := map[string]bool{}
	for key, value := range v.ForEach {
		name, at := key.Str, field(path, key.Str)
		read, isKnown := fields[name]
		switch {
		case !isKnown:
			f.problemf(key, at, "is no field%s", perhaps(name, fields))
		case seen[name]:
			f.problemf(key, at, "is there twice: keep one")
		default:
			read(value, at)
		}
		seen[name] = true
	}
	return true
}

// perhaps suggests the field that was probably meant, or lists all fields.
func perhaps(name string, fields schema) string {
	names := slices.Sorted(maps.Keys(fields))
	if near := nearest.To(name, names); near != "" {
		return fmt.Sprintf(": did you mean %q?", near)
	}
	return ": there are " + strings.Join(names, ", ")
}

func (f *nodesFile) array(v value, path string, read func(v value, path string)) {
	if !v.IsArray() {
		f.problemf(v, path, "must be an array, got %s", kindOf(v))
		return
	}
	i := 0
	for _, item := range v.ForEach {
		read(item, path+boterr.Index(i))
		i++
	}
}

// oneOrMany reads a single value or an array.
func (f *nodesFile) oneOrMany(v value, path string, read func(v value, path string)) {
	if v.IsArray() {
		f.array(v, path, read)
		return
	}
	read(v, path)
}

// text returns a reader that stores a non-empty string in into.
func (f *nodesFile) text(into *string) func(v value, path string) {
	return func(v value, path string) {
		switch {
		case v.Type != gjson.String:
			f.problemf(v, path, "must be a text, got %s", kindOf(v))
		case v.Str == "":
			f.problemf(v, path, "is empty: give a text, or leave the field out")
		default:
			*into = v.Str
		}
	}
}

// boolean returns a reader that stores a boolean in into.
func (f *nodesFile) boolean(into *bool) func(v value, path string) {
	return func(v value, path string) {
		if !v.IsBool() {
			f.problemf(v, path, "must be true or false, got %s", kindOf(v))
			return
		}
		*into = v.Bool()
	}
}

// whole returns a reader that stores a whole number in into.
func (f *nodesFile) whole(into *int) func(v value, path string) {
	return func(v value, path string) {
		if v.Type != gjson.Number {
			f.problemf(v, path, "must be a number, got %s", kindOf(v))
			return
		}
		whole, err := strconv.Atoi(v.Raw)
		if err != nil {
			f.problemf(v, path, "must be a whole number, got %s", v.Raw)
			return
		}
		*into = whole
	}
}

func kindOf(v value) string {
	switch {
	case v.Type == gjson.String:
		return "a text"
	case v.IsBool():
		return "a boolean"
	case v.Type == gjson.Number:
		return "a number"
	case v.IsObject():
		return "an object"
	case v.IsArray():
		return "an array"
	default:
		return "null"
	}
}

// isEmpty reports whether an object or an array has no elements.
func isEmpty(v value) bool {
	for range v.ForEach {
		return false
	}
	return true
}

// field appends the name of a field to the path of an object.
func field(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (f *nodesFile) node(v value, path string) {
	n := loaded{&botctx.Node{Tree: f.tree}, located{f.place(v.Index), path}, map[string]located{}}
	noting := func(field string, read func(v value, path string)) func(v value, path string) {
		return func(v value, path string) {
			n.fields[field] = located{f.place(v.Index), path}
			read(v, path)
		}
	}
	isObject := f.object(v, path, schema{
		"compositeId":   noting("ID", f.text(&n.ID)),
		"tree":          f.treeName(&n.Tree),
		"parent":        noting("Parent", f.text(&n.Parent)),
		"trigger":       noting("Trigger", f.trigger(&n.Trigger)),
		"priority":      f.whole(&n.Priority),
		"global":        noting("Global", f.global(&n.Global)),
		"preActions":    f.actions(&n.Pre),
		"responses":     noting("Responses", f.responses(&n.Responses)),
		"postActions":   f.actions(&n.Post),
		"redirect":      noting("Redirect", f.redirect(&n.Redirect)),
		"savesPosition": f.boolean(&n.SavesPosition),
		"schedules":     noting("Schedules", f.refs(&n.Schedules)),
		"entry":         f.boolean(&n.Entry),
		"description":   f.text(new(string)),
	})
	if _, isNamed := n.fields["ID"]; isObject && !isNamed {
		f.problemf(v, field(path, "compositeId"), "is missing; give every node an id, by which others name it")
	}
	f.nodes = append(f.nodes, n)
}

// treeName returns a reader for the name of a tree, which may be "".
func (f *nodesFile) treeName(into *string) func(v value, path string) {
	return func(v value, path string) {
		if v.Type == gjson.String && v.Str == "" {
			*into = ""
			return
		}
		f.text(into)(v, path)
	}
}

// global returns a reader for the field global.
func (f *nodesFile) global(into *botctx.Global) func(v value, path string) {
	return func(v value, path string) {
		switch v.Raw {
		case `"tree"`:
			*into = botctx.GlobalInTree
		case `"channel"`:
			*into = botctx.GlobalInChannel
		case "false":
		default:
			f.problemf(v, path, `must be "tree" or "channel", where the node answers wherever the conversation stands, got %s`, v.Raw)
		}
	}
}

// responses returns a reader for responses: objects as sendResponse takes them. {{path}} in them is filled.
func (f *nodesFile) responses(into *[]send.Response) func(v value, path string) {
	return func(v value, path string) {
		f.array(v, path, func(v value, path string) {
			if !v.IsObject() {
				f.problemf(v, path, `must be an object such as {"type": "TEXT", "text": "Hello {{firstName}}"}, got %s`, kindOf(v))
				return
			}
			var response send.Response
			err := document.DecodeJSON([]byte(v.Raw), &response)
			if err == nil {
				err = response.Validate()
			}
			if err != nil {
				f.refuse(v, path, err)
				return
			}
			*into = append(*into, response)
		})
	}
}

// refs returns a reader for references to nodes: an id, or an object with an id and a tree.
func (f *nodesFile) refs(into *[]botctx.NodeRef) func(v value, path string) {
	return func(v value, path string) {
		f.array(v, path, func(v value, path string) {
			var ref botctx.NodeRef
			if v.IsObject() {
				f.object(v, path, schema{"compositeId": f.text(&ref.CompositeID), "tree": f.text(&ref.Tree)})
			} else {
				f.text(&ref.CompositeID)(v, path)
			}
			*into = append(*into, ref)
		})
	}
}

// among returns a reader for the nodes among which a script chooses.
func (f *nodesFile) among(into *[]botctx.NodeRef) func(v value, path string) {
	return func(v value, path string) {
		if v.IsArray() && isEmpty(v) {
			f.problemf(v, path, "is empty: list the nodes among which the script chooses, or remove among")
		}
		f.refs(into)(v, path)
	}
}

// trigger returns a reader for a trigger: the file of a script, or an object with conditions.
func (f *nodesFile) trigger(into *botctx.Trigger) func(v value, path string) {
	return func(v value, path string) {
		if !v.IsObject() {
			if program := f.script(v, path); program != nil {
				*into = program.Trigger()
			}
			return
		}
		var found []botctx.Trigger
		add := func(read botctx.Trigger) {
			if read != nil {
				found = append(found, read)
			}
		}
		f.object(v, path, schema{
			"text": func(v value, path string) {
				if texts := f.texts(v, path); len(texts) > 0 {
					add(botctx.TextIs(texts...))
				}
			},
			"payload": func(v value, path string) {
				if payloads := f.texts(v, path); len(payloads) > 0 {
					add(botctx.PayloadIs(payloads...))
				}
			},
			"matches": func(v value, path string) { add(f.pattern(v, path)) },
			"any":     func(v value, path string) { add(f.any(v, path)) },
		})
		switch {
		case isEmpty(v):
			f.problemf(v, path, "is empty: say what matches, as text, matches, payload or any, or leave the trigger out")
		case len(found) == 1:
			*into = found[0]
		case len(found) > 1:
			*into = botctx.AnyOf(found...)
		}
	}
}

// texts reads one string or several.
func (f *nodesFile) texts(v value, path string) (texts []string) {
	if v.IsArray() && isEmpty(v) {
		f.problemf(v, path, "is empty: give a text, or several")
	}
	f.oneOrMany(v, path, func(v value, path string) {
		var text string
		f.text(&text)(v, path)
		texts = append(texts, text)
	})
	return texts
}

// pattern reads the regular expression for texts.
func (f *nodesFile) pattern(v value, path string) botctx.Trigger {
	var text string
	f.text(&text)(v, path)
	if text == "" {
		return nil
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		f.problemf(v, path, "is no pattern of Go's package regexp: %v; a script can use those of JavaScript", err)
		return nil
	}
	return botctx.TextMatches(pattern)
}

// any reads "text" or "event", which match every text or every event.
func (f *nodesFile) any(v value, path string) botctx.Trigger {
	switch v.Raw {
	case `"text"`:
		return botctx.AnyText()
	case `"event"`:
		return botctx.AnyEvent()
	default:
		f.problemf(v, path, `must be "text" or "event", got %s`, v.Raw)
		return nil
	}
}

// redirect returns a reader for a redirect: the id of a node, an object as redirectMemberToNode takes it, or a script file
// with its possible targets.
func (f *nodesFile) redirect(into *botctx.Redirector) func(v value, path string) {
	return func(v value, path string) {
		var to botctx.Redirect
		if !v.IsObject() {
			f.text(&to.NodeCompositeID)(v, path)
			*into = to.Always()
			return
		}
		var decide botctx.RedirectFunc
		var among []botctx.NodeRef
		f.object(v, path, schema{
			"nodeCompositeId": f.text(&to.NodeCompositeID),
			"treeId":          f.text(&to.TreeID),
			"redirectOptions": f.options(&to.Options),
			"meta":            f.meta(&to.Meta),
			"script": func(v value, path string) {
				decide = nowhere // Its targets are checked, even if the script cannot be used.
				if program := f.script(v, path); program != nil {
					decide = program.Redirect()
				}
			},
			"among": f.among(&among),
		})
		switch isFixed := to.NodeCompositeID != ""; {
		case isFixed && decide != nil:
			f.problemf(v, path, "has a nodeCompositeId and a script: give one of them")
		case isFixed && among != nil:
			f.problemf(v, path, "has nodes among which a script chooses, and no script: give it, or remove among")
		case isFixed:
			*into = to.Always()
		case decide == nil:
			f.problemf(v, path, "leads nowhere: give a nodeCompositeId, or the file of a script that decides as script")
		case to.TreeID != "" || to.Options != botctx.RedirectOptions{} || to.Meta.Len() > 0:
			f.problemf(v, path, "has a script and treeId, redirectOptions or meta: the script returns them with the id")
		case among != nil:
			*into = decide.Among(among...)
		default:
			*into = decide
		}
	}
}

// nowhere ends the run.
func nowhere(context.Context, *botctx.Context) (*botctx.Redirect, error) { return nil, nil } //nolint:nilnil // It has no target.

func (f *nodesFile) options(into *botctx.RedirectOptions) func(v value, path string) {
	part := func(into **bool) func(v value, path string) {
		return func(v value, path string) {
			*into = new(bool)
			f.boolean(*into)(v, path)
		}
	}
	return func(v value, path string) {
		f.object(v, path, schema{
			"runPreAction":  part(&into.RunPreAction),
			"sendResponse":  part(&into.SendResponse),
			"runPostAction": part(&into.RunPostAction),
		})
	}
}

// meta returns a reader for an object with any fields.
func (f *nodesFile) meta(into *document.Object) func(v value, path string) {
	return func(v value, path string) {
		if !v.IsObject() {
			f.problemf(v, path, "must be an object, got %s", kindOf(v))
			return
		}
		if err := document.DecodeJSON([]byte(v.Raw), into); err != nil {
			f.refuse(v, path, err)
		}
	}
}

// extensions are the extensions of files with scripts.
var extensions = []string{".js", ".mjs", ".cjs", ".ts"}

// actions returns a reader for one script file or several.
func (f *nodesFile) actions(into *[]botctx.Action) func(v value, path string) {
	return func(v value, path string) {
		f.oneOrMany(v, path, func(v value, path string) {
			if program := f.script(v, path); program != nil {
				*into = append(*into, program.Action())
			}
		})
	}
}

// script compiles the script in a file, once for all places that name it, and returns it, or nil if it cannot be used.
func (f *nodesFile) script(v value, at string) *Program {
	var name string
	f.text(&name)(v, at)
	if name == "" {
		return nil
	}
	file := path.Join(path.Dir(f.path), name)
	switch {
	case !slices.Contains(extensions, path.Ext(name)):
		f.problemf(v, at, "must be the file of a script, whose name ends in .js, got %q", name)
		return nil
	case path.IsAbs(name) || !fs.ValidPath(file):
		f.problemf(v, at, "%q is not in the folder of the bot: name it from where %s stands", name, f.path)
		return nil
	}
	if program, isKnown := f.programs[file]; isKnown {
		return program
	}
	f.programs[file] = nil
	source, err := fs.ReadFile(f.files, file)
	if err != nil {
		f.problemf(v, at, "%s", f.unreadable(file, err))
		return nil
	}
	program, err := f.engine.Compile(file, string(source))
	if err != nil {
		failed, isFailed := errors.AsType[*Error](err)
		if !isFailed {
			failed = &Error{File: file, Err: err}
		}
		f.problems = append(f.problems, failed)
	}
	f.programs[file] = program
	return program
}

// unreadable explains why a script cannot be read, and suggests a similar file if there is one. Paths are relative
// to the folder of the nodes file, as they are written there.
func (f *nodesFile) unreadable(file string, err error) string {
	written := f.relative(file)
	if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Sprintf("%q cannot be read: %v", written, err)
	}
	byName := map[string]string{}
	_ = walk(f.files, func(other string, _ fs.DirEntry) error { // Files that walk cannot read are not suggested.
		byName[path.Base(other)] = other
		return nil
	})
	if near := nearest.To(path.Base(file), slices.Sorted(maps.Keys(byName))); near != "" {
		return fmt.Sprintf("%q is not there: did you mean %q?", written, f.relative(byName[near]))
	}
	return fmt.Sprintf("%q is not there: write the script, or take its name out", written)
}

// relative returns the name of a file relative to the folder of the nodes file.
func (f *nodesFile) relative(file string) string {
	name, err := filepath.Rel(path.Dir(f.path), file)
	if err != nil {
		return file
	}
	return filepath.ToSlash(name)
}
