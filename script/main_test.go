package script_test

import (
	"testing"

	"go.uber.org/goleak"
)

// TestMain checks that every run has ended.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
