package bolt

import (
	"encoding/binary"
	"hash/crc32"
	"hash/fnv"
)

// The pages 0 and 1 are the heads of bbolt's file. A commit writes its pages, waits for the disk,
// writes the head of the number of its transaction modulo 2, and waits again. Where the newer head
// is invalid, bbolt takes the other, and with it the state before. That is right for a commit that
// a crash interrupted; but where the head was damaged later, a commit that was answered is lost.
//
// So once the disk has a commit, and before it is answered, a note of it is written into the page
// of the other head, behind the part that bbolt uses. The disk is not waited for: the note survives
// the end of the process at once, and that of the machine when the system has written it, within
// seconds or with the next commit. A commit with a note and without a head is damage. One without a
// note was interrupted, or answered just before the power failed: these two cannot be told apart,
// so that the file is taken as it is, and the store reports it.

// head is one of the heads.
type head struct {
	holds bool
	// root and free are the pages with the root of the trees and the list of free pages,
	// pages the number of pages in use, all of which lie before the others.
	root, free, pages uint64
	transaction       uint64
	// noted is the transaction of the note in the page, 0 for none.
	noted uint64
}

type heads [2]head

const (
	// boltMagic is the number with which a head begins, boltVersion the one that follows.
	boltMagic   = 0xED0CDAED
	boltVersion = 2
	// Magic (4), version (4), size of pages (4), flags (4), root (8), sequence of the root (8),
	// list of free pages (8), pages in use (8), transaction (8), and FNV-1a of all that (8).
	headSum = 56
	// noFreeList is the page of the list of free pages where the file has none.
	noFreeList = ^uint64(0)

	// noteAt is where the note stands in a page: in another sector than the head.
	noteAt     = 512
	noteLength = 12
)

// headOf reads a head from its page.
func headOf(page []byte) (h head) {
	if noted := page[noteAt:][:noteLength]; binary.LittleEndian.Uint32(noted[8:]) == noteSum(noted[:8]) {
		h.noted = binary.LittleEndian.Uint64(noted)
	}
	text := page[pageHeader:]
	number := func(at int) uint64 { return binary.NativeEndian.Uint64(text[at:]) }
	sum := fnv.New64a()
	_, _ = sum.Write(text[:headSum]) // It never fails.
	h.holds = binary.NativeEndian.Uint32(text) == boltMagic &&
		binary.NativeEndian.Uint32(text[4:]) == boltVersion && number(headSum) == sum.Sum64()
	if h.holds {
		h.root, h.free, h.pages, h.transaction = number(16), number(32), number(40), number(48)
	}
	return h
}

// newest returns the head that bbolt takes, or an error where a later commit was answered.
func (both heads) newest() (head, error) {
	newest := both[0]
	if !newest.holds || both[1].holds && both[1].transaction > newest.transaction {
		newest = both[1]
	}
	switch noted := max(both[0].noted, both[1].noted); {
	case !newest.holds:
		return head{}, damaged("neither of its first two pages holds")
	case noted > newest.transaction:
		return head{}, damaged("page %d does not hold, and with it the commit %d, which was answered, is lost", noted%2, noted)
	default:
		return newest, nil
	}
}

// hasFallenBack reports whether the other head may have been that of a commit later than the newest
// valid one. Where its page still has the note of the newest commit, no later commit has reached
// the disk.
func (both heads) hasFallenBack(newest head) bool {
	for _, h := range both {
		if !h.holds && h.noted != newest.transaction {
			return true
		}
	}
	return false
}

// note notes that the disk has a transaction. A note that cannot be written matters only where the
// head is damaged as well.
func (f *file) note(transaction int) {
	if f.settings.noSync {
		return // The disk may have the note before it has the transaction.
	}
	text := binary.LittleEndian.AppendUint64(make([]byte, 0, noteLength), uint64(transaction))
	text = binary.LittleEndian.AppendUint32(text, noteSum(text))
	other := int64(1 - transaction%2)
	_, _ = f.handle.WriteAt(text, other*int64(f.db.Info().PageSize)+noteAt)
}

// noteSum returns the checksum of a note.
func noteSum(text []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte("answered"), castagnoli), castagnoli, text)
}
