package sealed_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/sealed"
)

const (
	encodingKey = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"
	appID       = "wx1"
)

// vector is a test vector of the platform: a message with its signature and encrypted form.
type vector struct {
	Timestamp    string `json:"timestamp"`
	Nonce        string `json:"nonce"`
	WrongNonce   string `json:"wrongNonce"`
	Echostr      string `json:"echostr"`
	Encrypt      string `json:"encrypt"`
	Random       string `json:"random"`
	Plain        string `json:"plain"`
	Content      string `json:"content"`
	MsgSignature string `json:"msg_signature"`
	Token        string `json:"token"`
	Signature    string `json:"signature"`
}

type vectors struct {
	Token          string `json:"token"`
	EncodingAESKey string `json:"encodingAESKey"`
	AppID          string `json:"appId"`
	Echo           vector `json:"echo"`
	Incoming       vector `json:"incoming"`
	Reply          vector `json:"reply"`
	PlainMode      vector `json:"plainMode"`
}

// read returns the platform's test vectors, or skips the test if they are not installed.
func read(t *testing.T) vectors {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "data", "platforms", "echo", "crypto-vectors.json"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the platform's test vectors (crypto-vectors.json) are not next to this repository; the other tests do not need them")
	}
	require.NoError(t, err)
	var all vectors
	require.NoError(t, json.Unmarshal(text, &all))
	return all
}

func key(tb testing.TB, text string) sealed.Key {
	tb.Helper()
	parsed, err := sealed.ParseKey(text)
	require.NoError(tb, err)
	return parsed
}

func TestOpen_PlatformsVectors(t *testing.T) {
	t.Parallel()
	v := read(t)
	k := key(t, v.EncodingAESKey)
	require.True(t, sealed.IsSigned(v.Echo.MsgSignature, v.Token, v.Echo.Timestamp, v.Echo.Nonce, v.Echo.Echostr))
	require.False(t, sealed.IsSigned(v.Echo.MsgSignature, v.Token, v.Echo.Timestamp, v.Echo.WrongNonce, v.Echo.Echostr))
	opened, err := k.Open(v.Echo.Echostr, v.AppID)
	require.NoError(t, err)
	require.Equal(t, v.Echo.Plain, string(opened))

	require.True(t, sealed.IsSigned(v.Incoming.MsgSignature, v.Token, v.Incoming.Timestamp, v.Incoming.Nonce, v.Incoming.Encrypt))
	opened, err = k.Open(v.Incoming.Encrypt, v.AppID)
	require.NoError(t, err)
	require.Contains(t, string(opened), "<Content><![CDATA["+v.Incoming.Content+"]]></Content>")
	_, err = k.Open(v.Incoming.Encrypt, v.AppID+"x")
	require.Error(t, err, "it is for another application")
}

func TestSeal_PlatformsVectors(t *testing.T) {
	t.Parallel()
	v := read(t)
	got := key(t, v.EncodingAESKey).Seal([16]byte([]byte(v.Reply.Random)), []byte(v.Reply.Plain), v.AppID)
	require.Equal(t, v.Reply.Encrypt, got)
	require.Equal(t, v.Reply.MsgSignature, sealed.Sign(v.Token, v.Reply.Timestamp, v.Reply.Nonce, got))
	require.Equal(t, v.PlainMode.Signature, sealed.Sign(v.PlainMode.Token, v.PlainMode.Timestamp, v.PlainMode.Nonce))
}

func TestIsSigned_EmptyTokenSignsNothing(t *testing.T) {
	t.Parallel()
	require.False(t, sealed.IsSigned(sealed.Sign("", "1", "2"), "", "1", "2"))
	require.True(t, sealed.IsSigned(sealed.Sign("t", "1", "2"), "t", "2", "1"))
}

func TestParseKey_Refuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "abc", encodingKey + "H", strings.Repeat("!", 43), encodingKey[:42] + "="} {
		_, err := sealed.ParseKey(text)
		require.Error(t, err, text)
	}
}

func TestSeal_OpensAgain(t *testing.T) {
	t.Parallel()
	k := key(t, encodingKey)
	for length := range 70 {
		message := strings.Repeat("x", length)
		opened, err := k.Open(k.Seal([16]byte{}, []byte(message), appID), appID)
		require.NoError(t, err)
		require.Equal(t, message, string(opened))
	}
}

func FuzzOpen(f *testing.F) {
	k := key(f, encodingKey)
	f.Add(k.Seal([16]byte{1}, []byte("<xml/>"), appID))
	f.Add("")
	f.Add(strings.Repeat("A", 64))
	f.Fuzz(func(t *testing.T, text string) {
		opened, err := k.Open(text, appID)
		require.True(t, err == nil || opened == nil)
	})
}
