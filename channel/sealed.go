package channel

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
)

// sealed is a text that only this process can read: whoever walks through the fields of a
// value by reflection, as printers of values in tests do, sees nothing of it. Equal texts are
// sealed equally, so that values which hold them can be compared.
type sealed string

// sealer seals texts with keys of this process.
type sealer struct {
	block cipher.Block
	mac   []byte
}

// seals is made when the process begins, and never changes.
var seals = newSealer()

func newSealer() sealer {
	keys := make([]byte, 48)
	rand.Read(keys)
	block, err := aes.NewCipher(keys[:16])
	if err != nil {
		panic(err) // The length of the key is right.
	}
	return sealer{block: block, mac: keys[16:]}
}

// seal seals a text. "" stays "".
func seal(text string) sealed {
	if text == "" {
		return ""
	}
	mac := hmac.New(sha256.New, seals.mac)
	mac.Write([]byte(text))
	out := make([]byte, aes.BlockSize+len(text))
	copy(out, mac.Sum(nil)[:aes.BlockSize])
	cipher.NewCTR(seals.block, out[:aes.BlockSize]).XORKeyStream(out[aes.BlockSize:], []byte(text))
	return sealed(out)
}

// open returns the text that was sealed.
func (s sealed) open() string {
	if s == "" {
		return ""
	}
	text := make([]byte, len(s)-aes.BlockSize)
	cipher.NewCTR(seals.block, []byte(s[:aes.BlockSize])).XORKeyStream(text, []byte(s[aes.BlockSize:]))
	return string(text)
}
