package utility_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/utility"
)

// A log line with many headers must not copy all of them for each.
func TestUploadParams_ManyHeaders(t *testing.T) { //nolint:paralleltest // Other tests' allocations would count.
	const many = 4_000
	headers := document.NewBuilder(many)
	for i := range many {
		headers.Set(fmt.Sprint("x-", i), "secret")
	}
	params := utility.UploadFileToObjectStoreParams{Options: document.O("headers", headers.Object())}
	allocated := func() uint64 {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.TotalAlloc
	}
	before := allocated()
	text := fmt.Sprint(params)
	require.Less(t, allocated()-before, uint64(5_000*many))
	require.Contains(t, text, `"x-3999":"[redacted]"`)
}
