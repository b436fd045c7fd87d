package differential

import (
	"encoding/binary"
	"hash/crc64"
	"math/rand/v2"
)

// newSource returns a source of random numbers that follows from data: first its
// bytes, one for each number, so that a fuzzer that changes a byte changes one
// choice, then numbers that follow from all of them.
func newSource(data []byte) rand.Source {
	return &byteSource{data: data, rest: rand.NewPCG(crc64.Checksum(data, crc64.MakeTable(crc64.ISO)), 0)}
}

// byteSource hands out bytes as numbers.
type byteSource struct {
	data []byte
	rest rand.Source
}

// Uint64 implements rand.Source. A byte stands in the highest and the lowest bits,
// since what is made of a number takes it from either end.
func (s *byteSource) Uint64() uint64 {
	if len(s.data) == 0 {
		return s.rest.Uint64()
	}
	var number [8]byte
	for i := range number {
		number[i] = s.data[0]
	}
	s.data = s.data[1:]
	return binary.BigEndian.Uint64(number[:])
}
