//go:build !unix

package chaostest

import (
	"errors"
	"os"
)

func freeze(*os.Process) error { return errors.ErrUnsupported }

// thaw would let a frozen process continue.
func thaw(*os.Process) error { return errors.ErrUnsupported }
