package webchat

import (
	"crypto/sha256"
	"crypto/sha512"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"
)

//go:embed widget/widget.js
var widgetFile []byte

// WidgetFile describes the widget's script, which Handler serves.
type WidgetFile struct {
	// Name is the script's name with a hash, such as "widget-0123456789abcdef.js", relative to the address of
	// Handler. It changes with the script, and browsers cache it for a year. To always use the current script,
	// use "widget.js".
	Name string
	// Integrity is the value for the integrity attribute of the script tag.
	Integrity string
}

// Widget returns the name and the integrity of the widget's script.
func Widget() WidgetFile {
	name, sum := sha256.Sum256(widgetFile), sha512.Sum384(widgetFile)
	return WidgetFile{
		Name:      "widget-" + hex.EncodeToString(name[:8]) + ".js",
		Integrity: "sha384-" + base64.StdEncoding.EncodeToString(sum[:]),
	}
}

// serveWidget serves the current script. If the name has another hash, the page may be newer or older than this
// process, so the answer must not be cached.
func serveWidget(w http.ResponseWriter, r *http.Request, name string) {
	header := w.Header()
	header.Set("Content-Type", "text/javascript; charset=utf-8")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Access-Control-Allow-Origin", "*") // A script tag with integrity uses CORS.
	header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	widget := Widget()
	tag := `"` + strings.TrimSuffix(strings.TrimPrefix(widget.Name, "widget-"), ".js") + `"`
	header.Set("ETag", tag)
	header.Set("Cache-Control", "no-cache")
	if name == widget.Name {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(widgetFile)
}

func isWidget(name string) bool {
	return name == "widget.js" || strings.HasPrefix(name, "widget-") && strings.HasSuffix(name, ".js")
}
