package conformance_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/conformance"
)

func TestAtOnce_ReturnsAllResults(t *testing.T) {
	t.Parallel()
	odd := errors.New("odd")
	errs := conformance.AtOnce(4, func(worker int) error {
		if worker%2 == 1 {
			return odd
		}
		return nil
	})
	require.Equal(t, []error{nil, odd, nil, odd}, errs)
}

func TestViolations_KeepReports(t *testing.T) {
	t.Parallel()
	require.Empty(t, conformance.Violations(t.Context(), func(conformance.T) {}))
	reports := conformance.Violations(t.Context(), func(t conformance.T) {
		t.Errorf("rule %d", 1)
		t.Errorf("rule %d", 2)
		t.FailNow()
	})
	require.Equal(t, []string{"rule 1", "rule 2"}, reports)
	reports = conformance.Violations(t.Context(), func(conformance.T) { panic("no such value") })
	require.Equal(t, []string{"the check panicked: no such value"}, reports)
}
