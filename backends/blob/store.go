package blob

import (
	"context"
	"io"
	"mime"
	"net/url"
	"sync"

	gocloud "gocloud.dev/blob"
	_ "gocloud.dev/blob/fileblob" // The scheme file of Open.
	_ "gocloud.dev/blob/memblob"  // The scheme mem of Open.

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/utility"
)

// partBytes is the size of the parts in which stores get a file that take it in parts: the
// least that S3 allows.
const partBytes = 5 << 20

// Store keeps files in a bucket. It is safe for concurrent use.
type Store struct {
	bucket *gocloud.Bucket
	close  func() error
	// isFolder is true for a folder whose driver leaves the attributes to folder.
	isFolder bool
}

var _ utility.ObjectStore = (*Store)(nil)

// New returns a store over a bucket, which the store's Close closes. For a nil bucket it returns nil, which
// botctx.New refuses as an ObjectStore.
func New(bucket *gocloud.Bucket) *Store {
	if bucket == nil {
		return nil
	}
	return &Store{bucket: bucket, close: sync.OnceValue(bucket.Close)}
}

// Open opens the bucket at a URL: "mem://" for one in memory, which ends with the process,
// "file:///folder" for a folder, with "?create_dir=true" if it may have to be made. The
// schemes of other drivers work where the program imports them.
//
// InvalidArgument: the URL is invalid, or no driver knows its scheme. FailedPrecondition: there
// is no such bucket.
func Open(ctx context.Context, address string) (*Store, error) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme == "" {
		return nil, boterr.Invalid("url", "must be the URL of a bucket, such as \"file:///var/lib/bots/files\"")
	}
	if !gocloud.DefaultURLMux().ValidBucketScheme(parsed.Scheme) {
		return nil, boterr.Invalid("url", "has the scheme %q, which no driver knows: use file or mem, "+
			"or import the driver, gocloud.dev/blob/s3blob for S3", parsed.Scheme)
	}
	opened, isFolder := withoutAttributes(withoutTemporaryFolder(parsed))
	bucket, err := gocloud.OpenBucket(ctx, opened.String())
	if err != nil {
		return nil, boterr.New(boterr.FailedPrecondition, "url", "the bucket cannot be opened: %w", err)
	}
	store := New(bucket)
	store.isFolder = isFolder
	return store, nil
}

// withoutAttributes makes a folder's driver write no attributes, unless the address says what to do with them, and
// reports whether it is such a folder.
func withoutAttributes(address *url.URL) (*url.URL, bool) {
	query := address.Query()
	if address.Scheme != "file" || query.Has("metadata") {
		return address, false
	}
	query.Set("metadata", "skip")
	changed := *address
	changed.RawQuery = query.Encode()
	return &changed, true
}

// withoutTemporaryFolder makes folders write files that are not complete in the folder itself.
// The system's folder for temporary files, the driver's default, may be on another disk,
// from which a file cannot be moved in one step.
func withoutTemporaryFolder(address *url.URL) *url.URL {
	query := address.Query()
	if address.Scheme != "file" || query.Has("no_tmp_dir") {
		return address
	}
	query.Set("no_tmp_dir", "true")
	changed := *address
	changed.RawQuery = query.Encode()
	return &changed
}

// Close gives up the bucket. Later calls of Put are FailedPrecondition, later ones of Close
// do nothing.
func (s *Store) Close() error { return s.close() }

// Put stores a file under its key, in place of one that is there. It returns when the file is
// stored whole, or when reading it fails or ctx ends, with that error; then nothing is
// stored, and what was there stays. A read that is under way when ctx ends is waited for.
//
// InvalidArgument: the key or the content type is invalid, or the bucket cannot hold the key.
// FailedPrecondition: the host has to act, since the bucket is gone, closed or not to be
// written to. ResourceExhausted: a limit of the store is reached. Unavailable: it did not
// answer.
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
		MaxConcurrency: 1, // More parts at once would all be in memory.
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
			// A writer must be closed, and one whose context has ended stores nothing. This
			// holds for a reader that panics, too.
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

func checkFile(file utility.StoredFile) error {
	if err := checkKey(file.Key); err != nil {
		return err
	}
	if _, _, err := mime.ParseMediaType(file.ContentType); err != nil {
		return boterr.Invalid("contentType", "must be a media type such as \"image/png\", and not %q", file.ContentType)
	}
	if file.Content == nil {
		return boterr.Invalid("content", "is required: give the reader of the file")
	}
	return nil
}

// source is a reader that ends with a context, and keeps the error of reading apart from
// that of writing.
type source struct {
	ctx    context.Context //nolint:containedctx // A reader takes none, and this one lives as long as the call.
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
