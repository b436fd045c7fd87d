package outbound

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// setEncoding makes a request ask only for encodings that are decoded. The transport asks for gzip by itself,
// and decodes it, as long as the header Accept-Encoding is not set. InvalidArgument: the header allows neither
// gzip nor identity.
func setEncoding(header http.Header) error {
	asked, isSet := header["Accept-Encoding"]
	header.Del("Accept-Encoding")
	if !isSet {
		return nil
	}
	allowed := encodings(asked)
	if len(allowed) == 0 || slices.ContainsFunc(allowed, func(name string) bool { return name == "gzip" || name == "x-gzip" || name == "*" }) {
		return nil
	}
	if !slices.Contains(allowed, "identity") {
		return boterr.Invalid("headers.Accept-Encoding", "must allow gzip or identity; leave it out, and gzip is asked for and decoded")
	}
	header.Set("Accept-Encoding", "identity")
	return nil
}

// encodings returns the encodings of a header in lower case. Those that it excludes by q=0 are left out; a
// header that only excludes gives an encoding without a name.
func encodings(values []string) []string {
	var names []string
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		name, weight, _ := strings.Cut(strings.ToLower(part), ";")
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(weight), "q="), 64)
		if err == nil && q == 0 {
			name = ""
		}
		names = append(names, name)
	}
	return names
}

// checkEncoding returns an error for a body that is still encoded. Names that are no encoding are ignored, as
// browsers do: servers say utf-8 or aws-chunked of plain bodies.
func checkEncoding(host string, header http.Header) error {
	for _, name := range encodings(header["Content-Encoding"]) {
		switch name {
		case "gzip", "x-gzip", "deflate", "br", "zstd", "compress", "x-compress", "dcb", "dcz":
			return boterr.New(boterr.Unavailable, "", "the response of %s is encoded as %s, which was not asked for", host, name)
		}
	}
	return nil
}
