package display_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/display"
)

func TestVisible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                      "",
		"h\u00e9llo \U0001f469\u200d\U0001f373": "h\u00e9llo \U0001f469\u200d\U0001f373",
		"a\r\nb\tc\n":                           "a\nb\tc\n",
		"a\rb":                                  `a\rb`,
		"\x1b[31m\x00\x7f\u009b":                `\x1b[31m\x00\x7f\u009b`,
		"\xff\xc3":                              `\xff\xc3`,
		"\u202a\u202e\u2066\u2069\u200b\ufeff":  `\u202a\u202e\u2066\u2069\u200b\ufeff`,
		"\u2028\u2029\U000e0041\ue000":          `\u2028\u2029\U000e0041\ue000`,
		"\ufffd":                                "\ufffd",
	} {
		require.Equal(t, want, display.Visible(text))
		require.Equal(t, want, display.Visible(want), "again")
	}
}

func TestError_IsVisible(t *testing.T) {
	t.Parallel()
	const hostile = "a\x1b]0;b\x07\u009b1m\u202ec"
	err := boterr.Wrap("getMember", boterr.Invalid("meta."+hostile, "is %s", hostile))
	require.Equal(t, `getMember: invalid argument: meta.a\x1b]0;b\a\u009b1m\u202ec: is a\x1b]0;b\a\u009b1m\u202ec`, err.Error())
	require.Equal(t, `a\x1b]0;b\a\u009b1m\u202ec`, display.Text(errors.New(hostile)))
}

func TestGoDuration(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"time.Hour": time.Hour, "48*time.Hour": 48 * time.Hour, "90*time.Second": 90 * time.Second, "0": 0, "7": 7, "1500*time.Millisecond": 1500 * time.Millisecond,
	} {
		require.Equal(t, want, display.GoDuration(d))
	}
}
