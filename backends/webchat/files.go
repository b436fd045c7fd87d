package webchat

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/chatlog"
	"github.com/botctx/go-sdk/internal/page"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
	"github.com/botctx/go-sdk/utility"
)

const (
	// filesPath is the path of files, relative to the address of Handler.
	filesPath = "files/"
	// sniffed is the number of bytes from which a file's type is detected.
	sniffed = 512
	// uploadTime limits the time to receive a file.
	uploadTime = 2 * time.Minute
	// downloadTime limits the time to send a file.
	downloadTime = 10 * time.Minute
	// oldFiles is the largest number of files in a batch of removals.
	oldFiles = 20
	// maxFiles is the approximate number of files that are kept for each visitor.
	maxFiles = 200
)

// mediaTypes maps the types of files that visitors may send, as http.DetectContentType returns them, to types
// of attachments. Pages (HTML, XML) are not allowed. Files other than pictures are always downloads.
var mediaTypes = map[string]string{
	"image/png": "image", "image/jpeg": "image", "image/gif": "image", "image/webp": "image",
	"audio/mpeg": "audio", "audio/wave": "audio", "application/ogg": "audio",
	"video/mp4": "video", "video/webm": "video",
	"application/pdf": "file", "application/zip": "file", "text/plain": "file",
}

func kindOf(mediaType string) string { return mediaTypes[mediaType] }

// fileIDForm matches ids of files. Ids are random, because anyone who knows a file's address can read it:
// pictures in a page are requested without a token.
var fileIDForm = regexp.MustCompile(`^[A-Z2-7]{26}$`)

type fileRecord struct {
	id, key, name, mediaType string
	of                       chatlog.Conversation
	size                     int64
	at                       document.Timestamp
}

// Fields of a file's record.
const (
	fieldApp     = "app"
	fieldChannel = "channel"
	fieldVisitor = "visitor"
	fieldKey     = "key"
	fieldName    = "name"
	fieldType    = "type"
	fieldSize    = "size"
	fieldAt      = "at"
	fieldUntil   = "until"
)

func (f fileRecord) object() document.Object {
	return document.O(document.IDField, f.id, fieldApp, f.of.App, fieldChannel, f.of.Channel, fieldVisitor, f.of.ID,
		fieldKey, f.key, fieldName, f.name, fieldType, f.mediaType, fieldSize, f.size, fieldAt, int64(f.at))
}

func fileOf(o document.Object) fileRecord {
	return fileRecord{
		id: document.Get(o, document.IDField, ""), key: document.Get(o, fieldKey, ""), name: document.Get(o, fieldName, ""),
		mediaType: document.Get(o, fieldType, ""), size: document.Get(o, fieldSize, int64(0)),
		at: document.Timestamp(document.Get(o, fieldAt, int64(0))),
		of: chatlog.Conversation{
			App: document.Get(o, fieldApp, ""), Channel: document.Get(o, fieldChannel, ""), ID: document.Get(o, fieldVisitor, ""),
		},
	}
}

func (c *Connector) fileWith(ctx context.Context, id string) (fileRecord, bool, error) {
	if !fileIDForm.MatchString(id) {
		return fileRecord{}, false, nil
	}
	found, exists, err := c.files.Get(ctx, id)
	if err != nil || !exists {
		return fileRecord{}, false, err
	}
	return fileOf(found), true, nil
}

// upload stores a file, and answers with its address.
func (c *Connector) upload(w http.ResponseWriter, r *http.Request, v visit) error {
	if c.config.Files == nil {
		return errNotFound
	}
	if err := cmp.Or(c.limitMessages(c.rates.files, v), c.rates.files.require(c.config.Address(r), v.now)); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(r.Context(), uploadTime)
	defer cancel()
	page.LimitBody(w, uploadTime)
	name, content, err := c.partOf(w, r)
	if err != nil {
		return err
	}
	head, err := content.from.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) {
		return content.refusal(err)
	}
	if len(head) == 0 {
		return invalid("file", "is empty")
	}
	mediaType, _, _ := strings.Cut(http.DetectContentType(head), ";")
	if kindOf(mediaType) == "" {
		return refuse(http.StatusUnsupportedMediaType, boterr.Invalid("file", "has the type %s, which cannot be sent", mediaType))
	}
	file := fileRecord{
		id: rand.Text(), of: v.conversation, name: page.FileName(name), mediaType: mediaType, at: document.TimestampOf(v.now),
	}
	file.key = strings.Join([]string{url.PathEscape(v.in.App), url.PathEscape(v.in.ID), "webchat", file.id}, "/")
	if err := c.store(ctx, &file, content); err != nil {
		return err
	}
	answer(w, http.StatusOK, struct {
		URL  string `json:"url"`
		Name string `json:"name"`
		Type string `json:"type"`
		Size int64  `json:"size"`
		Kind string `json:"kind"`
	}{c.config.URL + filesPath + file.id, file.name, file.mediaType, file.size, kindOf(file.mediaType)})
	return nil
}

// partOf returns the name and the content of the file in a multipart request.
func (c *Connector) partOf(w http.ResponseWriter, r *http.Request) (string, *content, error) {
	const overhead = 4 << 10
	if r.ContentLength > c.config.Limits.FileBytes+overhead {
		return "", nil, c.tooLarge()
	}
	r.Body = http.MaxBytesReader(w, r.Body, c.config.Limits.FileBytes+overhead)
	parts, err := r.MultipartReader()
	if err != nil {
		return "", nil, refuse(http.StatusUnsupportedMediaType, boterr.Invalid("", "the content-type must be multipart/form-data"))
	}
	part, err := parts.NextPart()
	if err != nil {
		return "", nil, invalid("", "the body is not valid multipart/form-data")
	}
	if part.FormName() != "file" {
		return "", nil, invalid("", `the first part must be named "file"`)
	}
	limited := bufio.NewReader(bounded.NewReader(part, c.config.Limits.FileBytes, c.tooLarge())) //nolint:forbidigo // It is within bounds.
	return part.FileName(), &content{from: limited, tooLarge: c.tooLarge()}, nil
}

func (c *Connector) tooLarge() error {
	return refuse(http.StatusRequestEntityTooLarge,
		boterr.Invalid("file", "is too large; the limit is %d bytes", c.config.Limits.FileBytes))
}

// content reads an uploaded file.
type content struct {
	from     *bufio.Reader
	tooLarge error
	// read is the number of bytes that Read has returned. failed is the last error of Read other than io.EOF.
	read   int64
	failed error
}

func (c *content) Read(into []byte) (int, error) {
	n, err := c.from.Read(into)
	c.read += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.failed = err
	}
	return n, err
}

// refusal converts the error of a file that could not be read to an answer.
func (c *content) refusal(err error) error {
	if _, isTooLarge := errors.AsType[*http.MaxBytesError](err); isTooLarge {
		return c.tooLarge
	}
	if _, isProblem := errors.AsType[*problem](err); isProblem {
		return err
	}
	return invalid("file", "was not received completely; upload it again")
}

// store stores a file. The record is stored first, so that erasing the member also removes the file of an
// upload that a crash interrupted.
func (c *Connector) store(ctx context.Context, file *fileRecord, from *content) error {
	if err := c.ensureIndexes(ctx); err != nil {
		return err
	}
	c.warn(ctx, "webchat: old files were not removed", c.removeExcess(ctx, file.of))
	if err := c.files.Insert(ctx, file.object()); err != nil {
		return err
	}
	err := c.config.Files.Put(ctx, utility.StoredFile{
		ID: file.id, Key: file.key, App: file.of.App, Channel: file.of.Channel, Name: "webchat/" + file.id,
		ContentType: file.mediaType, Content: from,
	})
	if err == nil {
		file.size = from.read
		_, err = c.files.Update(ctx, byID(file.id), setTo(document.O(fieldSize, file.size)), store.UpdateOptions{})
		return err
	}
	_, errRecord := c.files.Delete(context.WithoutCancel(ctx), byID(file.id), store.DeleteOptions{})
	c.warn(ctx, "webchat: the record of a refused file was not removed", errRecord)
	if from.failed != nil {
		return from.refusal(from.failed)
	}
	return err
}

// serveFile answers with a file. Pictures are shown in the page, and all other files are downloads.
func (c *Connector) serveFile(w http.ResponseWriter, r *http.Request, id string) error {
	if c.config.Files == nil {
		return errNotFound
	}
	ctx, cancel := context.WithTimeout(r.Context(), downloadTime)
	defer cancel()
	file, exists, err := c.fileWith(ctx, id)
	if err != nil {
		return err
	}
	if !exists {
		return errNotFound
	}
	content, err := c.config.Files.Open(ctx, file.key)
	if boterr.CodeOf(err) == boterr.NotFound {
		return errNotFound
	}
	if err != nil {
		return err
	}
	defer content.Close() //nolint:errcheck // The file was only read.
	disposition := "attachment"
	if kindOf(file.mediaType) == "image" {
		disposition = "inline"
	}
	header := w.Header()
	header.Set("Content-Type", file.mediaType)
	header.Set("Content-Length", strconv.FormatInt(file.size, 10))
	header.Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": file.name}))
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "private, max-age=86400")
	if r.Method == http.MethodHead {
		return nil
	}
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(downloadTime)) //nolint:forbidigo // Deadlines use the machine's clock.
	defer control.SetWriteDeadline(time.Time{})                //nolint:errcheck // The next request has its own deadline.
	_, err = io.CopyN(w, content, file.size)
	if err != nil && r.Context().Err() == nil {
		c.warn(r.Context(), "webchat: file was not sent completely", err)
		panic(http.ErrAbortHandler) // The status was already sent.
	}
	return nil
}

func (c *Connector) removeOldFiles(ctx context.Context) error {
	keep := c.config.KeepFor
	if keep < 0 {
		return nil
	}
	if keep == 0 {
		keep = defaultKeepFor
	}
	before := int64(document.TimestampOf(c.config.Now().Add(-keep)))
	return c.removeAll(ctx, document.O(fieldAt, document.O("$lt", before)))
}

// removeAll removes files with their records. It works in batches, and other calls can run between these.
func (c *Connector) removeAll(ctx context.Context, which document.Object) error {
	for {
		removed, err := c.removeFiles(ctx, which, store.FindOptions{Limit: oldFiles})
		if err != nil || removed < oldFiles {
			return err
		}
	}
}

// removeExcess removes a visitor's oldest files if there are more than maxFiles.
func (c *Connector) removeExcess(ctx context.Context, of chatlog.Conversation) error {
	filter, err := query.CompileFilter(filesOf(of))
	if err != nil {
		return err
	}
	number, err := c.files.Count(ctx, filter)
	if err != nil || number < maxFiles {
		return err
	}
	oldest, err := query.CompileSort(document.O(fieldAt, 1))
	if err == nil {
		_, err = c.removeFiles(ctx, filesOf(of), store.FindOptions{Sort: oldest, Limit: oldFiles})
	}
	return err
}

// filesOf returns a filter for the files of a conversation.
func filesOf(of chatlog.Conversation) document.Object {
	return document.O(fieldApp, of.App, fieldChannel, of.Channel, fieldVisitor, of.ID)
}

const defaultKeepFor = 90 * 24 * time.Hour

func (c *Connector) removeFiles(ctx context.Context, which document.Object, options store.FindOptions) (removed int64, err error) {
	filter, err := query.CompileFilter(which)
	if err != nil {
		return 0, err
	}
	found, err := c.files.Find(ctx, filter, options)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	if c.config.Files == nil {
		return 0, boterr.New(boterr.FailedPrecondition, "", "there are files to remove, but the connector has no Files: set it in its Config")
	}
	for _, o := range found {
		file := fileOf(o)
		if err := c.config.Files.Remove(ctx, file.key); err != nil {
			return removed, fmt.Errorf("a file was not removed: %w", err)
		}
		if _, err := c.files.Delete(ctx, byID(file.id), store.DeleteOptions{}); err != nil {
			return removed, err
		}
		removed++
	}
	return removed, nil
}

// moveFiles moves the files of one conversation to another.
func (c *Connector) moveFiles(ctx context.Context, from, to chatlog.Conversation) error {
	filter, err := query.CompileFilter(filesOf(from))
	if err == nil {
		_, err = c.files.Update(ctx, filter, setTo(document.O(fieldVisitor, to.ID)), store.UpdateOptions{Multi: true})
	}
	return err
}

func byID(id string) *query.Filter {
	filter, err := query.CompileFilter(document.O(document.IDField, id))
	if err != nil {
		panic(err) // An id is always a valid value.
	}
	return filter
}

func setTo(fields document.Object) query.Change {
	update, err := query.CompileUpdate(document.O("$set", fields))
	if err != nil {
		panic(err) // The names are always valid.
	}
	return query.Change{Update: update}
}
