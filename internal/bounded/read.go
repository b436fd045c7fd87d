package bounded

import (
	"fmt"
	"io"
)

// TooLongError is the error for a response that is longer than its limit.
type TooLongError struct {
	// Most is the limit in bytes.
	Most int64
}

// Error implements error.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("the response is longer than the limit of %d bytes", e.Most)
}

// Reader limits how many bytes of another reader can be read.
type Reader struct {
	inner io.Reader
	left  int64
	over  error
	ended error // The first error, such as io.EOF. Read returns it from then on.
}

// NewReader returns a Reader for up to most bytes. If inner has more, reading fails with over.
func NewReader(inner io.Reader, most int64, over error) *Reader {
	return &Reader{inner: inner, left: most, over: over}
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	if r.ended != nil {
		return 0, r.ended
	}
	if int64(len(p))-1 > r.left {
		p = p[:r.left+1] // Read one byte more than allowed, to detect a longer input.
	}
	n, err := r.inner.Read(p)
	if int64(n) > r.left {
		n, err = int(r.left), r.over
	}
	r.left -= int64(n)
	r.ended = err
	return n, err
}

// ReadAll reads a whole response. If the response has more than most bytes, the error is a
// *TooLongError.
func ReadAll(answer io.Reader, most int64) ([]byte, error) {
	return io.ReadAll(NewReader(answer, most, &TooLongError{Most: most}))
}
