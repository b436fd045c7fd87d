//go:build !linux

package quickjs

import "bytes"

func reserveMemory(size uint64) []byte { return make([]byte, size) }

func freeMemory([]byte) {}

// image is the initial content of the memory of several instances. Each has a copy of it.
type image struct{ content []byte }

func newImage(content []byte) (*image, error) { return &image{bytes.Clone(content)}, nil }

// mapTo makes memory begin with the image.
func (i *image) mapTo(bytes []byte) error {
	copy(bytes, i.content)
	return nil
}

// reset makes memory the image again.
func (i *image) reset(memory []byte, _ *[]byte) error { return i.mapTo(memory) }

func (i *image) close() {}
