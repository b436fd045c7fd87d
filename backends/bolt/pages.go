package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"go.etcd.io/bbolt"
)

// pageWalk goes through the trees of pages. They have the layout of version 2 of bbolt's file format, in the
// byte order of the machine.
type pageWalk struct {
	file io.ReaderAt
	// size is the size of a page in bytes.
	size int
	// pages is the number of pages of the file.
	pages uint64
	// seen are the pages that were met so far, used the pages of the trees.
	seen, used []bool
}

const (
	pageHeader  = 16 // Number (8), kind (2), count of elements (2), pages that follow (4).
	pageElement = 16
	branchKind  = 1
	leafKind    = 2
	freeKind    = 16
	// manyFree is the count of a list of free pages that has the true one before the list.
	manyFree = 0xFFFF
	// bucketFlag marks an element of a leaf whose value is a bucket: the page of its root (8), its sequence
	// (8), and, if that page is 0, a page inside the value.
	bucketFlag   = 1
	bucketHeader = 16
)

// keyRange holds the bounds of keys; nil is no bound.
type keyRange struct{ from, to []byte }

// page is one page with those that follow it.
type page struct {
	number uint64
	text   []byte
}

func (p page) kind() uint16 { return binary.NativeEndian.Uint16(p.text[8:]) }

func (p page) count() int { return int(binary.NativeEndian.Uint16(p.text[10:])) }

// wrong is the error for a page that bbolt did not write.
func (p page) wrong(format string, args ...any) error {
	return fmt.Errorf("page %d: %s", p.number, fmt.Sprintf(format, args...))
}

// read reads a page that was not met so far.
func (w *pageWalk) read(number uint64) (page, error) {
	p := page{number: number}
	if number < 2 || number >= uint64(len(w.seen)) {
		return p, p.wrong("there is no such page")
	}
	p.text = make([]byte, w.size)
	if _, err := w.file.ReadAt(p.text, int64(number)*int64(w.size)); err != nil {
		return p, p.wrong("%v", err)
	}
	if is := binary.NativeEndian.Uint64(p.text); is != number {
		return p, p.wrong("it has the number %d", is)
	}
	following := uint64(binary.NativeEndian.Uint32(p.text[12:]))
	if following >= uint64(len(w.seen))-number {
		return p, p.wrong("%d pages cannot follow it", following)
	}
	for n := number; n <= number+following; n++ {
		if w.seen[n] {
			return p, p.wrong("page %d is used twice", n)
		}
		w.seen[n] = true
	}
	if following == 0 {
		return p, nil
	}
	p.text = append(p.text, make([]byte, int(following)*w.size)...)
	if _, err := w.file.ReadAt(p.text[w.size:], int64(number+1)*int64(w.size)); err != nil {
		return p, p.wrong("%v", err)
	}
	return p, nil
}

// tree checks the tree below a page.
func (w *pageWalk) tree(number uint64, bounds keyRange) error {
	p, err := w.read(number)
	if err != nil {
		return err
	}
	switch p.kind() {
	case leafKind:
		return w.leaf(p, bounds)
	case branchKind:
		return w.branch(p, bounds)
	default:
		return p.wrong("it is of the kind %d", p.kind())
	}
}

func (w *pageWalk) branch(p page, bounds keyRange) error {
	if p.count() == 0 {
		return p.wrong("it is empty")
	}
	keys := make([][]byte, p.count())
	children := make([]uint64, p.count())
	for i := range keys {
		element, err := p.element(i)
		if err != nil {
			return err
		}
		at, length := binary.NativeEndian.Uint32(element), binary.NativeEndian.Uint32(element[4:])
		children[i] = binary.NativeEndian.Uint64(element[8:])
		if keys[i], err = p.part(i, uint64(at), uint64(length)); err != nil {
			return err
		}
	}
	if err := p.checkOrder(keys, bounds); err != nil {
		return err
	}
	for i, child := range children {
		within := keyRange{from: keys[i], to: bounds.to}
		if i+1 < len(keys) {
			within.to = keys[i+1]
		}
		if err := w.tree(child, within); err != nil {
			return err
		}
	}
	return nil
}

// leaf checks a page of keys and values, and the buckets among them.
func (w *pageWalk) leaf(p page, bounds keyRange) error {
	keys := make([][]byte, p.count())
	for i := range keys {
		element, err := p.element(i)
		if err != nil {
			return err
		}
		flags, at := binary.NativeEndian.Uint32(element), uint64(binary.NativeEndian.Uint32(element[4:]))
		length, size := uint64(binary.NativeEndian.Uint32(element[8:])), uint64(binary.NativeEndian.Uint32(element[12:]))
		whole, err := p.part(i, at, length+size)
		if err != nil {
			return err
		}
		keys[i] = whole[:length]
		if flags == bucketFlag {
			err = w.bucket(p, whole[length:])
		} else if flags != 0 {
			err = p.wrong("element %d has the flags %d", i, flags)
		}
		if err != nil {
			return err
		}
	}
	return p.checkOrder(keys, bounds)
}

// bucket checks the bucket that a value of a leaf is.
func (w *pageWalk) bucket(p page, value []byte) error {
	if len(value) < bucketHeader {
		return p.wrong("a bucket in it is cut off")
	}
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		return w.tree(root, keyRange{})
	}
	inner := page{number: p.number, text: value[bucketHeader:]}
	if len(inner.text) < pageHeader || inner.kind() != leafKind {
		return p.wrong("a small bucket in it is invalid")
	}
	return w.leaf(inner, keyRange{})
}

// freeList checks the list of free pages: with those that were met, it has all pages.
func (w *pageWalk) freeList(number uint64) error {
	p, err := w.read(number)
	if err != nil {
		return err
	}
	if p.kind() != freeKind {
		return p.wrong("it is of the kind %d", p.kind())
	}
	const length = 8
	count, list := uint64(p.count()), p.text[pageHeader:]
	if count == manyFree {
		count, list = binary.NativeEndian.Uint64(list), list[length:]
	}
	if count > uint64(len(list)/length) {
		return p.wrong("it cannot have %d elements", count)
	}
	for i := range count {
		free := binary.NativeEndian.Uint64(list[i*length:])
		if free < 2 || free >= uint64(len(w.seen)) || w.seen[free] {
			return p.wrong("page %d cannot be free", free)
		}
		w.seen[free] = true
	}
	for n := 2; n < len(w.seen); n++ {
		if !w.seen[n] {
			return p.wrong("page %d is neither used nor free", n)
		}
	}
	return nil
}

func (p page) element(i int) ([]byte, error) {
	begin := pageHeader + i*pageElement
	if begin+pageElement > len(p.text) {
		return nil, p.wrong("it cannot have %d elements", p.count())
	}
	return p.text[begin : begin+pageElement], nil
}

// part returns the bytes of an element, which stand a distance behind its head.
func (p page) part(i int, distance, length uint64) ([]byte, error) {
	begin := uint64(pageHeader+i*pageElement) + distance
	if begin+length > uint64(len(p.text)) {
		return nil, p.wrong("element %d ends behind it", i)
	}
	return p.text[begin : begin+length : begin+length], nil
}

// checkOrder checks that keys rise, within bounds.
func (p page) checkOrder(keys [][]byte, bounds keyRange) error {
	for i, key := range keys {
		switch {
		case i > 0 && bytes.Compare(keys[i-1], key) >= 0,
			bounds.from != nil && bytes.Compare(key, bounds.from) < 0,
			bounds.to != nil && bytes.Compare(key, bounds.to) >= 0:
			return p.wrong("the key of element %d is out of order", i)
		}
	}
	return nil
}

// checked is the result of a check of the file.
type checked struct {
	// transaction is the number of the newest transaction whose head is valid.
	transaction uint64
	// hasFallenBack is true if there may have been a newer commit: the other head is invalid, or an unused
	// page is of a newer commit.
	hasFallenBack bool
}

// check checks the heads and all pages of the file before bbolt reads more of it than the
// heads, since damaged pages can make it panic, fault, write over pages that are in use, or
// go on without end.
func (f *file) check() (found checked, err error) {
	db, handle, err := f.openBolt(f.path, f.toCheck())
	if err != nil {
		return checked{}, err
	}
	err = f.guarded("checking", func() (err error) {
		found, err = checkPages(handle, db.Info().PageSize)
		return err
	})
	if isOfSystem(err) {
		return found, f.unavailable("checking", errors.Join(err, db.Close()))
	}
	return found, f.atPath(errors.Join(err, db.Close()))
}

func checkPages(file *os.File, pageSize int) (checked, error) {
	info, err := file.Stat()
	if err != nil {
		return checked{}, err
	}
	heads, err := readHeads(file, pageSize)
	if err != nil {
		return checked{}, err
	}
	newest, err := heads.newest()
	if err != nil {
		return checked{}, err
	}
	if newest.pages > uint64(info.Size())/uint64(pageSize) {
		return checked{}, damaged("it has %d bytes and needs %d pages of %d: its end is missing", info.Size(), newest.pages, pageSize)
	}
	w := pageWalk{file: file, size: pageSize, pages: uint64(info.Size()) / uint64(pageSize), seen: make([]bool, newest.pages)}
	if err := w.check(newest); err != nil {
		return checked{}, damaged("%w", err)
	}
	return checked{
		transaction:   newest.transaction,
		hasFallenBack: heads.hasFallenBack(newest) || w.newestUnused() > newest.transaction,
	}, nil
}

// check checks the trees, and that all other pages are free.
func (w *pageWalk) check(h head) error {
	if err := w.tree(h.root, keyRange{}); err != nil {
		return err
	}
	w.used = slices.Clone(w.seen)
	if h.free == noFreeList { // bbolt then makes one of the trees.
		return nil
	}
	return w.freeList(h.free)
}

// isChecked reports whether the file that is open is the one at the path, and has not been
// written since it was checked.
func (f *file) isChecked(found checked) (bool, error) {
	same, err := f.hasPath()
	if err != nil || !same {
		return false, err
	}
	heads, err := readHeads(f.handle, f.db.Info().PageSize)
	if err != nil {
		return false, err
	}
	newest, err := heads.newest()
	return newest.transaction == found.transaction, err
}

func readHeads(file io.ReaderAt, pageSize int) (both heads, err error) {
	for i := range both {
		text := make([]byte, pageSize)
		if _, err := file.ReadAt(text, int64(i)*int64(pageSize)); err != nil && !errors.Is(err, io.EOF) {
			return both, err
		}
		both[i] = headOf(text)
	}
	return both, nil
}

// Each commit writes its number into the bucket of the format, in the first leaf of the tree of buckets. So
// each such leaf shows its commit. If the leaf of the newest head is of another commit, an old page has taken
// its place. A leaf that no head leads to is older than the newest head, unless a newer commit has no valid
// head: because it was interrupted, or because the pages of the heads are old ones. These two look alike, so
// that the file is taken as it is, and the store reports it.

// checkCommit refuses content of another commit than the head's.
func checkCommit(tx *bbolt.Tx) error {
	number := tx.Bucket([]byte(formatBucket)).Get([]byte(commitKey))
	if len(number) != positionSize { // There was no commit since the file was made.
		return nil
	}
	if found := binary.BigEndian.Uint64(number); found != uint64(tx.ID()) {
		return damaged("its content is that of commit %d, and its head that of commit %d", found, tx.ID())
	}
	return nil
}

// newestUnused returns the greatest number of a commit in a page outside the trees.
func (w *pageWalk) newestUnused() (newest uint64) {
	_ = eachCommit(w.file, w.size, w.pages, func(number, commit uint64) error { // Such a page is not needed.
		if number >= uint64(len(w.used)) || !w.used[number] {
			newest = max(newest, commit)
		}
		return nil
	})
	return newest
}

func eachCommit(file io.ReaderAt, pageSize int, pages uint64, call func(number, commit uint64) error) error {
	text := make([]byte, pageSize)
	for number := uint64(2); number < pages; number++ {
		if _, err := file.ReadAt(text, int64(number)*int64(pageSize)); err != nil {
			return err
		}
		if commit := (page{number: number, text: text}).commit(); commit != 0 {
			if err := call(number, commit); err != nil {
				return err
			}
		}
	}
	return nil
}

// forgetNewer clears, in a copy of the file, the pages that commits wrote during the copy, so that
// they do not look like a lost commit.
func forgetNewer(file *os.File, pageSize int) error {
	heads, err := readHeads(file, pageSize)
	if err != nil {
		return err
	}
	newest, err := heads.newest()
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return eachCommit(file, pageSize, uint64(info.Size())/uint64(pageSize), func(number, commit uint64) error {
		if commit <= newest.transaction {
			return nil
		}
		_, err := file.WriteAt(make([]byte, pageSize), int64(number)*int64(pageSize))
		return err
	})
}

// commit returns the number of the commit in the first leaf of a tree of buckets, or 0 if the page is not
// one.
func (p page) commit() uint64 {
	value := p.value(formatBucket)
	if len(value) < bucketHeader+pageHeader || binary.NativeEndian.Uint64(value) != 0 {
		return 0
	}
	inner := page{number: p.number, text: value[bucketHeader:]}
	number := inner.value(commitKey)
	if len(number) != positionSize {
		return 0
	}
	return binary.BigEndian.Uint64(number)
}

// value returns the value of a key in a leaf, or nil if there is none or the page is not a leaf.
func (p page) value(key string) []byte {
	if p.kind() != leafKind {
		return nil
	}
	for i := range p.count() {
		element, err := p.element(i)
		if err != nil {
			return nil
		}
		at := uint64(binary.NativeEndian.Uint32(element[4:]))
		length, size := uint64(binary.NativeEndian.Uint32(element[8:])), uint64(binary.NativeEndian.Uint32(element[12:]))
		whole, err := p.part(i, at, length+size)
		if err != nil {
			return nil
		}
		if string(whole[:length]) == key {
			return whole[length:]
		}
	}
	return nil
}
