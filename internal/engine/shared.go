package engine

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// Shared is a Transaction of a database that other processes may change concurrently. Its View shows the content at
// some moment, and may be out of date. So a write locks the documents that it changes and reads them again. Locks
// last until the end of the transaction.
type Shared interface {
	Transaction

	// LockID locks the document with an _id, and returns its current version.
	LockID(id any) (found Placed, exists bool, err error)
	// Lock locks the documents at ascending positions, and returns the current versions of the ones that still
	// exist.
	Lock(positions []uint64) ([]Placed, error)
	// LockFree locks the first document, among the given positions, that no other transaction has locked. It
	// returns the current version.
	LockFree(positions []uint64) (found Placed, exists bool, err error)
	// LockNext locks the first document in a part of an index that no other transaction has locked. The part is one
	// range of keys, in the order of entries.
	LockNext(r Range) (found Placed, exists bool, err error)
}

// ErrAgain ends an attempt of a write because other writes have changed the documents that it read. The database runs
// the write again in another Transaction.
var ErrAgain error = boterr.New(boterr.Unavailable, "", "other writes came first; repeat this one")

// locking decides how a write locks the first matching document. Each attempt may do it differently.
type locking struct {
	// isPatient is true if the write waits for the first match while others change it. Claims do not wait.
	isPatient bool
	// lost is the number of attempts that found no free document.
	lost int
	// waits is true if the current attempt waits for the first document.
	waits bool
}

// fewCandidates is the number of documents among which a claim looks for a free one.
const fewCandidates = 16

// first returns the first matching document. If others can change it, it is locked. A nil change means a removal.
func (m *matched) first(
	call *query.Evaluation, t Transaction, change *query.Change,
) (found Placed, exists bool, err error) {
	shared, isShared := t.(Shared)
	if !isShared {
		return t.View().first(call, m.filter, m.sort)
	}
	if id, isID := idOf(m.filter); isID && m.sort == nil {
		return m.lockID(call, shared, id)
	}
	return m.lockFirst(call, shared, change)
}

func (m *matched) lockID(call *query.Evaluation, t Shared, id any) (found Placed, exists bool, err error) {
	if err := call.Err(); err != nil {
		return found, false, err
	}
	found, exists, err = t.LockID(id)
	if exists && err == nil {
		exists, err = m.Matches(call, found.Document)
	}
	return found, exists, err
}

// isClaim reports whether a document no longer matches once it is changed, such as when one of several workers
// claims it. Such a write may take a document while others are changing an earlier one.
func (m *matched) isClaim(call *query.Evaluation, change *query.Change, o document.Object) bool {
	if change == nil {
		return true
	}
	after, _, err := call.Change(*change, m.filter, o)
	if err != nil {
		return false
	}
	matches, err := call.Check(m.filter, after)
	return err == nil && !matches
}

// lockFirst locks the first matching document. A claim takes the first free one, and waits only if none is free.
func (m *matched) lockFirst(
	call *query.Evaluation, t Shared, change *query.Change,
) (found Placed, exists bool, err error) {
	v := t.View()
	p := v.planFor(m.filter, m.sort)
	m.locking.waits = m.locking.isPatient || m.locking.lost > 1
	if !m.locking.waits && p.isQueue(m.sort) {
		if found, exists, err = m.lockNext(call, t, &p, change); exists || err != nil {
			return found, exists, err
		}
		m.locking.waits = true // Other transactions may have locked all matching documents.
	}
	most := 1
	if !m.locking.waits && m.locking.lost > 0 && (m.sort == nil || p.sorted) {
		most = fewCandidates
	}
	candidates, err := v.candidates(call, m.filter, m.sort, most)
	if err != nil || len(candidates) == 0 {
		return found, false, err
	}
	if found, exists, err = m.lockOneOf(call, t, change, candidates); err != nil {
		return found, false, err
	}
	if !exists {
		return found, false, ErrAgain
	}
	return found, true, m.checkLocked(call, change, candidates, found)
}

// checkLocked returns ErrAgain if the locked document is not the one to change.
func (m *matched) checkLocked(
	call *query.Evaluation, change *query.Change, candidates []Placed, locked Placed,
) error {
	at := slices.IndexFunc(candidates, func(c Placed) bool { return c.Position == locked.Position })
	if at < 0 {
		return ErrAgain
	}
	if at > 0 && !m.isClaim(call, change, locked.Document) {
		m.locking.isPatient = true
		return ErrAgain
	}
	return m.checkSame(call, candidates[at].Document, locked.Document)
}

// lockOneOf locks the first free candidate. If the write waits, it locks the first candidate.
func (m *matched) lockOneOf(
	call *query.Evaluation, t Shared, change *query.Change, candidates []Placed,
) (found Placed, exists bool, err error) {
	if !m.locking.waits {
		m.locking.lost++
		found, exists, err = t.LockFree(positionsOf(candidates))
		if err != nil || exists || m.isClaim(call, change, candidates[0].Document) {
			return found, exists, err
		}
	}
	m.locking.lost = 0
	return lockOne(t, candidates[0].Position)
}

// lockNext locks the first free match with a plan that only finds matches. A write that is not a claim needs the
// first match even if that is locked: the error is then ErrAgain, and the next attempt waits.
func (m *matched) lockNext(
	call *query.Evaluation, t Shared, p *plan, change *query.Change,
) (found Placed, exists bool, err error) {
	if err := call.Err(); err != nil {
		return found, false, err
	}
	if found, exists, err = t.LockNext(p.rangeOf()); err != nil || !exists {
		return found, false, err
	}
	if matches, err := m.Matches(call, found.Document); err != nil || !matches {
		return found, false, cmp.Or(err, ErrAgain)
	}
	if m.isClaim(call, change, found.Document) {
		return found, true, nil
	}
	first, exists, err := t.View().first(call, m.filter, m.sort)
	if err == nil && (!exists || first.Position != found.Position) {
		m.locking.isPatient = true
		err = ErrAgain
	}
	return found, err == nil, err
}

// isQueue reports whether the plan's part of the index starts with the first matching document.
func (p *plan) isQueue(sort *query.Sort) bool {
	isInOrder := sort != nil && p.sorted || sort == nil && p.isOneKey()
	return p.index != nil && p.geo == nil && p.exact && len(p.ranges) == 1 && isInOrder
}

// candidates returns up to most matching documents: the first ones in the order of a sort.
func (v View) candidates(call *query.Evaluation, filter *query.Filter, sort *query.Sort, most int) (found []Placed, err error) {
	if most == 1 {
		first, exists, err := v.first(call, filter, sort)
		if exists {
			found = append(found, first)
		}
		return found, err
	}
	p := v.planFor(filter, sort)
	p.hint = int64(most)
	err = v.run(&search{call: call, filter: filter, plan: p, to: Yield(func(position uint64, o document.Object) bool {
		found = append(found, Placed{Document: o, Position: position})
		return len(found) < most
	})})
	return found, err
}

// lockOne locks a document. It waits for transactions that have locked it.
func lockOne(t Shared, position uint64) (found Placed, exists bool, err error) {
	all, err := t.Lock([]uint64{position})
	if err != nil || len(all) == 0 {
		return found, false, err
	}
	return all[0], true, nil
}

func positionsOf(found []Placed) []uint64 {
	positions := make([]uint64, len(found))
	for i := range found {
		positions[i] = found[i].Position
	}
	return positions
}

// checkSame returns ErrAgain if the current version of a found document is no longer the one to change.
func (m *matched) checkSame(call *query.Evaluation, found, now document.Object) error {
	matches, err := m.Matches(call, now)
	if err != nil {
		return err
	}
	isMoved := m.sort != nil && call.Compare(m.sort, found, now) != 0 ||
		m.filter.Near() != nil && !bytes.Equal(AppendDocument(nil, found), AppendDocument(nil, now))
	if !matches || isMoved {
		return ErrAgain
	}
	return nil
}

// lockedAtOnce is the number of documents that a write to many documents locks, and so holds in memory, at once.
const lockedAtOnce = 500

// each calls do with all documents that match before the write. If others can change them, they are locked.
func (m *matched) each(call *query.Evaluation, t Transaction, do func(Placed) error) error {
	shared, isShared := t.(Shared)
	_, isRecorder := t.(Recorder)
	var found []Placed
	var positions []uint64
	var failed error
	err := t.View().visit(call, m.filter, Yield(func(position uint64, o document.Object) bool {
		switch {
		case isShared:
			positions = append(positions, position)
		case isRecorder:
			failed = do(Placed{Document: o, Position: position})
		default:
			found = append(found, Placed{Document: o, Position: position})
		}
		return failed == nil
	}))
	if err := cmp.Or(failed, err); err != nil {
		return err
	}
	if isShared {
		return m.eachLocked(call, shared, positions, do)
	}
	for _, one := range found {
		if err := do(one); err != nil {
			return err
		}
	}
	return nil
}

// eachLocked is each for documents that were found. It locks them in the order of their positions to avoid deadlocks.
func (m *matched) eachLocked(call *query.Evaluation, t Shared, positions []uint64, do func(Placed) error) error {
	slices.Sort(positions)
	for part := range slices.Chunk(positions, lockedAtOnce) {
		found, err := t.Lock(part)
		if err != nil {
			return err
		}
		for _, one := range found {
			matches, err := m.Matches(call, one.Document)
			if err == nil && matches {
				err = do(one)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}
