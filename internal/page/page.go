// Package page contains what the project's web pages share: access control, JSON requests and responses, and
// static files, which are a small library, a style sheet and page elements.
//
//   - To restrict access, use [Guard].
//   - To read and answer requests, use [Read] and [Answer].
//   - To serve files, use [Serve].
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/timelimit"
)

// policy is the Content-Security-Policy of every page. The page can only load its own content and cannot be framed.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Guard decides which requests a page accepts.
type Guard struct {
	// IsHost reports whether the page may be served under a host name, without the port. Pages on this machine must
	// refuse unknown names, so that a site whose name resolves to this machine gets no access. nil accepts any name.
	IsHost func(name string) bool
}

// Around returns a handler that passes on a request if its host is one of the page's names and it does
// not come from another site. It sets the headers of every response, and limits the time of every body.
func (g Guard) Around(next http.Handler) http.Handler {
	sites := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		setHeaders(w.Header())
		if r.ContentLength != 0 {
			LimitBody(w, bodyTime)
		}
		if name := hostName(r.Host); g.IsHost != nil && !g.IsHost(name) {
			Fail(w, http.StatusForbidden, boterr.New(boterr.FailedPrecondition, "Host",
				"is %q, which is not a name of this page; open it by its own name", name))
			return
		}
		if err := fromHere(sites, r); err != nil {
			Fail(w, http.StatusForbidden, boterr.New(boterr.FailedPrecondition, "Origin", "the request comes from another site: %w", err))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// fromHere returns an error for a request from another site. Any site may link to the page. But a request with an
// Origin comes from a script or form, so it must be the page's own even if it only reads.
func fromHere(sites *http.CrossOriginProtection, r *http.Request) error {
	if r.Header.Get("Origin") != "" {
		// Check allows reads, so check a POST. It trusts Sec-Fetch-Site more than a comparison of Origin with Host,
		// which a proxy may have changed.
		asWrite := *r
		asWrite.Method = http.MethodPost
		r = &asWrite
	}
	return sites.Check(r)
}

func setHeaders(header http.Header) {
	header.Set("Content-Security-Policy", policy)
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Cache-Control", "no-store")
}

// LocalOr returns a Guard.IsHost for a page on this machine. It accepts the given names, localhost, and
// any IP address, because DNS rebinding needs a name.
func LocalOr(names []string) func(name string) bool {
	return func(name string) bool {
		_, err := netip.ParseAddr(name)
		return err == nil || strings.EqualFold(name, "localhost") ||
			slices.ContainsFunc(names, func(known string) bool { return strings.EqualFold(known, name) })
	}
}

func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
}

// bodyTime is the time in which the body of a request must arrive, except for files.
const bodyTime = 30 * time.Second

// LimitBody sets the time in which the body of a request must arrive. Without a limit, even a refused request keeps its
// connection until its body has arrived.
func LimitBody(w http.ResponseWriter, within time.Duration) {
	_ = http.NewResponseController(w).SetReadDeadline(timelimit.Now().Add(within))
}

// MaxBody is the maximum size of a request body in bytes.
const MaxBody = 1 << 18

// Problem is the JSON form of an error.
type Problem struct {
	// Code is the error's code. Message is its text, with the remedy.
	Code    boterr.Code `json:"code"`
	Message string      `json:"message"`
	// Frames are the calls that led to a panic.
	Frames []string `json:"frames,omitempty"`
}

// ProblemOf returns the redacted form of err, or nil for nil.
func ProblemOf(err error) *Problem {
	if err == nil {
		return nil
	}
	told := &Problem{Code: boterr.CodeOf(err), Message: display.Text(err)}
	if panicked, ok := errors.AsType[*boterr.PanicError](err); ok {
		told.Frames = panicked.Frames()
	}
	return told
}

// Answer writes a response with a status and a JSON body. Numbers that JSON cannot represent are null, so that one
// stored NaN does not hide the rest of a page.
func Answer(w http.ResponseWriter, status int, body any) {
	text, err := document.EncodeLossyJSON(body)
	if err != nil {
		Fail(w, http.StatusInternalServerError, err)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(append(text, '\n')) // The client may have closed the connection.
}

// Fail writes a response with a status and an error.
func Fail(w http.ResponseWriter, status int, err error) {
	Answer(w, status, map[string]*Problem{"error": ProblemOf(err)})
}

// Read decodes the body of a request. It returns InvalidArgument for unknown fields, another content type, or a body
// larger than MaxBody.
func Read(w http.ResponseWriter, r *http.Request, into any) error {
	if given, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || given != "application/json" {
		return boterr.Invalid("Content-Type", "is %q: send application/json", r.Header.Get("Content-Type"))
	}
	return Decode(http.MaxBytesReader(w, r.Body, MaxBody), into)
}

// Decode decodes a single JSON value. It returns InvalidArgument for unknown fields and trailing data.
func Decode(from io.Reader, into any) error {
	decoder := json.NewDecoder(from)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return boterr.Invalid("", "the body cannot be read: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return boterr.Invalid("", "the body has data after its value; send a single JSON value")
	}
	return nil
}

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

// maxFileName is the longest name of a file, in code points.
const maxFileName = 100

// FileName returns a file's name without folders, control characters, or characters that change the direction
// of text, and with at most 100 characters. If nothing is left, it returns "file".
func FileName(name string) string {
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	var clean strings.Builder
	for _, r := range strings.ToValidUTF8(name, "") {
		if unicode.IsGraphic(r) && !strings.ContainsRune(`"*:<>?|;`, r) {
			clean.WriteRune(r)
		}
	}
	name = strings.Trim(clean.String(), ". ")
	if utf8.RuneCountInString(name) > maxFileName {
		end := path.Ext(name)
		if utf8.RuneCountInString(end) > maxFileName/4 {
			end = ""
		}
		runes := []rune(strings.TrimSuffix(name, end))
		name = string(runes[:maxFileName-utf8.RuneCountInString(end)]) + end
	}
	if name == "" {
		return "file"
	}
	return name
}
