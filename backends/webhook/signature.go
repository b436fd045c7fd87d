package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
)

// The headers of a signed request.
const (
	HeaderID        = "Webhook-Id"
	HeaderTimestamp = "Webhook-Timestamp"
	HeaderSignature = "Webhook-Signature"
)

const (
	// signatureVersion stands before each signature.
	signatureVersion = "v1,"
	// encodedSecret stands before a secret that is base64.
	encodedSecret = "whsec_"
	// minSecretBytes is the length below which a secret can be guessed.
	minSecretBytes = 16
	// maxIDBytes is the length of the longest id.
	maxIDBytes = 256
	// maxSignatures is how many signatures of one request are looked at.
	maxSignatures = 16
)

// Sign sets the headers that sign a request of an id with a body at a time, once for each
// secret. InvalidArgument: the id is empty, longer than 256 bytes or has other than visible
// ASCII characters or a dot. FailedPrecondition: there is no secret, or one is shorter than
// 16 bytes or no base64 behind "whsec_".
func Sign(header http.Header, id string, at time.Time, body []byte, secrets ...channel.Secret) error {
	if err := checkID(id); err != nil {
		return err
	}
	timestamp := strconv.FormatInt(at.Unix(), 10)
	signatures := make([]string, 0, len(secrets))
	for _, secret := range secrets {
		key, err := keyOf(secret)
		if err != nil {
			return err
		}
		signature := base64.StdEncoding.EncodeToString(sum(key, id, timestamp, body))
		signatures = append(signatures, signatureVersion+signature)
	}
	if len(signatures) == 0 {
		return boterr.New(boterr.FailedPrecondition, "", "there is no secret to sign with: give at least one")
	}
	header.Set(HeaderID, id)
	header.Set(HeaderTimestamp, timestamp)
	header.Set(HeaderSignature, strings.Join(signatures, " "))
	return nil
}

// Verify checks that one of the secrets has signed a request at a time that is not further
// from now than the tolerance. FailedPrecondition otherwise; what is wrong with the secrets
// themselves is told as Sign does.
//
// A request that is sent once more passes again: a receiver keeps the ids to tell them.
func Verify(header http.Header, body []byte, now time.Time, tolerance time.Duration, secrets ...channel.Secret) error {
	signed, err := readSignature(header, now, tolerance)
	if err != nil {
		return err
	}
	return signed.verify(body, secrets)
}

// signed is what the headers of a request say.
type signed struct {
	id         string
	timestamp  string
	signatures [][]byte
}

// readSignature reads the headers, and refuses a time that is too far away.
func readSignature(header http.Header, now time.Time, tolerance time.Duration) (signed, error) {
	var s signed
	for name, into := range map[string]*string{HeaderID: &s.id, HeaderTimestamp: &s.timestamp} {
		values := header.Values(name)
		if len(values) != 1 {
			return s, boterr.New(boterr.FailedPrecondition, "", "the request must have the header %s exactly once", strings.ToLower(name))
		}
		*into = values[0]
	}
	if err := checkID(s.id); err != nil {
		return s, boterr.New(boterr.FailedPrecondition, "", "%s", err.Message())
	}
	seconds, err := strconv.ParseInt(s.timestamp, 10, 64)
	if err != nil {
		return s, boterr.New(boterr.FailedPrecondition, "", "the header webhook-timestamp must be a number of seconds")
	}
	// The distance is taken in seconds: as a Duration that of a far year would overflow.
	distance := float64(seconds) - float64(now.UnixMilli())/1000
	if limit := tolerance.Seconds(); distance > limit || distance < -limit {
		return s, boterr.New(boterr.FailedPrecondition, "",
			"the time of the signature is more than %s from now; sign each request anew, and set the clock", tolerance)
	}
	for i, text := range strings.Fields(strings.Join(header.Values(HeaderSignature), " ")) {
		encoded, isKnown := strings.CutPrefix(text, signatureVersion)
		signature, err := base64.StdEncoding.DecodeString(encoded)
		if isKnown && err == nil && i < maxSignatures {
			s.signatures = append(s.signatures, signature)
		}
	}
	return s, nil
}

// verify checks that one of the secrets made one of the signatures, in a time that does not
// depend on how much of it is right.
func (s signed) verify(body []byte, secrets []channel.Secret) error {
	isSigned := false
	for _, secret := range secrets {
		key, err := keyOf(secret)
		if err != nil {
			return err
		}
		expected := sum(key, s.id, s.timestamp, body)
		for _, signature := range s.signatures {
			isSigned = hmac.Equal(signature, expected) || isSigned
		}
	}
	if !isSigned {
		return boterr.New(boterr.FailedPrecondition, "", "the signature is not that of a known secret over this request")
	}
	return nil
}

func sum(key []byte, id, timestamp string, body []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	return mac.Sum(nil)
}

// CheckSecret refuses a secret that could not sign, as FailedPrecondition: a host asks when it
// starts, and not when the first message comes.
func CheckSecret(secret channel.Secret) error {
	_, err := keyOf(secret)
	return err
}

func keyOf(secret channel.Secret) ([]byte, error) {
	text := secret.Reveal()
	key := []byte(text)
	if encoded, isEncoded := strings.CutPrefix(text, encodedSecret); isEncoded {
		decoded, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return nil, boterr.New(boterr.FailedPrecondition, "", "a secret that begins with whsec_ must be base64 behind it")
		}
		key = decoded
	}
	if len(key) < minSecretBytes {
		return nil, boterr.New(boterr.FailedPrecondition, "",
			"the secret has %d bytes and must have at least %d; make one at random", len(key), minSecretBytes)
	}
	return key, nil
}

// checkID refuses ids that do not fit into a header, and those with a dot, which would leave
// open where the id ends in what is signed.
func checkID(id string) *boterr.Error {
	isOdd := func(r rune) bool { return r <= ' ' || r > '~' || r == '.' }
	if id == "" || len(id) > maxIDBytes || strings.ContainsFunc(id, isOdd) {
		return boterr.Invalid("id", "must be 1 to %d visible ASCII characters without a dot", maxIDBytes)
	}
	return nil
}
