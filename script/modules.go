package script

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// modules are the files that scripts may require, compiled when they are first asked for. What runs is
// each script's own.
type modules struct {
	files    fs.FS
	compiler *compiler

	mu       sync.Mutex
	compiled map[string]*module
}

// module is one file.
type module struct {
	once sync.Once
	code *code
	// value is what a file of JSON holds.
	value any
	err   error
}

func newModules(files fs.FS, compiling *compiler) *modules {
	return &modules{files: files, compiler: compiling, compiled: map[string]*module{}}
}

// load compiles a file, once.
func (m *modules) load(file string) *module {
	m.mu.Lock()
	found := m.compiled[file]
	if found == nil {
		found = &module{}
		m.compiled[file] = found
	}
	m.mu.Unlock()
	found.once.Do(func() {
		source, err := fs.ReadFile(m.files, file)
		switch {
		case err != nil:
			found.err = boterr.New(boterr.NotFound, "", "reading the module %s: %w", file, err)
		case path.Ext(file) == ".json":
			found.value, found.err = document.ParseJSON(source)
		default:
			found.code, found.err = m.compiler.compileFunction(file, moduleHead, string(source))
		}
	})
	return found
}

// find returns the file that a name means in a file of a folder.
func (m *modules) find(folder, name string) (string, error) {
	if m.files == nil {
		return "", boterr.New(boterr.NotFound, "", "there is no module %q: the host gives none, see Options.Modules", name)
	}
	name = strings.TrimPrefix(name, "node:")
	if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") || name == "." || name == ".." {
		if found := m.fileOrFolder(path.Join(folder, name)); found != "" {
			return found, nil
		}
		return "", boterr.New(boterr.NotFound, "", "there is no module %q in the folder %q", name, folder)
	}
	for at := folder; ; at = path.Dir(at) {
		if found := m.fileOrFolder(path.Join(at, "node_modules", name)); found != "" {
			return found, nil
		}
		if at == "." || at == "" || at == "/" {
			return "", boterr.New(boterr.NotFound, "", "there is no module %q in the files that the host gives", name)
		}
	}
}

// fileOrFolder returns the file that a path means, "" where there is none.
func (m *modules) fileOrFolder(name string) string {
	for _, file := range []string{name, name + ".js", name + ".cjs", name + ".json"} {
		if info, err := fs.Stat(m.files, file); err == nil && info.Mode().IsRegular() {
			return file
		}
	}
	if main := m.mainOf(name); main != "" && main != "." {
		if found := m.fileOrFolder(path.Join(name, main)); found != "" {
			return found
		}
	}
	for _, file := range []string{path.Join(name, "index.js"), path.Join(name, "index.json")} {
		if info, err := fs.Stat(m.files, file); err == nil && info.Mode().IsRegular() {
			return file
		}
	}
	return ""
}

// mainOf returns the main file that a folder's package.json names, "" where none does.
func (m *modules) mainOf(folder string) string {
	text, err := fs.ReadFile(m.files, path.Join(folder, "package.json"))
	if err != nil {
		return ""
	}
	var manifest struct {
		Main string `json:"main"`
	}
	if json.Unmarshal(text, &manifest) != nil {
		return ""
	}
	return path.Clean(manifest.Main)
}

// require returns what a module exports to a file of a folder. It throws where there is none.
func (r *run) require(folder, name string) goja.Value {
	file, err := r.engine.modules.find(folder, name)
	if err != nil {
		panic(r.errorObject(err))
	}
	if loaded := r.loaded[file]; loaded != nil {
		return loaded.Get("exports")
	}
	found := r.engine.modules.load(file)
	if found.err != nil {
		panic(r.errorObject(found.err))
	}
	if found.code == nil {
		return r.toScript(found.value)
	}
	return r.runModule(file, found.code)
}

// runModule runs a module in the scope of the script.
func (r *run) runModule(file string, code *code) goja.Value {
	r.install(code.needs)
	made, err := r.vm.RunProgram(code.program)
	if err != nil {
		panic(err)
	}
	module, exports := r.vm.NewObject(), r.vm.NewObject()
	_ = module.Set("exports", exports)
	_ = module.Set("id", file)
	if r.loaded == nil {
		r.loaded = map[string]*goja.Object{}
	}
	r.loaded[file] = module
	body, isFunction := goja.AssertFunction(made)
	if !isFunction {
		panic(errors.New("a module was compiled to no function"))
	}
	_, err = body(exports, exports, r.requireFrom(path.Dir(file)), module, r.vm.ToValue(file), r.vm.ToValue(path.Dir(file)))
	if err != nil {
		delete(r.loaded, file)
		panic(err)
	}
	return module.Get("exports")
}

// requireFrom returns the function require of files of a folder.
func (r *run) requireFrom(folder string) goja.Value {
	return r.vm.ToValue(func(call goja.FunctionCall) goja.Value {
		return r.require(folder, call.Argument(0).String())
	})
}
