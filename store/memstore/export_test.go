package memstore

// WithShortTurns allows a write no check of its context in its first turn, so that all writes that search for
// documents run without the lock.
func WithShortTurns() Option { return func(s *Store) { s.firstLooks = 0 } }
