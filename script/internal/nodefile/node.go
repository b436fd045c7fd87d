package nodefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// Node is a node as described in a file.
type Node struct {
	// Base is the node without its scripts.
	Base botctx.Node
	// Trigger is the script of the trigger, or nil if the trigger is not a script.
	Trigger *Script
	// Pre and Post are the scripts of the actions before and after the responses.
	Pre, Post []Script
	// Redirect is the script of the redirect, or nil if the redirect is not a script. Among are the possible targets,
	// or nil if the file does not name them.
	Redirect *Script
	Among    []botctx.NodeRef

	// place is the place of the node. places maps the names of its fields in botctx.Node to their places.
	place  Place
	path   string
	places map[string]located
}

// Script names a file with a script.
type Script struct {
	// File is the path in the folder.
	File string
	// Place and Field are the place where the nodes file names the script.
	Place Place
	Field string
}

// located is a field with its path in the file.
type located struct {
	place Place
	path  string
}

// Problem converts an error of botctx about the node to a problem with its place in the file.
func (n Node) Problem(err error) Problem {
	p := Problem{Place: n.place, Field: n.path, Text: err.Error()}
	if coded, ok := boterr.AsError(err); ok {
		p.Text = coded.Message()
		if at, isKnown := n.places[coded.Field]; isKnown {
			p.Place, p.Field = at.place, at.path
		}
	}
	return p
}

func (f *file) node(v value, path string) {
	n := Node{place: v.place, path: path, places: map[string]located{}}
	n.Base.Tree = f.tree
	noting := func(field string, read func(v value, path string)) func(v value, path string) {
		return func(v value, path string) {
			n.places[field] = located{v.place, path}
			read(v, path)
		}
	}
	isObject := f.object(v, path, schema{
		"compositeId":   noting("ID", f.text(&n.Base.ID)),
		"tree":          f.treeName(&n.Base.Tree),
		"parent":        noting("Parent", f.text(&n.Base.Parent)),
		"trigger":       noting("Trigger", func(v value, path string) { f.trigger(&n, v, path) }),
		"priority":      f.whole(&n.Base.Priority),
		"global":        noting("Global", f.global(&n.Base.Global)),
		"preActions":    f.scripts(&n.Pre),
		"responses":     noting("Responses", f.responses(&n.Base.Responses)),
		"postActions":   f.scripts(&n.Post),
		"redirect":      noting("Redirect", func(v value, path string) { f.redirect(&n, v, path) }),
		"savesPosition": f.boolean(&n.Base.SavesPosition),
		"schedules":     noting("Schedules", f.refs(&n.Base.Schedules)),
		"entry":         f.boolean(&n.Base.Entry),
		"description":   f.text(new(string)),
	})
	if _, isNamed := n.places["ID"]; isObject && !isNamed {
		f.complainf(v.place, field(path, "compositeId"), "is missing; give every node an id, by which others name it")
	}
	f.nodes = append(f.nodes, n)
}

// treeName returns a reader for the name of a tree, which may be "".
func (f *file) treeName(into *string) func(v value, path string) {
	return func(v value, path string) {
		if v.scalar == "" {
			*into = ""
			return
		}
		f.text(into)(v, path)
	}
}

// global returns a reader for the field global.
func (f *file) global(into *botctx.Global) func(v value, path string) {
	return func(v value, path string) {
		switch v.scalar {
		case "tree":
			*into = botctx.GlobalInTree
		case "channel":
			*into = botctx.GlobalInChannel
		case false:
		default:
			f.complainf(v.place, path, `must be "tree" or "channel", where the node answers wherever the conversation stands, got %s`, v.raw)
		}
	}
}

// responses returns a reader for responses: objects as sendResponse takes them. {{path}} in them is filled.
func (f *file) responses(into *[]send.Response) func(v value, path string) {
	return func(v value, path string) {
		f.array(v, path, func(v value, path string) {
			if !v.isObject {
				f.complainf(v.place, path, `must be an object such as {"type": "TEXT", "text": "Hello {{firstName}}"}, got %s`, v.kind())
				return
			}
			var response send.Response
			err := document.DecodeJSON(v.raw, &response)
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
func (f *file) refs(into *[]botctx.NodeRef) func(v value, path string) {
	return func(v value, path string) {
		f.array(v, path, func(v value, path string) {
			var ref botctx.NodeRef
			if v.isObject {
				f.object(v, path, schema{"compositeId": f.text(&ref.CompositeID), "tree": f.text(&ref.Tree)})
			} else {
				f.text(&ref.CompositeID)(v, path)
			}
			*into = append(*into, ref)
		})
	}
}

// among returns a reader for the nodes among which a script chooses.
func (f *file) among(into *[]botctx.NodeRef) func(v value, path string) {
	return func(v value, path string) {
		if v.isArray && len(v.items) == 0 {
			f.complainf(v.place, path, "is empty: list the nodes among which the script chooses, or remove among")
		}
		f.refs(into)(v, path)
	}
}

// trigger reads a trigger: the file of a script, or an object with conditions.
func (f *file) trigger(n *Node, v value, path string) {
	if !v.isObject {
		f.script(&n.Trigger)(v, path)
		return
	}
	var found []botctx.Trigger
	add := func(read botctx.Trigger) {
		if read != nil {
			found = append(found, read)
		}
	}
	f.object(v, path, schema{
		"text":    func(v value, path string) { add(botctx.TextIs(f.texts(v, path)...)) },
		"payload": func(v value, path string) { add(botctx.PayloadIs(f.texts(v, path)...)) },
		"matches": func(v value, path string) { add(f.pattern(v, path)) },
		"any":     func(v value, path string) { add(f.any(v, path)) },
	})
	switch len(found) {
	case 0:
		if len(v.members) == 0 {
			f.complainf(v.place, path, "is empty: say what matches, as text, matches, payload or any, or leave the trigger out")
		}
	case 1:
		n.Base.Trigger = found[0]
	default:
		n.Base.Trigger = botctx.AnyOf(found...)
	}
}

// texts reads one string or several.
func (f *file) texts(v value, path string) (texts []string) {
	if v.isArray && len(v.items) == 0 {
		f.complainf(v.place, path, "is empty: give a text, or several")
	}
	f.oneOrMany(v, path, func(v value, path string) {
		var text string
		f.text(&text)(v, path)
		texts = append(texts, text)
	})
	return texts
}

// pattern reads the regular expression for texts.
func (f *file) pattern(v value, path string) botctx.Trigger {
	var text string
	f.text(&text)(v, path)
	if text == "" {
		return nil
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		f.complainf(v.place, path, "is no pattern of Go's package regexp: %v; a script can use those of JavaScript", err)
		return nil
	}
	return botctx.TextMatches(pattern)
}

// any reads "text" or "event", which match every text or every event.
func (f *file) any(v value, path string) botctx.Trigger {
	switch v.scalar {
	case "text":
		return botctx.AnyText()
	case "event":
		return botctx.AnyEvent()
	default:
		f.complainf(v.place, path, `must be "text" or "event", got %s`, v.raw)
		return nil
	}
}

// redirect reads a redirect: the id of a node, an object as redirectMemberToNode takes it, or a script file with
// its possible targets.
func (f *file) redirect(n *Node, v value, path string) {
	var to botctx.Redirect
	if !v.isObject {
		f.text(&to.NodeCompositeID)(v, path)
		n.Base.Redirect = to.Always()
		return
	}
	f.object(v, path, schema{
		"nodeCompositeId": f.text(&to.NodeCompositeID),
		"treeId":          f.text(&to.TreeID),
		"redirectOptions": f.options(&to.Options),
		"meta":            f.meta(&to.Meta),
		"script":          f.script(&n.Redirect),
		"among":           f.among(&n.Among),
	})
	switch isFixed := to.NodeCompositeID != ""; {
	case isFixed && n.Redirect != nil:
		f.complainf(v.place, path, "has a nodeCompositeId and a script: give one of them")
	case isFixed && n.Among != nil:
		f.complainf(v.place, path, "has nodes among which a script chooses, and no script: give it, or remove among")
	case isFixed:
		n.Base.Redirect = to.Always()
	case n.Redirect != nil && (to.TreeID != "" || to.Options != botctx.RedirectOptions{} || to.Meta.Len() > 0):
		f.complainf(v.place, path, "has a script and treeId, redirectOptions or meta: the script returns them with the id")
	case n.Redirect == nil:
		f.complainf(v.place, path, "leads nowhere: give a nodeCompositeId, or the file of a script that decides as script")
	}
}

func (f *file) options(into *botctx.RedirectOptions) func(v value, path string) {
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
func (f *file) meta(into *document.Object) func(v value, path string) {
	return func(v value, path string) {
		if !v.isObject {
			f.complainf(v.place, path, "must be an object, got %s", v.kind())
			return
		}
		if err := document.DecodeJSON(v.raw, into); err != nil {
			f.refuse(v, path, err)
		}
	}
}

// extensions are the extensions of files with scripts.
var extensions = []string{".js", ".mjs", ".cjs", ".ts"}

// scripts returns a reader for one script file or several.
func (f *file) scripts(into *[]Script) func(v value, path string) {
	return func(v value, path string) {
		f.oneOrMany(v, path, func(v value, path string) {
			var named *Script
			f.script(&named)(v, path)
			if named != nil {
				*into = append(*into, *named)
			}
		})
	}
}

// script returns a reader for the name of a script file.
func (f *file) script(into **Script) func(v value, path string) {
	return func(v value, at string) {
		var name string
		f.text(&name)(v, at)
		if name == "" {
			return
		}
		file := path.Join(path.Dir(f.path), name)
		switch {
		case !isScript(name):
			f.complainf(v.place, at, "must be the file of a script, whose name ends in .js, got %q", name)
		case path.IsAbs(name) || !fs.ValidPath(file):
			f.complainf(v.place, at, "%q is not in the folder of the bot: name it from where %s stands", name, f.path)
		default:
			*into = &Script{File: file, Place: v.place, Field: at}
		}
	}
}

func isScript(name string) bool {
	for _, extension := range extensions {
		if strings.HasSuffix(name, extension) {
			return true
		}
	}
	return false
}

// Place is a place in a file.
type Place struct {
	// File is the path in the folder. Line and Column start at 1; they are 0 for the file as a whole.
	File         string
	Line, Column int
}

// String returns the place in the format that editors understand, such as "nodes.json:4:7".
func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// value is a JSON value with its place.
type value struct {
	place Place
	// raw is the value as written.
	raw []byte
	// scalar is a string, a number, a boolean or null. members are an object's fields. items are an array's elements.
	scalar   any
	members  []member
	items    []value
	isObject bool
	isArray  bool
}

// member is a field of an object.
type member struct {
	name  string
	place Place
	value value
}

func (v value) kind() string {
	switch v.scalar.(type) {
	case string:
		return "a text"
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	}
	switch {
	case v.isObject:
		return "an object"
	case v.isArray:
		return "an array"
	default:
		return "null"
	}
}

// deepest limits the nesting of objects and arrays.
const deepest = 100

// parser reads a JSON file token by token, because it needs the place of each value.
type parser struct {
	file    string
	text    []byte
	decoder *json.Decoder
	depth   int
	// lines are the offsets at which the lines begin.
	lines []int
}

func parse(file string, text []byte) (value, *Problem) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	p := &parser{file: file, text: text, decoder: json.NewDecoder(bytes.NewReader(text)), lines: []int{0}}
	for i, one := range text {
		if one == '\n' {
			p.lines = append(p.lines, i+1)
		}
	}
	p.decoder.UseNumber()
	read, err := p.value()
	if err == nil {
		if _, err = p.decoder.Token(); err == nil {
			err = errors.New("there is text after the end of the object; a file must contain a single object")
		} else if errors.Is(err, io.EOF) {
			return read, nil
		}
	}
	return value{}, p.problem(err)
}

// problem converts an error about invalid JSON.
func (p *parser) problem(err error) *Problem {
	at := p.place(p.decoder.InputOffset())
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = p.place(min(syntax.Offset, int64(len(p.text))) - 1)
	}
	what := strings.TrimPrefix(err.Error(), "json: ")
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		at, what = p.place(int64(len(p.text))), "the file ends too early: a bracket or a quote is open"
	}
	return &Problem{Place: at, Text: "is not valid JSON: " + what}
}

// next returns the next token and its offset.
func (p *parser) next() (json.Token, int64, error) {
	begin := p.decoder.InputOffset()
	token, err := p.decoder.Token()
	for begin < int64(len(p.text)) && strings.IndexByte(" \t\r\n,:", p.text[begin]) >= 0 {
		begin++
	}
	return token, begin, err
}

func (p *parser) value() (value, error) {
	token, begin, err := p.next()
	if err != nil {
		return value{}, err
	}
	read := value{place: p.place(begin)}
	switch token {
	case json.Delim('{'):
		read.isObject = true
		err = p.nested(func() error { return p.member(&read) })
	case json.Delim('['):
		read.isArray = true
		err = p.nested(func() error { return p.item(&read) })
	default:
		read.scalar = token
	}
	read.raw = p.text[begin:p.decoder.InputOffset()]
	return read, err
}

// nested reads an object or array: it calls one for each item, and reads the closing bracket.
func (p *parser) nested(one func() error) error {
	p.depth++
	if p.depth > deepest {
		return fmt.Errorf("objects and arrays are nested more than %d levels deep", deepest)
	}
	defer func() { p.depth-- }()
	for p.decoder.More() {
		if err := one(); err != nil {
			return err
		}
	}
	_, err := p.decoder.Token()
	return err
}

// member reads a field of an object.
func (p *parser) member(into *value) error {
	name, begin, err := p.next()
	if err != nil {
		return err
	}
	read, err := p.value()
	key, _ := name.(string) // The decoder accepts only strings as names.
	into.members = append(into.members, member{name: key, place: p.place(begin), value: read})
	return err
}

// item reads an element of an array.
func (p *parser) item(into *value) error {
	read, err := p.value()
	into.items = append(into.items, read)
	return err
}

// place converts an offset to a place. Like compilers, it counts columns in bytes.
func (p *parser) place(offset int64) Place {
	at := int(max(0, min(offset, int64(len(p.text)))))
	line, _ := slices.BinarySearch(p.lines, at+1)
	return Place{File: p.file, Line: line, Column: at - p.lines[line-1] + 1}
}
