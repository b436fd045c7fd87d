package modules

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// conditions are the supported conditions of exports and imports; their order in package.json decides. Scripts have
// none of Node.js's built-in modules, so files for "browser" suit them better than files for "node".
var conditions = []string{"require", "browser", "default"}

// target is the value that exports or imports has for a name.
type target struct {
	kind targetKind
	// file is set if kind is found. text is set if kind is malformed: the target as written.
	file, text string
}

type targetKind int

const (
	// absent means that no condition matches. Another target may be tried.
	absent targetKind = iota
	// refused means that the package has null for the name. Nothing else is tried.
	refused
	// malformed means that the target leads out of the package or is not a string. Later targets of a list may be
	// valid.
	malformed
	found
)

// exported returns the file that a package exports as subpath: ".", or a path that starts with "./".
func (f *Files) exported(owner *manifest, subpath string) (string, error) {
	s := search{files: f, owner: owner, field: "exports", name: subpath}
	table, isTable := owner.exports.(document.Object)
	paths := 0
	for key := range table.All() {
		if strings.HasPrefix(key, ".") {
			paths++
		}
	}
	switch {
	case paths > 0 && paths < table.Len():
		return "", boterr.Invalid("", "the exports of the package %q mix subpaths with conditions", owner.label())
	case paths > 0:
		return s.inTable(table)
	case subpath == "." && (!isTable || table.Len() > 0):
		return s.finish(s.target(owner.exports, nil))
	default:
		return s.finish(target{}, nil)
	}
}

// imported returns the file for a name that starts with #, in the package of a folder.
func (f *Files) imported(folder, name string) (string, error) {
	if name == "#" || strings.HasPrefix(name, "#/") || strings.HasSuffix(name, "/") {
		return "", boterr.Invalid("", "%q is not the name of a module: # needs a name after it", name)
	}
	owner, err := f.owner(folder)
	if err != nil {
		return "", err
	}
	if owner == nil {
		return "", boterr.New(boterr.NotFound, "", "there is no module %q: the folder %q has no package.json with imports", name, folder)
	}
	table, _ := owner.imports.(document.Object)
	return search{files: f, owner: owner, field: "imports", name: name}.inTable(table)
}

// search looks up a name in the field exports or imports of a package.
type search struct {
	files *Files
	owner *manifest
	field string
	name  string
}

// inTable returns the file that an object has for the name: under the name itself, or under the most specific pattern
// with a *.
func (s search) inTable(table document.Object) (string, error) {
	if value, ok := table.Field(s.name); ok && !strings.Contains(s.name, "*") && !strings.HasSuffix(s.name, "/") {
		return s.finish(s.target(value, nil))
	}
	best, bestStar := "", -1
	for key := range table.All() {
		star := strings.IndexByte(key, '*')
		isMatch := star >= 0 && star == strings.LastIndexByte(key, '*') && len(s.name) >= len(key) &&
			strings.HasPrefix(s.name, key[:star]) && strings.HasSuffix(s.name, key[star+1:])
		if isMatch && (star > bestStar || star == bestStar && len(key) > len(best)) {
			best, bestStar = key, star
		}
	}
	if bestStar < 0 {
		return s.finish(target{}, nil)
	}
	part := s.name[bestStar : len(s.name)-(len(best)-bestStar-1)]
	return s.finish(s.target(table.Value(best), &part))
}

// finish returns the file of a target. It fails unless the file exists.
func (s search) finish(t target, err error) (string, error) {
	switch {
	case err != nil:
		return "", err
	case t.kind == malformed:
		return "", boterr.Invalid("", "the package %q has a malformed target for %q in the %s of its package.json: %s",
			s.owner.label(), s.name, s.field, t.text)
	case t.kind != found:
		return "", boterr.New(boterr.NotFound, "", "the package %q has no %q among the %s of its package.json",
			s.owner.label(), s.name, s.field)
	case !s.files.isFile(t.file):
		return "", boterr.New(boterr.NotFound, "", "the package %q maps %q to %q in the %s of its package.json, but there is no such file",
			s.owner.label(), s.name, t.file, s.field)
	}
	return t.file, nil
}

// target returns the target for a value in package.json: a string, conditions, or a list whose first well-formed
// target counts. part replaces each * of a string, unless it is nil.
func (s search) target(value any, part *string) (target, error) {
	switch value := value.(type) {
	case nil:
		return target{kind: refused}, nil
	case string:
		return s.path(value, part)
	case document.Object:
		return s.conditional(value, part)
	case document.Array:
		return s.first(value, part)
	default:
		return target{kind: malformed, text: "neither a text nor conditions"}, nil
	}
}

// conditional returns the target of the first matching condition that has one. It skips ES modules for browsers,
// because some of these packages have CommonJS under a later condition.
func (s search) conditional(values document.Object, part *string) (target, error) {
	for condition, value := range values.All() {
		if !slices.Contains(conditions, condition) {
			continue
		}
		t, err := s.target(value, part)
		if err != nil {
			return target{}, err
		}
		if condition == "browser" && t.kind == found {
			isES, err := s.files.isES(t.file)
			if err != nil {
				return target{}, err
			}
			if isES {
				continue
			}
		}
		if t.kind != absent {
			return t, nil
		}
	}
	return target{}, nil
}

// first returns the first target of a list that is a file. If there is none, it returns the last target.
func (s search) first(values document.Array, part *string) (target, error) {
	last := target{}
	if values.Len() == 0 {
		last.kind = refused
	}
	for _, value := range values.All() {
		t, err := s.target(value, part)
		if err != nil || t.kind == found {
			return t, err
		}
		if t.kind != absent {
			last = t
		}
	}
	return last, nil
}

// path returns the target for a string: a path within the package or, in imports, the name of another package.
func (s search) path(text string, part *string) (target, error) {
	bad := target{kind: malformed, text: text}
	inside, isInside := strings.CutPrefix(text, "./")
	isName := s.field == "imports" && !isInside && !isPath(text)
	switch {
	case len(text) > longestName, !isInside && !isName, isInside && leavesFolder(inside):
		return bad, nil
	case part != nil && isInside && leavesFolder(*part):
		return target{}, boterr.Invalid("", "%q is not the name of a module: . and .. and node_modules cannot be parts of it", s.name)
	case part != nil:
		text = strings.ReplaceAll(text, "*", *part)
	}
	if isInside {
		if strings.HasSuffix(text, "/") {
			return target{kind: found, file: text}, nil // The path of a folder is never a file.
		}
		return target{kind: found, file: path.Join(s.owner.folder, text)}, nil
	}
	file, err := s.files.fromPackages(s.owner.folder, strings.TrimPrefix(text, "node:"))
	if file == "" && err == nil {
		err = noPackage(s.owner.folder, text)
	}
	return target{kind: found, file: file}, err
}

// leavesFolder reports whether a path leads out of its folder, or into other packages.
func leavesFolder(name string) bool {
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == '\\' }) {
		if plain, err := url.PathUnescape(part); err == nil {
			part = plain
		}
		if part == "." || part == ".." || strings.EqualFold(part, packages) {
			return true
		}
	}
	return false
}
