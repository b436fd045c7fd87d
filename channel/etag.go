package channel

import (
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
)

// versions returns the app's channels such that the next change gives one of them an etag
// that is later than the one it has.
func (s *Service) versions(etag string) *record.Collection {
	env := s.env
	env.NewEtag = func() string { return etagAfter(etag, env.Now()) }
	return record.OfApp(env, kind, s.scope.App)
}

// etagAfter returns the time in milliseconds as an etag, or the millisecond after that of the
// etag that is there, if that is later. What stands behind a dash in an etag is left out.
func etagAfter(etag string, now time.Time) string {
	next := int64(document.At(now))
	digits, _, _ := strings.Cut(etag, "-")
	if digits == "" {
		return strconv.FormatInt(next, 10)
	}
	if last, err := strconv.ParseInt(digits, 10, 64); err == nil && last >= next {
		next = last + 1
	}
	return strconv.FormatInt(next, 10)
}
