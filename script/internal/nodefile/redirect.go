package nodefile

import (
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
)

// redirect reads a redirect: the id of a node, an object as that of redirectMemberToNode, or the file of a
// script with the nodes to which it may lead.
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
		"among":           f.refs(&n.Among),
	})
	switch isFixed := to.NodeCompositeID != ""; {
	case isFixed && n.Redirect != nil:
		f.complainf(v.place, path, "has a nodeCompositeId and a script: give one of them")
	case isFixed && n.Among != nil:
		f.complainf(v.place, path, "has nodes among which a script chooses, and no script: give it, or take among away")
	case isFixed:
		n.Base.Redirect = to.Always()
	case n.Redirect == nil:
		f.complainf(v.place, path, "leads nowhere: give a nodeCompositeId, or the file of a script that decides as script")
	}
}

// options returns how the options of a redirect are read.
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

// meta returns how an object of any fields is read.
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
