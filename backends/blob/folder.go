package blob

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// In a folder the driver keeps the content type of a file in a second one, which it truncates and writes anew each time,
// so that readers find it empty. The driver therefore writes the content alone, in one step, and folder the attributes,
// in the driver's form. They are written before the content appears, and only if they change.

// folder is the part of a write to a folder that the driver leaves out.
type folder struct {
	// content is the temporary file of the content, nil in other buckets.
	content *os.File
	// before are the attributes that were there, nil for none, and isChanged is true once others are there.
	before    []byte
	isChanged bool
}

// attributes are those of a file in the driver's form.
type attributes struct {
	ContentType string `json:"user.content_type"`
}

// begin notes the file that the driver writes.
func (f *folder) begin(as func(any) bool) error {
	as(&f.content)
	return nil
}

// path returns the name of the file with the attributes: that of the temporary file without its two endings, and with
// another one.
func (f *folder) path() string {
	name := f.content.Name()
	for range 2 {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return name + reserved
}

// finish makes the content durable, and stores the attributes.
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

// undo puts the attributes back that were there.
func (f *folder) undo() {
	switch {
	case !f.isChanged:
	case f.before == nil:
		_ = os.Remove(f.path())
	default:
		_ = f.replace(f.before)
	}
}

// replace writes the file with the attributes in one step.
func (f *folder) replace(content []byte) error {
	temporary := filepath.Join(filepath.Dir(f.path()), "."+rand.Text()+reserved)
	if err := writeDurably(temporary, content); err != nil {
		_ = os.Remove(temporary)
		return err
	}
	if err := os.Rename(temporary, f.path()); err != nil {
		_ = os.Remove(temporary)
		return err
	}
	return nil
}

// writeDurably writes a new file.
func writeDurably(name string, content []byte) error {
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666) //nolint:gosec // As the driver does; the umask decides.
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Sync(), file.Close())
}
