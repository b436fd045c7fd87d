package fakes

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/internal/render"
	"github.com/botctx/go-sdk/utility"
)

// File is a file that was uploaded to the platform's object store.
type File struct {
	// Key is its key in the object store: app, channel and name.
	Key string
	// App and Channel own the file. Name is its name there.
	App     string
	Channel string
	Name    string
	// ContentType is its media type.
	ContentType string
	// Content is its content.
	Content []byte
	// StoredAt is the virtual time at which it was stored.
	StoredAt time.Time
}

// String returns the file's key, media type, length and, for a text, its content, with credentials redacted.
func (f File) String() string { return f.entry().String() }

func (f File) entry() render.Entry { return render.File(f.StoredAt, f.Key, f.ContentType, f.Content) }

// GoString returns String, so that test failures are readable.
func (f File) GoString() string { return f.String() }

// bucket is the platform's object store. It keeps files by their keys.
type bucket struct {
	guarded[table[string, File]]

	platform *Platform
}

var _ utility.ObjectStore = (*bucket)(nil)

func (b *bucket) Put(ctx context.Context, file utility.StoredFile) error {
	_, err := requested(ctx, b.platform, asking{part{service: ServiceFiles}, "put", file.Key}, func() (struct{}, error) {
		err := b.put(ctx, file)
		if err != nil {
			b.platform.notef("file %s ! %v", file.Key, err)
		}
		return struct{}{}, err
	})
	return err
}

func (b *bucket) put(ctx context.Context, file utility.StoredFile) error {
	if err := b.platform.downErr(part{service: ServiceFiles}); err != nil {
		return err
	}
	content, err := io.ReadAll(file.Content)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	stored := File{
		Key: file.Key, App: file.App, Channel: file.Channel, Name: file.Name,
		ContentType: file.ContentType, Content: content, StoredAt: b.platform.Now(),
	}
	b.mu.Lock()
	put(&b.kept, file.Key, stored)
	b.mu.Unlock()
	b.platform.transcript.add(line{Entry: stored.entry()})
	return nil
}

// Files returns the files in the platform's object store, in the order of their keys.
func (p *Platform) Files() []File {
	files := slices.SortedFunc(maps.Values(p.files.state()), func(a, b File) int { return strings.Compare(a.Key, b.Key) })
	for i := range files {
		files[i].Content = slices.Clone(files[i].Content)
	}
	return files
}

// File returns the file with a key, such as "app-1/channel-1/bills/7.pdf". It ends the test if there is none.
func (p *Platform) File(key string) File {
	p.test.Helper()
	file, ok := p.files.state()[key]
	if !ok {
		p.test.Fatalf("fakes: there is no file %q: Files returns all files", key)
	}
	file.Content = slices.Clone(file.Content)
	return file
}

// Utilities is a fake of the operations for mail, payments and uploads, backed by a whole platform.
type Utilities struct {
	utility.Operations
	OneMember

	// Account is the payment account "shop".
	Account *Account
}

// NewUtilities returns the operations for mail, payments and uploads on a new platform.
func NewUtilities(options ...Option) *Utilities {
	one := newOneMember(options)
	return &Utilities{one.Member.Context(), one, one.Platform.AddAccount("shop")}
}
