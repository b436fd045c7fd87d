package modules

import (
	"bytes"
	"encoding/json"
	"errors"
	"path"
	"strings"
	"sync"

	"github.com/botctx/go-sdk/boterr"
)

// maxModule is the maximum size of a module in bytes.
const maxModule = 4 << 20

// Module is a file that scripts require.
type Module struct {
	// Source is the file's text in UTF-8, without a byte order mark. A first line that starts with #! becomes a
	// comment, so that line numbers stay the same.
	Source string
	// IsJSON is true if the source is JSON rather than CommonJS.
	IsJSON bool
}

// Read returns a file that Find found. The error is NotFound if it cannot be read, and InvalidArgument if it
// is an ES module, is larger than 4 MiB, or has the extension .json and is not valid JSON.
func (f *Files) Read(file string) (Module, error) {
	if file == Empty {
		return Module{}, nil
	}
	if known, ok := f.sources.load(file); ok {
		return known, nil
	}
	if f.fsys == nil || !f.isFile(file) {
		return Module{}, boterr.New(boterr.NotFound, "", "there is no module %q", file)
	}
	if err := f.check(file); err != nil {
		return Module{}, err
	}
	text, err := f.read(file)
	if err != nil {
		return Module{}, err
	}
	text = withoutMark(text)
	module := Module{IsJSON: path.Ext(file) == ".json"}
	if module.IsJSON {
		if err := json.Unmarshal(text, new(json.RawMessage)); err != nil {
			return Module{}, notJSON(file, text, err)
		}
	} else if bytes.HasPrefix(text, []byte("#!")) {
		copy(text, "//")
	}
	module.Source = strings.ToValidUTF8(string(text), "\uFFFD")
	f.sources.store(file, module, len(module.Source))
	return module, nil
}

// check refuses files that are not CommonJS.
func (f *Files) check(file string) error {
	if path.Ext(file) == ".node" {
		return boterr.Invalid("", "the module %s is machine code for Node.js, which scripts cannot load", file)
	}
	isES, err := f.isES(file)
	if err != nil || !isES {
		return err
	}
	owner, err := f.owner(path.Dir(file))
	if err != nil || owner == nil {
		return boterr.Invalid("", "the module %s is an ES module, which scripts cannot load: write it as CommonJS", file)
	}
	return boterr.Invalid("", "the module %s is an ES module, which scripts cannot load: "+
		"install a version of the package %q that has CommonJS", file, owner.label())
}

// isES reports whether Node.js would load a file as an ES module.
func (f *Files) isES(file string) (bool, error) {
	switch path.Ext(file) {
	case ".mjs":
		return true, nil
	case ".js":
		owner, err := f.owner(path.Dir(file))
		return owner != nil && owner.isES, err
	default:
		return false, nil
	}
}

// withoutMark removes a byte order mark.
func withoutMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\uFEFF")) }

// notJSON is the error for an invalid JSON file, with the place if it is known.
func notJSON(file string, text []byte, err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		before := withoutMark(text)[:max(0, syntax.Offset-1)]
		line := 1 + bytes.Count(before, []byte("\n"))
		column := len(before) - bytes.LastIndexByte(before, '\n')
		return boterr.Invalid("", "%s:%d:%d: this is not JSON: %v", file, line, column, syntax)
	}
	return boterr.Invalid("", "%s is not JSON: %v", file, err)
}

// cache stores values by key. It drops all values once they exceed limit bytes, because scripts choose the keys. It
// is safe for concurrent use.
type cache[V any] struct {
	limit int

	mu     sync.Mutex
	values map[string]V
	size   int
}

// load returns the value of a key, and whether it is cached.
func (c *cache[V]) load(key string) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	value, ok := c.values[key]
	return value, ok
}

// overhead is the approximate size of an entry in addition to its key and value.
const overhead = 100

// store caches the value of a key; size is its size in bytes.
func (c *cache[V]) store(key string, value V, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, isKnown := c.values[key]; isKnown {
		return
	}
	size += len(key) + overhead
	if c.values == nil || c.size+size > c.limit {
		c.values, c.size = map[string]V{}, 0
	}
	c.values[key] = value
	c.size += size
}
