package bounded

import (
	"fmt"
	"io"
)

// TooLongError is the error for reading more than a limit.
type TooLongError struct {
	// Most is the limit in bytes.
	Most int64
}

// Error implements error.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("the answer has more than %d bytes", e.Most)
}

// Reader reads another reader up to a limit.
type Reader struct {
	inner io.Reader
	left  int64
	over  error
	ended error // the error that ended the reader; later reads return it again
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
		p = p[:r.left+1] // One byte more, to detect a longer input.
	}
	n, err := r.inner.Read(p)
	if int64(n) > r.left {
		n, err = int(r.left), r.over
	}
	r.left -= int64(n)
	r.ended = err
	return n, err
}

// ReadAll reads at most most bytes. If there are more, the error is a *TooLongError.
func ReadAll(answer io.Reader, most int64) ([]byte, error) {
	return io.ReadAll(NewReader(answer, most, &TooLongError{Most: most}))
}
