//go:build !linux

package quickjs

import "bytes"

// reserveMemory returns memory of zeros.
func reserveMemory(size uint64) []byte { return make([]byte, size) }

func freeMemory([]byte) {}

// image is what the memory of several instances begins with. Each has a copy of it.
type image struct{ content []byte }

func newImage(content []byte) (*image, error) { return &image{bytes.Clone(content)}, nil }

// mapTo makes memory begin with the image.
func (i *image) mapTo(bytes []byte) { copy(bytes, i.content) }

func (i *image) close() {}
