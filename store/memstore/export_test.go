package memstore

// WithShortTurns lets no write look at its context in its first turn, so that all that look
// for documents run beside it.
func WithShortTurns() Option { return func(s *Store) { s.firstLooks = 0 } }
