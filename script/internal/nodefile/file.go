package nodefile

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Name is the name of the files with nodes.
const Name = "nodes.json"

// file is a file that is read.
type file struct {
	reader

	path  string
	tree  string
	nodes []Node
}

// Folder is what the files with nodes of a folder say.
type Folder struct {
	// Nodes are those of each nodes.json in the folder and in the folders in it, those above first.
	Nodes []Node
	// Problems are all that is wrong with them.
	Problems []Problem
	// HasAllIDs tells that the ids of all nodes are known, so that what names another one can be checked.
	HasAllIDs bool
}

// Read reads a folder. Folders whose names begin with a dot, and node_modules, are left out.
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
		f.array(*nodes, at, f.node) // When the tree is known.
	case isObject:
		f.complainf(all.place, "nodes", "is missing: give an array of nodes")
	}
	return nodes != nil && nodes.isArray
}

// find returns the files with nodes.
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

// folderOf returns the folder of a file, "" for the one above all.
func folderOf(name string) string {
	folder, _ := path.Split(name)
	return folder
}

// Walk visits the files that may belong to a bot.
func Walk(fsys fs.FS, visit func(path string, entry fs.DirEntry) error) error {
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
