package fakes

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/utility"
)

// File is a file that was uploaded to the platform's object store.
type File struct {
	// Key is the key under which it is stored: app, channel and name.
	Key string
	// App and Channel are whom it belongs to, Name is its name there.
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

// String returns the key of the file, its media type and how long it is, and a text itself, without credentials.
func (f File) String() string {
	text := fmt.Sprintf("%s%s: %d bytes of %s", f.StoredAt.Format(stamp), f.Key, len(f.Content), f.ContentType)
	if strings.HasPrefix(f.ContentType, "text/") {
		text += "\n" + string(f.Content)
	}
	return display.Text(text)
}

// GoString is String, for failures of tests.
func (f File) GoString() string { return f.String() }

// bucket is the platform's object store.
type bucket struct {
	platform *Platform
	mu       sync.Mutex
	kept     keptFiles
}

var _ utility.ObjectStore = (*bucket)(nil)

// keptFiles are the files in a bucket.
type keptFiles struct {
	files map[string]File
}

func (k keptFiles) clone() keptFiles {
	return keptFiles{files: copyOfMap(k.files)}
}

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
	b.mu.Lock()
	put(&b.kept.files, file.Key, File{
		Key: file.Key, App: file.App, Channel: file.Channel, Name: file.Name,
		ContentType: file.ContentType, Content: content, StoredAt: b.platform.Now(),
	})
	b.mu.Unlock()
	b.platform.notef("file %s: %d bytes of %s", file.Key, len(content), file.ContentType)
	return nil
}

func (b *bucket) state() keptFiles {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept.clone()
}

func (b *bucket) set(state keptFiles) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept = state
}

// Files returns the files in the platform's object store, in the order of their keys.
func (p *Platform) Files() []File {
	files := slices.SortedFunc(maps.Values(p.files.state().files), func(a, b File) int { return strings.Compare(a.Key, b.Key) })
	for i := range files {
		files[i].Content = slices.Clone(files[i].Content)
	}
	return files
}

// File returns the file with a key, such as "app-1/channel-1/bills/7.pdf". It ends the test
// where there is none.
func (p *Platform) File(key string) File {
	p.test.Helper()
	file, ok := p.files.state().files[key]
	if !ok {
		p.test.Fatalf("fakes: there is no file %q", key)
	}
	file.Content = slices.Clone(file.Content)
	return file
}

// Utilities is the fake of one domain: the operations that mail, charge and upload, as a
// view of a platform.
type Utilities struct {
	utility.Operations

	// Platform is the whole platform; the operations work for Member.
	Platform *Platform
	Member   *Actor
	// Account is the payment account "shop".
	Account *Account
}

// NewUtilities returns the operations that mail, charge and upload of a fresh platform.
func NewUtilities(options ...Option) *Utilities {
	p, actor := oneMember(options)
	return &Utilities{Operations: actor.Context(), Platform: p, Member: actor, Account: p.AddAccount("shop")}
}
