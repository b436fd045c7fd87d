package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
)

//go:embed parts
var parts embed.FS

// Parts are the files that pages share: the library, the style, and elements.
func Parts() fs.FS { return parts }

// mediaTypes are those of the files of a page. The system's own table may say something else.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// Serve returns a handler of the files of a page, of which "index.html" is what "/" shows. Files of other
// kinds, such as licences, are not served.
func Serve(files fs.FS) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
		if name == "" {
			name = "index.html"
		}
		mediaType, isServed := mediaTypes[path.Ext(name)]
		text, err := fs.ReadFile(files, name)
		if err != nil || !isServed {
			Fail(w, http.StatusNotFound, boterr.New(boterr.NotFound, "", "there is no %s here", name))
			return
		}
		digest := sha256.Sum256(text)
		w.Header().Set("Content-Type", mediaType)
		w.Header().Set("Cache-Control", "no-cache") // It is asked for each time, and sent where it has changed.
		w.Header().Set("ETag", `"`+hex.EncodeToString(digest[:8])+`"`)
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(text))
	})
}
