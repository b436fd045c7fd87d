// Package modules finds and reads the files that scripts require, as Node.js does for CommonJS.
package modules

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// Empty is the file that Find returns if a package replaces a module by nothing, with false in the
// field browser of its package.json. Read returns no source for it.
const Empty = "/empty"

// longestName is the number of bytes of the longest name of a module. No file system has longer ones
// in practice.
const longestName = 1024

// Files are the modules of a file system. What was found and read is remembered, up to some
// megabytes. Failures are not: a file that is added later is found.
//
// Files are safe for concurrent use.
type Files struct {
	fsys fs.FS
	// found are files, by the folder and the name by which scripts asked for them.
	found cache[string]
	// manifests are by their folder, and sources by their file.
	manifests cache[*manifest]
	sources   cache[Module]
}

// New returns the modules of a file system, whose root has the folder node_modules. If fsys is nil,
// there are none.
func New(fsys fs.FS) *Files {
	return &Files{
		fsys:      fsys,
		found:     cache[string]{limit: 4 << 20},
		manifests: cache[*manifest]{limit: 16 << 20},
		sources:   cache[Module]{limit: 64 << 20},
	}
}

// Find returns the file that a name means to require in a file of a folder, see Read. Files and
// folders are paths of the file system; "/" begins a name at its root.
//
// Find resolves names as Node.js does, with these differences:
//   - The conditions of exports and imports are "require", "browser" and "default", see conditions.
//   - The field browser of a package.json is respected if it is an object, as bundlers do.
//   - Names without an extension mean files with .cjs, too.
//   - Packages may provide modules that are built into Node.js. There are no others.
//   - Links are followed by the file system alone.
//
// The error is NotFound if there is no such module, and InvalidArgument if the name, or a
// package.json on the way, is malformed.
func (f *Files) Find(folder, name string) (file string, err error) {
	switch {
	case name == "":
		return "", boterr.Invalid("", "the name of a module must not be empty")
	case len(name) > longestName:
		return "", boterr.Invalid("", "the name of a module has %d bytes; the limit is %d", len(name), longestName)
	case strings.ContainsRune(name, 0):
		return "", boterr.Invalid("", "the name of the module %q has a NUL character", name)
	case f.fsys == nil:
		return "", boterr.New(boterr.NotFound, "", "there is no module %q: the host gives none, see Options.Modules", name)
	}
	folder = fromRoot(folder)
	key := folder + "\x00" + name
	if file, ok := f.found.load(key); ok {
		return file, nil
	}
	if file, err = f.find(folder, name); err != nil {
		return "", err
	}
	f.found.store(key, file, len(file))
	return file, nil
}

// find is Find for a name that was not asked for yet.
func (f *Files) find(folder, name string) (string, error) {
	owner, err := f.owner(folder)
	if err != nil {
		return "", err
	}
	if replacement, ok := owner.browserModule(name); ok {
		return f.replaced(owner, folder, replacement)
	}
	file, err := f.resolve(folder, name)
	if err != nil {
		return "", err
	}
	if owner, err = f.owner(path.Dir(file)); err != nil {
		return "", err
	}
	if replacement, ok := owner.browserFile(file); ok {
		return f.replaced(owner, owner.folder, replacement)
	}
	return file, nil
}

// replaced returns the file that the field browser of a package gives for a module. It is not
// replaced again, so that fields which lead to each other end.
func (f *Files) replaced(owner *manifest, folder, replacement string) (string, error) {
	if replacement == Empty {
		return Empty, nil
	}
	if isPath(replacement) {
		folder = owner.folder
	}
	return f.resolve(folder, replacement)
}

// resolve returns the file that a name means, before it is replaced by another.
func (f *Files) resolve(folder, name string) (string, error) {
	switch {
	case isPath(name):
		at := path.Join(folder, name)
		if path.IsAbs(name) {
			at = fromRoot(name)
		}
		file, err := f.fileOrFolder(at, name)
		if file == "" && err == nil {
			err = boterr.New(boterr.NotFound, "", "there is no module %q in the folder %q", name, folder)
		}
		return file, err
	case strings.HasPrefix(name, "#"):
		return f.imported(folder, name)
	}
	file, err := f.fromPackages(folder, strings.TrimPrefix(name, "node:"))
	if file == "" && err == nil {
		err = noPackage(folder, name)
	}
	return file, err
}

// noPackage is the error for a name that no package has.
func noPackage(folder, name string) error {
	bare, isBuiltIn := strings.CutPrefix(name, "node:")
	if first, _, _ := strings.Cut(bare, "/"); isBuiltIn || slices.Contains(builtIn, first) {
		return boterr.New(boterr.NotFound, "", "there is no module %q: it is built into Node.js, and scripts do not have it", name)
	}
	return boterr.New(boterr.NotFound, "", "there is no module %q in node_modules, neither of the folder %q nor of one above", name, folder)
}

// fromPackages returns the file for a name in the packages that a folder sees: its own one, and the packages
// in node_modules of it and of the folders above. It returns "" if there is none.
func (f *Files) fromPackages(folder, name string) (string, error) {
	owner, err := f.owner(folder)
	if err != nil {
		return "", err
	}
	if owner != nil && owner.exports != nil && owner.name != "" {
		if rest, ok := strings.CutPrefix(name, owner.name); ok && (rest == "" || rest[0] == '/') {
			return f.exported(owner, "."+rest)
		}
	}
	for at := folder; ; at = path.Dir(at) {
		if path.Base(at) != packages {
			file, err := f.fromFolder(path.Join(at, packages), name)
			if file != "" || err != nil {
				return file, err
			}
		}
		if at == "." {
			return "", nil
		}
	}
}

// fromFolder returns the file that a name means in a folder node_modules, "" if there is none.
func (f *Files) fromFolder(folder, name string) (string, error) {
	if !f.isFolder(folder) {
		return "", nil
	}
	if pkg, subpath := splitName(name); pkg != "" {
		manifest, err := f.manifest(path.Join(folder, pkg))
		if err != nil {
			return "", err
		}
		if manifest != nil && manifest.exports != nil {
			return f.exported(manifest, "."+subpath)
		}
	}
	return f.fileOrFolder(path.Join(folder, name), name)
}

// splitName splits "name/subpath" or "@scope/name/subpath" into the name of the package and the rest,
// which begins with a slash or is empty. The name is empty if it can be none of a package.
func splitName(name string) (pkg, rest string) {
	from := 0
	if strings.HasPrefix(name, "@") {
		if from = strings.IndexByte(name, '/') + 1; from < len("@s/") {
			return "", ""
		}
	}
	end := len(name)
	if slash := strings.IndexByte(name[from:], '/'); slash >= 0 {
		end = from + slash
	}
	if end == from || name[from] == '.' || strings.ContainsAny(name[:end], `\%`) {
		return "", ""
	}
	return name[:end], name[end:]
}

// isPath reports whether a name is a path rather than a package's.
func isPath(name string) bool {
	return path.IsAbs(name) || name == "." || name == ".." || strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../")
}

// meansFolder reports whether a name means only a folder, as "lib/" does.
func meansFolder(name string) bool {
	last := name[strings.LastIndexByte(name, '/')+1:]
	return last == "" || last == "." || last == ".."
}

// fromRoot returns a path as the file system names it: what leads above the root stays there.
func fromRoot(name string) string {
	if clean := path.Clean("/" + name); clean != "/" {
		return clean[1:]
	}
	return "."
}

// builtIn are the modules of Node.js that packages require most, by the first part of their names.
var builtIn = []string{
	"assert", "async_hooks", "buffer", "child_process", "cluster", "console", "constants", "crypto", "dgram",
	"diagnostics_channel", "dns", "domain", "events", "fs", "http", "http2", "https", "inspector", "module", "net", "os",
	"path", "perf_hooks", "process", "punycode", "querystring", "readline", "repl", "sqlite", "stream", "string_decoder",
	"sys", "test", "timers", "tls", "trace_events", "tty", "url", "util", "v8", "vm", "wasi", "worker_threads", "zlib",
}
