//go:build !unix

package chaostest

import (
	"errors"
	"os"
)

func freeze(*os.Process) error { return errors.ErrUnsupported }

// thaw resumes a frozen process on other systems.
func thaw(*os.Process) error { return errors.ErrUnsupported }
