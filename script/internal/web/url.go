package web

import (
	"regexp"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"github.com/botctx/go-sdk/boterr"
)

// Limits for a URL: its length, and before its query its length and the number of / \ and @ in it. Before the query, the
// parser's time grows with the product of the two, and with the square of a password's length. It parses the rest at some
// 20 MB per second.
const (
	longestURL     = 256 << 10
	longestPath    = 8 << 10
	mostSeparators = 500
)

// urlParser parses URLs by the URL Standard.
type urlParser struct{ whatwg.Parser }

// signedNumber matches hosts that end in a signed number. The parser wrongly reads them as addresses.
var signedNumber = regexp.MustCompile(`(?i)(^|\.)0?x?(\+|-|%2b|%2d)[0-9a-f]+\.?$`)

func newParser() urlParser {
	return urlParser{whatwg.NewParser(whatwg.WithPreParseHostFunc(func(_ *whatwg.Url, host string) string {
		if signedNumber.MatchString(host) {
			return "[" // The parser refuses an unclosed bracket.
		}
		return host
	}))}
}

// urlAsked is a URL, relative to Base if that is not nil. If Set is the name of a part, that part is set to To.
type urlAsked struct {
	URL  string  `json:"url"`
	Base *string `json:"base"`
	Set  string  `json:"set"`
	To   string  `json:"to"`
}

// parse returns the URL's properties by the URL Standard, or nil if the URL is invalid.
func (p urlParser) parse(asked urlAsked) (map[string]string, error) {
	if err := asked.checkLength(); err != nil {
		return nil, err
	}
	var base *whatwg.Url
	var err error
	if asked.Base != nil {
		if base, err = p.Parse(*asked.Base); err != nil {
			return nil, nil //nolint:nilerr,nilnil // The script gets its own error.
		}
	}
	url, err := p.BasicParser(asked.URL, base, nil, whatwg.NoState)
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // As above.
	}
	if set, isThere := setters[asked.Set]; isThere {
		set(url, asked.To)
	}
	return map[string]string{
		"href": url.Href(false), "origin": p.origin(url), "protocol": url.Protocol(), "username": url.Username(),
		"password": url.Password(), "host": url.Host(), "hostname": url.Hostname(), "port": url.Port(), "pathname": url.Pathname(),
		"search": url.Search(), "hash": url.Hash(),
	}, nil
}

// setters set the parts of a URL. As the standard requires, they ignore invalid values.
var setters = map[string]func(*whatwg.Url, string){
	"protocol": (*whatwg.Url).SetProtocol, "username": (*whatwg.Url).SetUsername, "password": (*whatwg.Url).SetPassword,
	"host": (*whatwg.Url).SetHost, "hostname": (*whatwg.Url).SetHostname, "port": (*whatwg.Url).SetPort,
	"pathname": (*whatwg.Url).SetPathname, "search": (*whatwg.Url).SetSearch, "hash": (*whatwg.Url).SetHash,
}

// origin returns the origin of a URL, which is "null" for schemes without one.
func (p urlParser) origin(url *whatwg.Url) string {
	switch url.Scheme() {
	case "http", "https", "ws", "wss", "ftp":
		return url.Protocol() + "//" + url.Host()
	case "blob":
		if inner, err := p.Parse(url.Pathname()); err == nil && strings.HasPrefix(inner.Scheme(), "http") {
			return p.origin(inner)
		}
	}
	return "null"
}

// opaqueData matches data URLs that the parser reads in linear time.
var opaqueData = regexp.MustCompile(`^data:[^/\t\r\n][^\t\r\n]*$`)

// checkLength refuses URLs that would take too long to parse.
func (asked urlAsked) checkLength() error {
	base := ""
	if asked.Base != nil {
		base = *asked.Base
	}
	if longest := max(len(asked.URL), len(base), len(asked.To)); longest > longestURL {
		return boterr.Invalid("", "a URL has at most %d bytes, but this one has %d", longestURL, longest)
	}
	texts := []string{beforeQuery(asked.URL), beforeQuery(base)}
	if asked.Set != "search" && asked.Set != "hash" {
		texts = append(texts, asked.To)
	}
	for _, text := range texts {
		separators := strings.Count(text, "/") + strings.Count(text, `\`) + strings.Count(text, "@")
		if (len(text) > longestPath || separators > mostSeparators) && !opaqueData.MatchString(text) {
			return boterr.Invalid("", "a URL has at most %d bytes and %d of / and @ before its query, but this one has %d and %d",
				longestPath, mostSeparators, len(text), separators)
		}
	}
	return nil
}

func beforeQuery(url string) string {
	if at := strings.IndexAny(url, "?#"); at >= 0 {
		return url[:at]
	}
	return url
}
