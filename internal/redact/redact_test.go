package redact_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/redact"
)

func TestObject(t *testing.T) {
	t.Parallel()
	require.Equal(t,
		document.O("token", "[redacted]", "empty", document.O("secret", ""), "list", document.A(document.O("pwd", "[redacted]"), "api_key=[redacted]", 1)),
		redact.Object(document.O("token", "a", "empty", document.O("secret", ""), "list", document.A(document.O("pwd", 1), "api_key=a", 1))))
	require.Equal(t, document.O(), redact.Object(document.Object{}))
}

// The records on a page may have any number of fields and items. None may copy the others.
func TestObject_WideRecord(t *testing.T) { //nolint:paralleltest // Other tests' allocations would count.
	const many = 4_000
	wide := document.NewBuilder(many)
	items := make([]any, many)
	for i := range many {
		wide.Set(fmt.Sprint("f", i), int64(i))
		items[i] = int64(i)
	}
	o := document.O("wide", wide.Object(), "list", document.ArrayOf(items))
	allocated := func() uint64 {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.TotalAlloc
	}
	before := allocated()
	require.Equal(t, o, redact.Object(o))
	require.Less(t, allocated()-before, uint64(2_000*many))
}
