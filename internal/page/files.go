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

// Parts returns the files that pages share: the library, the style and the elements.
func Parts() fs.FS { return parts }

// mediaTypes are the media types of served files. The system's own table may be different.
var mediaTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// Serve returns a handler for a page's files, with "index.html" at "/". It does not serve files with unknown
// extensions, such as licences.
func Serve(files fs.FS) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
		if name == "" {
			name = "index.html"
		}
		mediaType, isServed := mediaTypes[path.Ext(name)]
		text, err := fs.ReadFile(files, name)
		if err != nil || !isServed {
			Fail(w, http.StatusNotFound, boterr.New(boterr.NotFound, "", "there is no file %s", name))
			return
		}
		digest := sha256.Sum256(text)
		w.Header().Set("Content-Type", mediaType)
		w.Header().Set("Cache-Control", "no-cache") // Browsers must revalidate the file each time.
		w.Header().Set("ETag", `"`+hex.EncodeToString(digest[:8])+`"`)
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(text))
	})
}
