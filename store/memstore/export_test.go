package memstore

// WithShortTurns keeps every write from checking its context in its first turn, so that all writes that
// search for documents run without the lock.
func WithShortTurns() Option { return func(s *Store) { s.firstLooks = 0 } }
