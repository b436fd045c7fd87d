package blob

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"mime"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"

	gocloud "gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // For Open, the scheme file.
	_ "gocloud.dev/blob/memblob"  // For Open, the scheme mem.
	"gocloud.dev/gcerrors"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/utility"
)

// partBytes is the part size for stores that take files in parts. It is the minimum of S3.
const partBytes = 5 << 20

// Store keeps files in a bucket. It is safe for concurrent use.
type Store struct {
	bucket *gocloud.Bucket
	close  func() error
	// isFolder is true if the driver writes no content types, and folder writes them instead.
	isFolder bool
}

var _ utility.ObjectStore = (*Store)(nil)

// New returns a store that uses the bucket; closing the store closes the bucket. For a nil bucket New returns
// nil, which botctx.New does not accept as an ObjectStore.
func New(bucket *gocloud.Bucket) *Store {
	if bucket == nil {
		return nil
	}
	return &Store{bucket: bucket, close: sync.OnceValue(bucket.Close)}
}

// Open opens the bucket at a URL: "mem://" for a bucket in memory, which is lost when the process ends, or
// "file:///folder" for a folder, with "?create_dir=true" to create it if necessary. The schemes of other
// drivers work if the program imports them.
//
// InvalidArgument: the URL is invalid, or no driver knows its scheme. FailedPrecondition: there is no such
// bucket.
func Open(ctx context.Context, address string) (*Store, error) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme == "" {
		return nil, boterr.Invalid("url", "must be the URL of a bucket, such as \"file:///var/lib/bots/files\"")
	}
	if !gocloud.DefaultURLMux().ValidBucketScheme(parsed.Scheme) {
		return nil, boterr.Invalid("url", "has the scheme %q, which no driver knows: use file or mem, "+
			"or import the driver, gocloud.dev/blob/s3blob for S3", parsed.Scheme)
	}
	query := parsed.Query()
	isFolder := parsed.Scheme == "file" && !query.Has("metadata")
	if isFolder { // The driver writes no content types, because folder does.
		query.Set("metadata", "skip")
	}
	if parsed.Scheme == "file" && !query.Has("no_tmp_dir") {
		// The driver writes incomplete files into the folder itself. The system's temporary folder may be on another
		// disk, and from there a file cannot be moved in one step.
		query.Set("no_tmp_dir", "true")
	}
	parsed.RawQuery = query.Encode()
	bucket, err := gocloud.OpenBucket(ctx, parsed.String())
	if err != nil {
		// Drivers put the whole URL into their errors.
		return nil, boterr.New(boterr.FailedPrecondition, "url", "the bucket cannot be opened: %s", display.Redact(err.Error()))
	}
	store := New(bucket)
	store.isFolder = isFolder
	return store, nil
}

// Close closes the bucket. Later calls of Put fail with FailedPrecondition; later calls of Close do nothing.
func (s *Store) Close() error { return s.close() }

// Put stores a file under its key and replaces an existing one. It returns after the file is stored completely.
// If reading the content fails or ctx ends, Put returns that error, and the existing file remains. If ctx ends
// during a read, Put returns after that read.
//
// InvalidArgument: the key or the content type is invalid, or the bucket cannot hold the key.
// FailedPrecondition: the bucket is missing, closed or not writable, and the host must act. ResourceExhausted:
// a limit of the store is reached. Unavailable: the store did not answer.
func (s *Store) Put(ctx context.Context, file utility.StoredFile) error {
	if err := checkFile(file); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	writing, abort := context.WithCancel(ctx)
	defer abort()
	options := &gocloud.WriterOptions{
		ContentType:    file.ContentType,
		BufferSize:     partBytes,
		MaxConcurrency: 1, // Parts are kept in memory while they are sent.
	}
	var beside folder
	if s.isFolder {
		options.BeforeWrite = beside.begin
	}
	writer, err := s.bucket.NewWriter(writing, file.Key, options)
	if err != nil {
		return failure(ctx, file.Key, err)
	}
	isComplete := false
	defer func() {
		if !isComplete {
			// Every writer must be closed, also if the reader panics. After abort, Close stores nothing.
			abort()
			_ = writer.Close()
		}
	}()
	content := &source{ctx: ctx, reader: file.Content}
	if _, err := io.Copy(writer, content); err != nil {
		if content.err != nil {
			return content.err
		}
		return failure(ctx, file.Key, err)
	}
	if beside.content != nil {
		if err := beside.finish(file.ContentType); err != nil {
			beside.undo()
			return failure(ctx, file.Key, err)
		}
	}
	isComplete = true
	if err := writer.Close(); err != nil {
		beside.undo()
		return failure(ctx, file.Key, err)
	}
	return nil
}

// Open returns the content of the file with this key. Callers must close it.
//
// NotFound: there is no such file. The other errors are the same as for Put.
func (s *Store) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	reader, err := s.bucket.NewReader(ctx, key, nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, boterr.New(boterr.NotFound, "", "there is no file with this key")
	}
	if err != nil {
		return nil, failure(ctx, key, err)
	}
	return reader, nil
}

// Remove removes the file with this key, if there is one. The errors are the same as for Put.
func (s *Store) Remove(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	err := s.bucket.Delete(ctx, key)
	if err == nil || gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	return failure(ctx, key, err)
}

func checkFile(file utility.StoredFile) error {
	if err := checkKey(file.Key); err != nil {
		return err
	}
	if _, _, err := mime.ParseMediaType(file.ContentType); err != nil {
		return boterr.Invalid("contentType", "is %q; give a media type such as \"image/png\"", file.ContentType)
	}
	if file.Content == nil {
		return boterr.Invalid("content", "is required: give the reader of the file")
	}
	return nil
}

// source stops reading when its context ends. It keeps read errors, which would otherwise look like write
// errors.
type source struct {
	ctx    context.Context //nolint:containedctx // io.Reader has no context; source lives for one call only.
	reader io.Reader
	err    error
}

func (s *source) Read(into []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		s.err = err
		return 0, err
	}
	n, err := s.reader.Read(into)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// For folders, the driver keeps a file's content type in a second file. It truncates and rewrites that file on
// each Put, so readers may find it empty. Therefore the driver only writes the content, and folder writes the
// second file, in the driver's format: in one step, before the content appears, and only if the type changes.

// folder writes the content type of a file in a folder.
type folder struct {
	// content is the temporary file with the content. It is nil if the bucket is not a folder.
	content *os.File
	// before is the previous content type file, or nil if there was none. isChanged is true once a new one is
	// in place.
	before    []byte
	isChanged bool
}

// attributes is the driver's JSON format for content types.
type attributes struct {
	ContentType string `json:"user.content_type"`
}

// begin stores the temporary file that the driver writes to.
func (f *folder) begin(as func(any) bool) error {
	as(&f.content)
	return nil
}

// path returns the name of the content type file: the name of the temporary file without its last two
// extensions, plus reserved.
func (f *folder) path() string {
	name := f.content.Name()
	for range 2 {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return name + reserved
}

// finish syncs the content to disk and stores the content type.
func (f *folder) finish(contentType string) error {
	if err := f.content.Sync(); err != nil {
		return err
	}
	wanted, err := json.Marshal(attributes{ContentType: contentType})
	if err != nil {
		return err
	}
	f.before, err = os.ReadFile(f.path())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var stored attributes
	if json.Unmarshal(f.before, &stored) == nil && stored.ContentType == contentType {
		return nil
	}
	f.isChanged = true
	return f.replace(wanted)
}

// undo restores the previous content type.
func (f *folder) undo() {
	switch {
	case !f.isChanged:
	case f.before == nil:
		_ = os.Remove(f.path())
	default:
		_ = f.replace(f.before)
	}
}

// replace writes the content type file in one step.
func (f *folder) replace(content []byte) error {
	temporary := filepath.Join(filepath.Dir(f.path()), "."+rand.Text()+reserved)
	err := writeDurably(temporary, content)
	if err == nil {
		err = os.Rename(temporary, f.path())
	}
	if err != nil {
		_ = os.Remove(temporary)
	}
	return err
}

// writeDurably writes a new file and syncs it to disk.
func writeDurably(name string, content []byte) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) //nolint:gosec // The mode of the driver; the umask restricts it.
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Sync(), file.Close())
}

// maxKeySize is the longest key, in bytes, that all large object stores allow.
const maxKeySize = 1024

// checkKey rejects keys that could name the same file as another key. In a folder, "a//b" and "a/./b" are both
// "a/b". A valid key is used unchanged.
func checkKey(key string) error {
	segments := strings.Split(key, "/")
	switch {
	case key == "":
		return boterr.Invalid("filename", "is required")
	case len(key) > maxKeySize:
		return boterr.Invalid("filename", "is too long: with app and channel it has %d bytes, the limit is %d",
			len(key), maxKeySize)
	case !utf8.ValidString(key) || strings.ContainsRune(key, 0):
		return boterr.Invalid("filename", "must be UTF-8 text without NUL")
	case slices.ContainsFunc(segments, func(s string) bool { return s == "" || s == "." || s == ".." }):
		return boterr.Invalid("filename",
			"must have names between its slashes, and neither begin nor end with one; \".\" and \"..\" are not names")
	}
	return nil
}

// failure adds a code to an error of a bucket. If ctx has ended, it returns the error of ctx.
func failure(ctx context.Context, key string, err error) error {
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	switch gcerrors.Code(err) {
	case gcerrors.InvalidArgument:
		return boterr.Invalid("filename", "cannot be stored as %q: %w", key, err)
	case gcerrors.NotFound:
		return boterr.New(boterr.FailedPrecondition, "", "the bucket does not exist; create it: %w", err)
	case gcerrors.PermissionDenied:
		return boterr.New(boterr.FailedPrecondition, "", "the account may not write to the bucket; grant it access: %w", err)
	case gcerrors.FailedPrecondition:
		return boterr.New(boterr.FailedPrecondition, "", "the bucket is closed, or refuses access: %w", err)
	case gcerrors.ResourceExhausted:
		return boterr.New(boterr.ResourceExhausted, "", "a limit of the bucket is reached; try again later: %w", err)
	case gcerrors.Unimplemented:
		return boterr.New(boterr.Unsupported, "", "the bucket does not support it: %w", err)
	default:
		return systemFailure(key, err)
	}
}

// reserved is the suffix of the folder driver's content type files.
const reserved = ".attrs"

// systemFailure adds a code to an error of the operating system. The driver for folders returns these without a
// code.
func systemFailure(key string, err error) error {
	switch {
	case strings.HasSuffix(key, reserved) && strings.Contains(err.Error(), reserved):
		return boterr.Invalid("filename", "must not end with %q in this bucket: choose another name", reserved)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return boterr.Invalid("filename", "has a name that is too long for this bucket: shorten it: %w", err)
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.EEXIST),
		errors.Is(err, syscall.ENOTEMPTY):
		return boterr.Invalid("filename",
			"names a folder as a file, or a file as a folder, which this bucket cannot hold: choose another name: %w", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return boterr.New(boterr.ResourceExhausted, "", "the disk is full; make room: %w", err)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EROFS):
		return boterr.New(boterr.FailedPrecondition, "", "the folder is not writable; change its permissions: %w", err)
	}
	return boterr.New(boterr.Unavailable, "", "the bucket did not store the file; try again later: %w", err)
}
