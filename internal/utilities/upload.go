package utilities

import (
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/utility"
)

// maxKey is the maximum length of a key in bytes: the limit of S3 and similar stores.
const maxKey = 1024

// UploadFileToObjectStore implements utility.Operations.
func (s *Service) UploadFileToObjectStore(
	ctx context.Context, p utility.UploadFileToObjectStoreParams,
) (utility.UploadFileToObjectStoreResult, error) {
	if s.ports.ObjectStore == nil {
		return utility.UploadFileToObjectStoreResult{}, boterr.New(boterr.Unsupported, "",
			"the host cannot store files; it must set Config.ObjectStore")
	}
	options, err := readOptions(p.Options)
	if err != nil {
		return utility.UploadFileToObjectStoreResult{}, boterr.PrefixField("options", err)
	}
	timeout := min(cmp.Or(options.timeout, s.ports.Upload.Timeout), s.ports.Upload.Timeout)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, tooSlowError(timeout))
	defer cancel()
	request, err := newRequest(ctx, p.URL, options)
	if err != nil {
		return utility.UploadFileToObjectStoreResult{}, err
	}
	file, err := s.newFile(ctx, p)
	if err != nil {
		return utility.UploadFileToObjectStoreResult{}, err
	}
	file.ID = s.env.SendID(ctx, "file "+file.Key)
	return utility.UploadFileToObjectStoreResult{}, s.once(ctx, file.ID, func(ctx context.Context) error {
		return s.upload(ctx, request, file)
	})
}

// newFile validates the destination and returns the file without its content.
func (s *Service) newFile(ctx context.Context, p utility.UploadFileToObjectStoreParams) (utility.StoredFile, error) {
	if err := checkFilename(p.Filename); err != nil {
		return utility.StoredFile{}, err
	}
	contentType, err := parseContentType(p.ContentType)
	if err != nil {
		return utility.StoredFile{}, err
	}
	in := channels.ByID(s.scope, "channel", string(p.Channel))
	id, err := in.Resolve()
	if err != nil {
		return utility.StoredFile{}, err
	}
	_, err = record.Load(in, func(string) (*channel.Reference, error) {
		found, err := s.ports.Channels.GetChannel(ctx, channel.GetParams{ChannelID: id})
		return found, portError(ctx, "the store of channels", err)
	})
	if err != nil {
		return utility.StoredFile{}, err
	}
	file := utility.StoredFile{App: s.scope.App, Channel: id, Name: p.Filename, ContentType: contentType}
	file.Key = keySegment(file.App) + "/" + keySegment(file.Channel) + "/" + file.Name
	if over := len(file.Key) - maxKey; over > 0 {
		return utility.StoredFile{}, boterr.Invalid("filename", "is %d bytes too long; with app and channel the limit is %d bytes", over, maxKey)
	}
	return file, nil
}

// keySegment escapes an id as a single segment of a key.
func keySegment(id string) string {
	if id == "." || id == ".." {
		return strings.ReplaceAll(id, ".", "%2E")
	}
	return url.PathEscape(id)
}

// checkFilename returns an error unless name is a clean relative path.
func checkFilename(name string) error {
	switch {
	case name == "":
		return boterr.Missing("filename", "the file's name in the store")
	case len(name) > maxKey:
		return boterr.Invalid("filename", "must have at most %d bytes, got %d", maxKey, len(name))
	case !utf8.ValidString(name):
		return boterr.Invalid("filename", "must be UTF-8")
	case strings.ContainsFunc(name, isControl):
		return boterr.Invalid("filename", "must have no line breaks and no other control characters")
	case strings.Contains(name, `\`):
		return boterr.Invalid("filename", "must not contain a backslash; separate folders by slashes, as in bills/7.pdf")
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." {
			return boterr.Invalid("filename", `must be a relative path such as bills/7.pdf, without empty parts, "." and ".."`)
		}
	}
	return nil
}

// parseContentType returns the media type in canonical form.
func parseContentType(text string) (string, error) {
	if text == "" {
		return "", boterr.Missing("contentType", "the file's media type, such as image/png")
	}
	kind, parameters, err := mime.ParseMediaType(text)
	if err != nil || !strings.Contains(kind, "/") || !utf8.ValidString(text) || strings.ContainsFunc(text, isControl) {
		return "", boterr.Invalid("contentType", "must be a media type such as image/png or text/plain; charset=utf-8")
	}
	written := mime.FormatMediaType(kind, parameters)
	if written == "" {
		return "", boterr.Invalid("contentType", "has an invalid parameter; give only the media type")
	}
	return written, nil
}

// upload copies the response to request into the store.
func (s *Service) upload(ctx context.Context, request *http.Request, file utility.StoredFile) error {
	maxBytes := s.ports.Upload.MaxBytes
	response, err := s.ports.HTTP.Do(request)
	if err != nil {
		return fetchError(ctx, request, err)
	}
	defer response.Body.Close() //nolint:errcheck // Only errors of reading matter.
	if err := checkResponse(request, response); err != nil {
		return err
	}
	if response.ContentLength > maxBytes {
		return tooLarge(maxBytes)
	}
	content := &fileContent{ctx: ctx, inner: response.Body, request: request, left: maxBytes, over: tooLarge(maxBytes)}
	file.Content = content
	err = s.ports.ObjectStore.Put(ctx, file)
	switch {
	case content.failed != nil:
		return content.failed
	case err != nil && !boterr.HasCode(err) && isTooSlow(ctx):
		return context.Cause(ctx)
	default:
		return portError(ctx, "the object store", err)
	}
}

// checkResponse returns an error unless the response is the whole file, or a part of the file if the
// options have a Range header.
func checkResponse(request *http.Request, response *http.Response) error {
	status, host := response.StatusCode, request.URL.Host
	isPartWanted := request.Header.Get("Range") != ""
	switch {
	case status == http.StatusOK, status == http.StatusNonAuthoritativeInfo, status == http.StatusPartialContent && isPartWanted:
		return checkEncoding(host, response.Header)
	case status == http.StatusPartialContent:
		return boterr.Invalid("url", "returns only a part of the file: %s answered with status 206 although options.headers has no Range", host)
	case isTemporary(status):
		return boterr.New(boterr.Unavailable, "url", "returns no file at the moment: %s answered with status %d; try again later", host, status)
	default:
		return boterr.Invalid("url", "returns no file: %s answered with status %d; check the address and the options", host, status)
	}
}

// isTemporary reports whether a later request may succeed.
func isTemporary(status int) bool {
	switch status {
	case http.StatusAccepted, http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	default:
		return status >= 500
	}
}

// checkEncoding refuses encoded content, such as gzip, because the stored file would not match its
// media type. If the HTTP client has decoded the content, it has also removed the header.
func checkEncoding(host string, header http.Header) error {
	for _, encoding := range header.Values("Content-Encoding") {
		if encoding = strings.TrimSpace(encoding); encoding != "" && !strings.EqualFold(encoding, "identity") {
			return boterr.Invalid("url", "returns the file in the unsupported encoding %.40q; "+
				"leave Accept-Encoding out of the headers, or check what %s sends", encoding, host)
		}
	}
	return nil
}

// fetchError adds a code and a field to the error of a request. An error about the headers or the
// body gets a field in options.
func fetchError(ctx context.Context, request *http.Request, err error) error {
	if isTooSlow(ctx) {
		return context.Cause(ctx)
	}
	if e, ok := boterr.AsError(err); ok && e.Field != "" && e.Field != "url" {
		return boterr.PrefixField("options", e)
	}
	if outer, ok := errors.AsType[*url.Error](err); ok { // Its text contains the URL with its query.
		err = outer.Err
	}
	return portError(ctx, request.URL.Host, err)
}

func tooSlowError(limit time.Duration) error {
	return boterr.New(boterr.ResourceExhausted, "", "the upload takes longer than %v; use a smaller file or a faster server", limit)
}

// isTooSlow reports whether the upload's own time limit ended ctx.
func isTooSlow(ctx context.Context) bool {
	return ctx.Err() != nil && errors.Is(context.Cause(ctx), boterr.ResourceExhausted)
}

func tooLarge(limit int64) error {
	return boterr.New(boterr.ResourceExhausted, "url", "returns a file of more than %d bytes; use a smaller one", limit)
}

// fileContent is the reader that the object store gets. Reading fails at the size limit and after
// ctx ends.
type fileContent struct {
	ctx     context.Context //nolint:containedctx // The context of the upload: io.Reader has no parameter for it.
	inner   io.Reader
	request *http.Request
	left    int64 // bytes that may still be read
	over    error // the error if the file has more bytes
	failed  error // the first error other than io.EOF
}

// Read returns io.EOF for a file of exactly the limit, and an error for a larger one.
func (c *fileContent) Read(p []byte) (int, error) {
	if c.failed == nil && c.ctx.Err() != nil {
		c.failed = fetchError(c.ctx, c.request, c.ctx.Err())
	}
	if c.failed != nil {
		return 0, c.failed
	}
	if int64(len(p))-1 > c.left {
		p = p[:c.left+1] // Read one byte more than allowed, to detect a larger file.
	}
	n, err := c.inner.Read(p)
	switch {
	case int64(n) > c.left:
		n, c.failed = int(c.left), c.over
	case err != nil && err != io.EOF:
		c.failed = fetchError(c.ctx, c.request, err)
	default:
		c.left -= int64(n)
		return n, err
	}
	c.left = 0
	return n, c.failed
}
