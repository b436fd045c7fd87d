package channel_test

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

// heard keeps what a failed assertion prints.
type heard struct{ text strings.Builder }

func (h *heard) Errorf(format string, args ...any) { fmt.Fprintf(&h.text, format, args...) }

func (h *heard) FailNow() { h.text.WriteString("it failed") }

// secretive returns a channel with credentials of each kind, and one that differs in all.
func secretive() (one, other *channel.Channel) {
	with := func(text string, at document.Timestamp) *channel.Channel {
		return &channel.Channel{ID: "c", Type: channel.Bravo, Info: channel.BravoInfo{
			AdminPassword: channel.NewSecret(text), AdminAuthTokenExpiry: channel.NewSecretTime(at),
			Further: channel.Further{Unknown: channel.Hide(document.O("further", document.A(text, at)))},
		}}
	}
	return with("S3CRET99", 1_234_567), with("S3CRET98", 1_234_568)
}

func TestSecret_InFailedComparison(t *testing.T) {
	t.Parallel()
	var h heard
	one, other := secretive()
	require.Equal(&h, one, other)
	require.Contains(t, h.text.String(), "it failed")
	require.Contains(t, h.text.String(), "BravoInfo", "it prints the fields")
	require.NotContains(t, h.text.String(), "S3CRET9")
	require.NotContains(t, h.text.String(), "123456")
	require.NotContains(t, h.text.String(), "further")
}

func TestSecret_UnreachableByReflection(t *testing.T) {
	t.Parallel()
	one, _ := secretive()
	var texts []string
	walk(reflect.ValueOf(one), &texts)
	require.Contains(t, texts, "c", "it reaches what is no credential")
	all := strings.Join(texts, "\n")
	require.NotContains(t, all, "S3CRET99")
	require.NotContains(t, all, "1234567")
}

// walk collects the texts and the numbers that can be reached from a value.
func walk(v reflect.Value, texts *[]string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			walk(v.Elem(), texts)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			walk(field, texts)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			walk(v.Index(i), texts)
		}
	case reflect.Map:
		for key, value := range v.Seq2() {
			walk(key, texts)
			walk(value, texts)
		}
	case reflect.String:
		*texts = append(*texts, v.String())
	case reflect.Int64:
		*texts = append(*texts, strconv.FormatInt(v.Int(), 10))
	default:
	}
}

func TestSecret_Equal(t *testing.T) {
	t.Parallel()
	one, other := secretive()
	same, _ := secretive()
	require.Equal(t, one, same)
	require.NotEqual(t, one, other)
	require.Contains(t, map[channel.Secret]int{channel.NewSecret("a"): 1}, channel.NewSecret("a"), "by ==")
	require.NotContains(t, map[channel.Secret]int{channel.NewSecret("a"): 1}, channel.NewSecret("b"), "by ==")
	require.Equal(t, channel.Secret{}, channel.NewSecret(""))
}

func TestSealed_ComesBackAsItWas(t *testing.T) {
	t.Parallel()
	deep := document.O("end", 1)
	for range 90 {
		deep = document.O("in", deep)
	}
	for _, o := range []document.Object{
		document.O("b", 1, "a", 1.0, "n", nil, "t", true, "s", "o"), document.O("o", document.A("o", document.A(), document.O())),
		document.O("at", time.UnixMilli(17).UTC(), "big", int64(math.MaxInt64), "inf", math.Inf(1)), document.O("", ""), document.O(), deep,
	} {
		require.Equal(t, o.String(), channel.Hide(o).Reveal().String())
		require.True(t, document.Equal(o, channel.Hide(o).Reveal()))
		again := channel.Hide(o)
		require.Equal(t, again, channel.Hide(o))
	}
	require.Zero(t, channel.Hide(document.Object{}))
}

func TestSealed_CannotBeStored(t *testing.T) {
	t.Parallel()
	hidden := channel.Hide(document.O("a", make(chan int)))
	require.False(t, hidden.IsZero())
	_, err := hidden.EncodeValue()
	require.Error(t, err)
}
