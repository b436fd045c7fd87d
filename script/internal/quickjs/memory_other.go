//go:build !linux

package quickjs

import "bytes"

func reserveMemory(size uint64) []byte { return make([]byte, size) }

func freeMemory([]byte) {}

// image is the initial memory content of several instances. Each instance copies it.
type image struct{ content []byte }

func newImage(content []byte) (*image, error) { return &image{bytes.Clone(content)}, nil }

// mapTo copies the image into memory.
func (i *image) mapTo(bytes []byte) error {
	copy(bytes, i.content)
	return nil
}

// reset restores the image in memory.
func (i *image) reset(memory []byte, _ *[]byte) error { return i.mapTo(memory) }

func (i *image) close() {}
