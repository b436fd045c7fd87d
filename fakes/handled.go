package fakes

import (
	"slices"
	"sync"

	"github.com/botctx/go-sdk/botctx"
)

// handled are the nodes that a platform was given, which its forks are given, too.
type handled struct {
	mu    sync.Mutex
	nodes []*botctx.Node
}

func (h *handled) add(nodes []*botctx.Node) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.nodes = append(h.nodes, nodes...)
}

// set puts nodes in the place of those before.
func (h *handled) set(nodes []*botctx.Node) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.nodes = slices.Clone(nodes)
}

func (h *handled) all() []*botctx.Node {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.nodes)
}
