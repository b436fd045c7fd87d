package modules

import (
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// packages is the name of folders with installed packages.
const packages = "node_modules"

// extensions may be omitted in names. They are tried in this order: first the extensions that Node.js tries, then
// .cjs, which Node.js does not try.
var extensions = []string{".js", ".json", ".cjs"}

// fileOrFolder returns the file for the path at: the path itself, the path with an extension, or the main file of the
// folder. name is the name in the script. The result is "" if there is no such file.
func (f *Files) fileOrFolder(at, name string) (string, error) {
	if !meansFolder(name) {
		if file := f.file(at); file != "" {
			return file, nil
		}
	}
	if f.isFolder(at) {
		return f.mainFile(at)
	}
	return "", nil
}

// file returns the file for a path with or without its extension, or "".
func (f *Files) file(at string) string {
	if f.isFile(at) {
		return at
	}
	return f.withExtension(at)
}

// withExtension returns the file for a path without its extension, or "".
func (f *Files) withExtension(at string) string {
	for _, extension := range extensions {
		if f.isFile(at + extension) {
			return at + extension
		}
	}
	return ""
}

// mainFile returns the main file of a folder, or "".
func (f *Files) mainFile(folder string) (string, error) {
	index := path.Join(folder, "index")
	manifest, err := f.manifest(folder)
	if err != nil || manifest == nil || manifest.main == "" {
		return f.withExtension(index), err
	}
	main := path.Join(folder, manifest.main)
	for _, file := range []string{f.file(main), f.withExtension(path.Join(main, "index")), f.withExtension(index)} {
		if file != "" {
			return file, nil
		}
	}
	return "", boterr.New(boterr.NotFound, "", "there is no file %q, the main file of the package %q", main, manifest.label())
}

// isFile reports whether there is a file at a path. Like isFolder, it returns false for an unreadable path.
func (f *Files) isFile(at string) bool {
	info, err := f.stat(at)
	return err == nil && info.Mode().IsRegular()
}

func (f *Files) isFolder(at string) bool {
	info, err := f.stat(at)
	return err == nil && info.IsDir()
}

// stat describes the file or folder at a path. Paths outside the file system do not exist.
func (f *Files) stat(at string) (fs.FileInfo, error) {
	if !fs.ValidPath(at) {
		return nil, fs.ErrNotExist
	}
	return fs.Stat(f.fsys, at)
}

func (f *Files) read(name string) ([]byte, error) {
	file, err := f.fsys.Open(name)
	if err != nil {
		return nil, boterr.New(boterr.NotFound, "", "reading the module %s: %w", name, err)
	}
	defer func() { _ = file.Close() }() // It was only read.
	text, err := io.ReadAll(io.LimitReader(file, maxModule+1))
	if err != nil {
		return nil, boterr.New(boterr.NotFound, "", "reading the module %s: %w", name, err)
	}
	if len(text) > maxModule {
		return nil, boterr.Invalid("", "the module %s is larger than the limit of %d MiB: split it", name, maxModule>>20)
	}
	return text, nil
}

// maxManifest bounds the bytes of a package.json.
const maxManifest = 256 << 10

// manifest contains the relevant fields of a package.json. A nil manifest is empty.
type manifest struct {
	folder, name, main string
	// isES is true if files with .js are ES modules.
	isES             bool
	exports, imports any
	browser          document.Object
}

// label returns the package's name, for errors.
func (m *manifest) label() string {
	if m.name == "" {
		return m.folder
	}
	return m.name
}

// manifest returns the package.json of a folder, or nil if it has none.
func (f *Files) manifest(folder string) (*manifest, error) {
	if known, ok := f.manifests.load(folder); ok {
		return known, nil
	}
	file := path.Join(folder, "package.json")
	if !f.isFile(file) {
		return nil, nil
	}
	text, err := f.read(file)
	if err == nil && len(text) > maxManifest {
		err = boterr.Invalid("", "%s is larger than the limit of %d kB", file, maxManifest>>10)
	}
	if err != nil {
		return nil, err
	}
	value, err := document.ParseJSON(withoutMark(text))
	if err != nil {
		return nil, notJSON(file, text, err)
	}
	fields, _ := value.(document.Object) // Other types of values have no fields.
	field := func(name string) any {
		value, _ := fields.Field(name)
		return value
	}
	made := &manifest{folder: folder, isES: field("type") == "module", exports: field("exports"), imports: field("imports")}
	made.name, _ = field("name").(string)
	made.main, _ = field("main").(string)
	made.browser, _ = field("browser").(document.Object)
	f.manifests.store(folder, made, len(text))
	return made, nil
}

// owner returns the package.json that applies to a folder: its own, or the nearest one above. It returns nil if there
// is none.
func (f *Files) owner(folder string) (*manifest, error) {
	for at := folder; path.Base(at) != packages; at = path.Dir(at) {
		if manifest, err := f.manifest(at); manifest != nil || err != nil {
			return manifest, err
		}
		if at == "." || at == "/" {
			break
		}
	}
	return nil, nil
}

// browserModule returns the replacement for a module in the field browser. It does not replace paths.
func (m *manifest) browserModule(name string) (replacement string, ok bool) {
	if m == nil || isPath(name) {
		return "", false
	}
	if replacement, ok = m.browserField(name); ok {
		return replacement, true
	}
	return m.browserField(strings.TrimPrefix(name, "node:"))
}

// browserFile returns the replacement for one of the package's files in the field browser, which may name the file
// without its extension.
func (m *manifest) browserFile(file string) (replacement string, ok bool) {
	if m == nil || m.browser.Len() == 0 {
		return "", false
	}
	name := "./" + file
	if m.folder != "." {
		name = "." + file[len(m.folder):]
	}
	if replacement, ok = m.browserField(name); ok {
		return replacement, true
	}
	return m.browserField(name[:len(name)-len(path.Ext(name))])
}

func (m *manifest) browserField(name string) (replacement string, ok bool) {
	value, _ := m.browser.Field(name)
	if isKept, isBool := value.(bool); isBool && !isKept {
		return Empty, true
	}
	replacement, ok = value.(string)
	return replacement, ok && replacement != "" && len(replacement) <= longestName
}
