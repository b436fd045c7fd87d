// Package sealed signs and encrypts the messages that the platform Echo sends to a connector, and checks and
// decrypts them. The connector needs one half, the fake of the platform the other.
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

// Sign returns the signature of texts: the SHA-1 of the sorted texts in hexadecimal digits. The order of texts
// does not matter.
func Sign(texts ...string) string {
	sorted := slices.Sorted(slices.Values(texts))
	sum := sha1.Sum([]byte(strings.Join(sorted, ""))) //nolint:gosec // The platform's protocol uses SHA-1.
	return hex.EncodeToString(sum[:])
}

// IsSigned reports whether signature is valid for a token and texts. It compares in constant time. With an empty
// token no signature is valid.
func IsSigned(signature, token string, texts ...string) bool {
	want := Sign(append([]string{token}, texts...)...)
	return token != "" && subtle.ConstantTimeCompare([]byte(want), []byte(signature)) == 1
}

const (
	// keyLength is the length of an encodingAESKey in characters.
	keyLength = 43
	// padTo is the block size for padding, in bytes.
	padTo = 32
	// headLength is the size of the random bytes and of the length field, which precede the message.
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
		return Key{}, errors.New("must be a key of 43 letters and digits")
	}
	block, err := aes.NewCipher(bytes)
	return Key{block: block, iv: bytes[:aes.BlockSize]}, err
}

// errSealed gives no reason, because an attacker could use the reason to guess the content.
var errSealed = errors.New("the message cannot be decrypted")

// Open decrypts a message. It fails if the message is for another application than appID.
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

// Seal encrypts a message for an application. The random bytes precede the message in the plain text, so that
// equal messages look different.
func (k Key) Seal(random [aes.BlockSize]byte, message []byte, appID string) string {
	plain := slices.Clone(random[:])
	plain = binary.BigEndian.AppendUint32(plain, uint32(len(message)))
	plain = append(append(plain, message...), appID...)
	padding := padTo - len(plain)%padTo
	plain = append(plain, bytes.Repeat([]byte{byte(padding)}, padding)...)
	cipher.NewCBCEncrypter(k.block, k.iv).CryptBlocks(plain, plain)
	return base64.StdEncoding.EncodeToString(plain)
}
