package hostile

import (
	"context"

	"github.com/botctx/go-sdk/store"
)

// collections are those that a filled store has.
func collections() []string { return []string{"data/app/things", "members", "assignments"} }

// Sizes are those of the documents of a store in bytes, in the order of insertion.
type Sizes [][]int

// SizesOf returns the sizes of the documents in a store.
func SizesOf(ctx context.Context, database store.Store) (Sizes, error) {
	var sizes Sizes
	for _, name := range collections() {
		documents, err := database.Collection(name).Find(ctx, nil, store.FindOptions{})
		if err != nil {
			return nil, err
		}
		list := make([]int, len(documents))
		for i, d := range documents {
			list[i] = d.Size()
		}
		sizes = append(sizes, list)
	}
	return sizes, nil
}

// Difference is the number of bytes by which documents have grown or shrunk, and of those
// that were added.
func (s Sizes) Difference(later Sizes) int {
	bytes := 0
	for i, list := range later {
		for j, size := range list {
			before := 0
			if j < len(s[i]) {
				before = s[i][j]
			}
			bytes += max(size-before, before-size)
		}
	}
	return bytes
}
