package webhook

import (
	"crypto/hmac"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/inbound"
)

// Headers of a signed request.
const (
	HeaderID        = "Webhook-Id"
	HeaderTimestamp = "Webhook-Timestamp"
	HeaderSignature = "Webhook-Signature"
)

const (
	// signatureVersion precedes each signature.
	signatureVersion = "v1,"
	// encodedSecret precedes a base64 secret.
	encodedSecret = "whsec_"
	// minSecretBytes is the shortest secret in bytes, so that secrets cannot be guessed.
	minSecretBytes = 16
	maxIDBytes     = 256
	// maxSignatures limits the number of signatures in a request.
	maxSignatures = 16
)

// Sign sets the signature headers for a request with this id and body, made at the given time. It adds one
// signature for each secret. InvalidArgument: the id is empty, longer than 256 bytes, or contains a dot or
// anything but visible ASCII. FailedPrecondition: there is no secret, or a secret is shorter than 16 bytes or
// not base64 after "whsec_".
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

// Verify checks that one of the secrets signed the request, and that its timestamp is within tolerance of now.
// It returns FailedPrecondition if one of these checks fails, or if a secret is invalid for Sign.
//
// Verify does not detect repeated requests. The receiver must remember the ids.
func Verify(header http.Header, body []byte, now time.Time, tolerance time.Duration, secrets ...channel.Secret) error {
	signed, err := readSignature(header, now, tolerance)
	if err != nil {
		return err
	}
	return signed.verify(body, secrets)
}

// signed has the decoded signature headers.
type signed struct {
	id         string
	timestamp  string
	signatures [][]byte
}

// readSignature decodes the headers. It refuses timestamps outside the tolerance.
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
	if now.Sub(time.Unix(seconds, 0)).Abs() > tolerance {
		return s, boterr.New(boterr.FailedPrecondition, "",
			"the time of the signature is more than %s from now; sign each request when you send it, and check the clocks", tolerance)
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

// verify compares the signatures in constant time.
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
		return boterr.New(boterr.FailedPrecondition, "", "the signature does not match this request with any of the channel's secrets")
	}
	return nil
}

func sum(key []byte, id, timestamp string, body []byte) []byte {
	return inbound.MAC(string(key), id+"."+timestamp+".", body)
}

// CheckSecret returns FailedPrecondition if a secret cannot be used to sign. A host can check its secrets when
// it starts, before the first message.
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
			return nil, boterr.New(boterr.FailedPrecondition, "", "a secret that starts with whsec_ must continue in base64")
		}
		key = decoded
	}
	if len(key) < minSecretBytes {
		return nil, boterr.New(boterr.FailedPrecondition, "",
			"the secret has %d bytes and must have at least %d; create one from random bytes", len(key), minSecretBytes)
	}
	return key, nil
}

// checkID returns an error for an id that cannot be in a header. It also refuses dots, because a dot ends the
// id in the signed text.
func checkID(id string) *boterr.Error {
	isOdd := func(r rune) bool { return r <= ' ' || r > '~' || r == '.' }
	if id == "" || len(id) > maxIDBytes || strings.ContainsFunc(id, isOdd) {
		return boterr.Invalid("id", "must be 1 to %d visible ASCII characters without a dot", maxIDBytes)
	}
	return nil
}
