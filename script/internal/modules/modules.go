// Package modules finds and reads the files that scripts require, as Node.js does for CommonJS.
package modules

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// Empty is the result of Find for a module that a package disables: the field browser of its package.json has false
// for it. Read returns an empty source for Empty.
const Empty = "/empty"

// longestName is the maximum length of module names in bytes. In practice, file systems have no longer names.
const longestName = 1024

// Files are the modules in a file system. Found files and read sources are cached, up to some megabytes. Failures are
// not cached, so files may be added later.
//
// Files are safe for concurrent use.
type Files struct {
	fsys fs.FS
	// found caches the files by folder and required name.
	found cache[string]
	// manifests are cached by folder, and sources by file.
	manifests cache[*manifest]
	sources   cache[Module]
}

// New returns the modules of a file system that has node_modules at its root. If fsys is nil, there are none.
func New(fsys fs.FS) *Files {
	return &Files{
		fsys:      fsys,
		found:     cache[string]{limit: 4 << 20},
		manifests: cache[*manifest]{limit: 16 << 20},
		sources:   cache[Module]{limit: 64 << 20},
	}
}

// Find returns the file that require(name) loads in a file of folder; pass it to Read. Files and folders are paths in
// the file system; a name that starts with "/" is relative to its root.
//
// Find resolves names as Node.js does, with these differences:
//   - The conditions of exports and imports are "require", "browser" and "default", see conditions.
//   - The field browser of a package.json is respected if it is an object, as bundlers do.
//   - Names without an extension also match .cjs files.
//   - Packages may provide Node.js's built-in modules. Others are not available.
//   - Links are resolved by the file system only.
//
// The error is NotFound if there is no such module, and InvalidArgument if the name, or a package.json that Find
// reads, is malformed.
func (f *Files) Find(folder, name string) (file string, err error) {
	switch {
	case name == "":
		return "", boterr.Invalid("", "the name of a module must not be empty")
	case len(name) > longestName:
		return "", boterr.Invalid("", "the name of a module has %d bytes; the limit is %d", len(name), longestName)
	case strings.ContainsRune(name, 0):
		return "", boterr.Invalid("", "the name of the module %q has a NUL character", name)
	case f.fsys == nil:
		return "", boterr.New(boterr.NotFound, "", "there is no module %q: the host provides no modules, see Options.Modules", name)
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

// find finds the file of a module without the cache.
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

// replaced returns the file for a replacement in a package's field browser. Replacements are not replaced again, so
// cycles end.
func (f *Files) replaced(owner *manifest, folder, replacement string) (string, error) {
	if replacement == Empty {
		return Empty, nil
	}
	if isPath(replacement) {
		folder = owner.folder
	}
	return f.resolve(folder, replacement)
}

// resolve returns the file for a name without replacements by the field browser.
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

// noPackage is the error for a name that matches no package.
func noPackage(folder, name string) error {
	bare, isBuiltIn := strings.CutPrefix(name, "node:")
	if first, _, _ := strings.Cut(bare, "/"); isBuiltIn || slices.Contains(builtIn, first) {
		return boterr.New(boterr.NotFound, "", "there is no module %q: it is built into Node.js, and scripts do not have it", name)
	}
	return boterr.New(boterr.NotFound, "", "there is no module %q in node_modules of the folder %q or of any folder above it: "+
		"install it, or correct the name", name, folder)
}

// fromPackages returns the file for a package's name: in the package of the folder itself, and in node_modules of the
// folder and of the folders above. It returns "" if there is none.
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

// fromFolder returns the file for a name in a node_modules folder, or "".
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

// splitName splits "name/subpath" or "@scope/name/subpath" into the package's name and the rest, which starts with a
// slash or is empty. The package's name is empty if it is invalid.
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

// isPath reports whether a name is a path. Otherwise it names a package.
func isPath(name string) bool {
	return path.IsAbs(name) || name == "." || name == ".." || strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../")
}

// meansFolder reports whether a name can only be a folder, such as "lib/".
func meansFolder(name string) bool {
	last := name[strings.LastIndexByte(name, '/')+1:]
	return last == "" || last == "." || last == ".."
}

// fromRoot cleans a path so that it stays below the root of the file system.
func fromRoot(name string) string {
	if clean := path.Clean("/" + name); clean != "/" {
		return clean[1:]
	}
	return "."
}

// builtIn are the built-in modules of Node.js that packages require most, by the first part of their names.
var builtIn = []string{
	"assert", "async_hooks", "buffer", "child_process", "cluster", "console", "constants", "crypto", "dgram",
	"diagnostics_channel", "dns", "domain", "events", "fs", "http", "http2", "https", "inspector", "module", "net", "os",
	"path", "perf_hooks", "process", "punycode", "querystring", "readline", "repl", "sqlite", "stream", "string_decoder",
	"sys", "test", "timers", "tls", "trace_events", "tty", "url", "util", "v8", "vm", "wasi", "worker_threads", "zlib",
}
