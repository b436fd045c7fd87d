package charlie

import "sync"

// recentKeys remembers the keys of events that were handled, since the tool may send them again: at
// least the last so many, and at most twice as many.
type recentKeys struct {
	size int

	mu sync.Mutex
	// recent holds the last ones, earlier those before.
	recent, earlier map[string]struct{}
}

func newRecentKeys(size int) *recentKeys {
	return &recentKeys{size: size, recent: map[string]struct{}{}}
}

// add remembers keys, and reports whether none of them was there.
func (m *recentKeys) add(keys []string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range keys {
		_, isRecent := m.recent[key]
		_, isEarlier := m.earlier[key]
		if isRecent || isEarlier {
			return false
		}
	}
	if len(m.recent)+len(keys) > m.size {
		m.earlier, m.recent = m.recent, map[string]struct{}{}
	}
	for _, key := range keys {
		m.recent[key] = struct{}{}
	}
	return true
}

// forget removes keys.
func (m *recentKeys) forget(keys []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range keys {
		delete(m.recent, key)
		delete(m.earlier, key)
	}
}
