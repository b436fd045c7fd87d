package nearest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/nearest"
)

func TestTo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		among []string
		want  string
	}{
		{"coupon", []string{"orders", "coupons"}, "coupons"},
		{"cuopons", []string{"coupons"}, "coupons"},
		{"coupons", []string{"orders", "members"}, ""},
		{"ask", []string{"task", "as"}, "task"},
		{"dya?", []string{"ask", "day?"}, "day?"},
		{"sa", []string{"as"}, "as"},
		{"dacb", []string{"abcd"}, ""},
		{"é", []string{"e"}, "e"},
		{"", nil, ""},
		{"orders", []string{""}, ""},
	} {
		require.Equal(t, c.want, nearest.To(c.name, c.among), "%s among %v", c.name, c.among)
	}
}

// A script may ask for a name of megabytes. It must not be compared letter by letter.
func TestTo_LongName(t *testing.T) {
	t.Parallel()
	require.Empty(t, nearest.To(strings.Repeat("x", 8<<20), slices.Repeat([]string{"the name of a node"}, 1000)))
}
