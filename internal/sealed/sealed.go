// Package sealed signs and encrypts reports of channels of type echo. The connector checks and opens them. The
// platform's fake signs and seals them.
package sealed

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha1" //nolint:gosec // The platform signs with it.
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
)

// Sign returns the signature of texts in any order: the SHA-1 of the sorted texts in hexadecimal.
func Sign(texts ...string) string {
	sorted := slices.Sorted(slices.Values(texts))
	sum := sha1.Sum([]byte(strings.Join(sorted, ""))) //nolint:gosec // The platform signs with it.
	return hex.EncodeToString(sum[:])
}

// IsSigned reports, in constant time, whether a signature is valid for a token and texts. It is false if the token is
// empty.
func IsSigned(signature, token string, texts ...string) bool {
	want := Sign(append([]string{token}, texts...)...)
	return token != "" && subtle.ConstantTimeCompare([]byte(want), []byte(signature)) == 1
}

const (
	// keyLength is the length of an encodingAESKey in characters.
	keyLength = 43
	// padTo is the multiple of bytes to which messages are padded.
	padTo = 32
	// headLength is the number of bytes before the message: the random bytes and the message's length.
	headLength = aes.BlockSize + 4
)

// Key is an AES-256 key.
type Key struct {
	block cipher.Block
	iv    []byte
}

// ParseKey reads an encodingAESKey: 43 letters and digits.
func ParseKey(text string) (Key, error) {
	bytes, err := base64.StdEncoding.DecodeString(text + "=")
	if err != nil || len(text) != keyLength {
		return Key{}, errors.New("is not a key of 43 letters and digits")
	}
	block, err := aes.NewCipher(bytes)
	return Key{block: block, iv: bytes[:aes.BlockSize]}, err
}

// errSealed hides the reason, because it would help to guess the content.
var errSealed = errors.New("the message cannot be opened")

// Open returns a sealed message. It fails if the message is for another application.
func (k Key) Open(text, appID string) ([]byte, error) {
	sealed, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(sealed) < padTo || len(sealed)%aes.BlockSize != 0 {
		return nil, errSealed
	}
	cipher.NewCBCDecrypter(k.block, k.iv).CryptBlocks(sealed, sealed)
	padding := int(sealed[len(sealed)-1])
	if padding < 1 || padding > padTo || padding > len(sealed)-headLength {
		return nil, errSealed
	}
	content := sealed[:len(sealed)-padding]
	length := uint64(binary.BigEndian.Uint32(content[aes.BlockSize:headLength]))
	content = content[headLength:]
	if length > uint64(len(content)) || subtle.ConstantTimeCompare(content[length:], []byte(appID)) != 1 {
		return nil, errSealed
	}
	return content[:length], nil
}

// Seal seals a message for an application. The random bytes are the first 16 of the plain text.
func (k Key) Seal(random [aes.BlockSize]byte, message []byte, appID string) string {
	plain := slices.Clone(random[:])
	plain = binary.BigEndian.AppendUint32(plain, uint32(len(message)))
	plain = append(append(plain, message...), appID...)
	padding := padTo - len(plain)%padTo
	plain = append(plain, bytes.Repeat([]byte{byte(padding)}, padding)...)
	cipher.NewCBCEncrypter(k.block, k.iv).CryptBlocks(plain, plain)
	return base64.StdEncoding.EncodeToString(plain)
}
