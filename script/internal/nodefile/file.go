// Package nodefile reads the nodes of a bot from every nodes.json in a folder. It records the place of each value, so
// that errors can name their lines.
package nodefile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/nearest"
)

// Name is the name of files with nodes.
const Name = "nodes.json"

type file struct {
	reader

	path  string
	tree  string
	nodes []Node
}

// Folder is the content of all nodes files in a folder.
type Folder struct {
	// Nodes are the nodes of each nodes.json in the folder and its subfolders, parent folders first.
	Nodes []Node
	// Problems are all errors in the files.
	Problems []Problem
	// HasAllIDs is true if the ids of all nodes could be read, so that references can be checked.
	HasAllIDs bool
}

// Read reads a folder and its subfolders. It skips node_modules, and folders whose names start with a dot.
func Read(fsys fs.FS) Folder {
	paths, problems := find(fsys)
	if len(paths) == 0 && len(problems) == 0 {
		problems = append(problems, Problem{Place: Place{File: Name}, Text: "is not there: the nodes of a bot stand in files of this name"})
	}
	all := Folder{Problems: problems, HasAllIDs: len(problems) == 0}
	for _, path := range paths {
		read := &file{path: path}
		isRead := read.read(fsys)
		all.Nodes = append(all.Nodes, read.nodes...)
		all.Problems = append(all.Problems, read.problems...)
		all.HasAllIDs = all.HasAllIDs && isRead && !slices.ContainsFunc(read.nodes, func(n Node) bool { return n.Base.ID == "" })
	}
	return all
}

// read reads the file, and reports whether its nodes could be read.
func (f *file) read(fsys fs.FS) bool {
	text, err := fs.ReadFile(fsys, f.path)
	if err != nil {
		f.complainf(Place{File: f.path}, "", "cannot be read: %v", err)
		return false
	}
	all, problem := parse(f.path, text)
	if problem != nil {
		f.problems = append(f.problems, *problem)
		return false
	}
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
		f.complainf(all.place, "nodes", "is missing; give an array of nodes")
	}
	return nodes != nil && nodes.isArray
}

// find returns the paths of all nodes files.
func find(fsys fs.FS) (paths []string, problems []Problem) {
	err := Walk(fsys, func(name string, _ fs.DirEntry) error {
		if path.Base(name) == Name {
			paths = append(paths, name)
		}
		return nil
	})
	if err != nil {
		problems = append(problems, Problem{Place: Place{File: "."}, Text: "cannot be read: " + err.Error()})
	}
	slices.SortStableFunc(paths, func(a, b string) int { return cmp.Compare(folderOf(a), folderOf(b)) })
	return paths, problems
}

// folderOf returns the folder of a file, or "" for the root.
func folderOf(name string) string {
	folder, _ := path.Split(name)
	return folder
}

// Walk calls visit for the files that may belong to a bot.
func Walk(fsys fs.FS, visit func(path string, entry fs.DirEntry) error) error {
	if fsys == nil {
		return boterr.Missing("", "the folder of the bot")
	}
	return fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		return visit(name, entry)
	})
}

// reader reads values, and collects their problems.
type reader struct {
	problems []Problem
}

// complainf records a problem at a place.
func (r *reader) complainf(at Place, path, format string, args ...any) {
	r.problems = append(r.problems, Problem{Place: at, Field: path, Text: fmt.Sprintf(format, args...)})
}

// refuse records err as a problem of a value.
func (r *reader) refuse(v value, path string, err error) {
	text := err.Error()
	if coded, ok := errors.AsType[*boterr.Error](err); ok {
		text = coded.Message()
		path = field(path, coded.Field)
		if coded.Field == "" {
			path = strings.TrimSuffix(path, ".")
		}
	}
	r.complainf(v.place, path, "%s", text)
}

// schema maps each field of an object to its reader.
type schema map[string]func(v value, path string)

func (r *reader) object(v value, path string, fields schema) bool {
	if !v.isObject {
		r.complainf(v.place, path, "must be an object, got %s", v.kind())
		return false
	}
	seen := map[string]bool{}
	for _, member := range v.members {
		read, isKnown := fields[member.name]
		switch {
		case !isKnown:
			r.complainf(member.place, field(path, member.name), "is no field%s", perhaps(member.name, fields))
		case seen[member.name]:
			r.complainf(member.place, field(path, member.name), "is there twice: keep one")
		default:
			read(member.value, field(path, member.name))
		}
		seen[member.name] = true
	}
	return true
}

// perhaps suggests the field that was probably meant, or lists all fields.
func perhaps(name string, fields schema) string {
	names := make([]string, 0, len(fields))
	for known := range fields {
		names = append(names, known)
	}
	slices.Sort(names)
	if near := nearest.To(name, names); near != "" {
		return fmt.Sprintf(": did you mean %q?", near)
	}
	return ": there are " + strings.Join(names, ", ")
}

func (r *reader) array(v value, path string, read func(v value, path string)) {
	if !v.isArray {
		r.complainf(v.place, path, "must be an array, got %s", v.kind())
		return
	}
	for i, item := range v.items {
		read(item, path+boterr.Index(i))
	}
}

// oneOrMany returns a reader for a single value or an array.
func (r *reader) oneOrMany(v value, path string, read func(v value, path string)) {
	if v.isArray {
		r.array(v, path, read)
		return
	}
	read(v, path)
}

// text returns a reader that stores a non-empty string in into.
func (r *reader) text(into *string) func(v value, path string) {
	return func(v value, path string) {
		text, ok := v.scalar.(string)
		switch {
		case !ok:
			r.complainf(v.place, path, "must be a text, got %s", v.kind())
		case text == "":
			r.complainf(v.place, path, "is empty: give a text, or leave the field out")
		default:
			*into = text
		}
	}
}

// boolean returns a reader that stores a boolean in into.
func (r *reader) boolean(into *bool) func(v value, path string) {
	return func(v value, path string) {
		truth, ok := v.scalar.(bool)
		if !ok {
			r.complainf(v.place, path, "must be true or false, got %s", v.kind())
			return
		}
		*into = truth
	}
}

// whole returns a reader that stores a whole number in into.
func (r *reader) whole(into *int) func(v value, path string) {
	return func(v value, path string) {
		number, ok := v.scalar.(json.Number)
		if !ok {
			r.complainf(v.place, path, "must be a number, got %s", v.kind())
			return
		}
		whole, err := number.Int64()
		if err != nil || whole != int64(int(whole)) {
			r.complainf(v.place, path, "must be a whole number, got %s", number)
			return
		}
		*into = int(whole)
	}
}

// Problem is an error in a bot's folder.
type Problem struct {
	// Place is the file, line and column of the faulty value.
	Place Place
	// Field is the path of the field in the file, such as "nodes[2].preActions[0]", or "" for the file itself.
	Field string
	// Text states the problem and the remedy.
	Text string
}

// String returns the place, the field and the text.
func (p Problem) String() string {
	if p.Field == "" {
		return fmt.Sprintf("%s: %s", p.Place, p.Text)
	}
	return fmt.Sprintf("%s: %s: %s", p.Place, p.Field, p.Text)
}

// field appends the name of a field to the path of an object.
func field(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
