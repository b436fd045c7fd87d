package nodefile

import (
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// Node is a node as a file has it.
type Node struct {
	// Base is the node without what is a script.
	Base botctx.Node
	// Trigger is the script of the trigger, nil where Base has one or none. So it is with Redirect.
	Trigger *Script
	// Pre and Post are the scripts of the actions.
	Pre, Post []Script
	// Redirect is the script of the redirect, and Among where it may lead, nil where that is not known.
	Redirect *Script
	Among    []botctx.NodeRef

	// place is where the node stands, places where its fields do, by their names in botctx.Node.
	place  Place
	path   string
	places map[string]located
}

// Script names a file with a script.
type Script struct {
	// File is its path in the folder.
	File string
	// Place and Field are where it is named.
	Place Place
	Field string
}

// located is a field with its path in the file.
type located struct {
	place Place
	path  string
}

// Problem returns an error of botctx about the node as a problem of the file.
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

// node reads a node.
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
		f.complainf(v.place, field(path, "compositeId"), "is missing: give every node an id, by which others name it")
	}
	f.nodes = append(f.nodes, n)
}

// treeName returns how the name of a tree is read; "" is one.
func (f *file) treeName(into *string) func(v value, path string) {
	return func(v value, path string) {
		if v.scalar == "" {
			*into = ""
			return
		}
		f.text(into)(v, path)
	}
}

// global returns how it is read where a node is global.
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

// responses returns how responses are read: objects as those of sendResponse, in which {{path}} is filled.
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

// refs returns how names of nodes are read: an id, or an object with an id and a tree.
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
