package nodefile

import (
	"io/fs"
	"path"
	"strings"
)

// extensions are those of files with scripts.
var extensions = []string{".js", ".mjs", ".cjs", ".ts"}

// scripts returns how the files of scripts are read: one, or several.
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

// script returns how the name of a file with a script is read.
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

// isScript reports whether a file is one with a script.
func isScript(name string) bool {
	for _, extension := range extensions {
		if strings.HasSuffix(name, extension) {
			return true
		}
	}
	return false
}
