package page_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/page"
)

// published are the published checksums of third-party files: htm 3.1.1, whose preact/standalone.module.js
// contains Preact, and the licences of both.
var published = map[string]string{
	"htm-preact-3.1.1.js": "72284e8e9079c87817145df1110f74e8a2aa040b2fc384922e18dfcb46fc1fd7",
	"LICENSE-htm":         "740725f7252e750af735d0028cc534970772f513331e9f68150fede8fb3ce00f",
	"LICENSE-preact":      "1fe6958409c8c257a70c587a18b6f7f412b179b456630790d30b2ec9a8e4b7d4",
}

func TestParts_OfOthersAreAsPublished(t *testing.T) {
	t.Parallel()
	found := map[string]string{}
	vendored, err := fs.ReadDir(page.Parts(), "parts/vendor")
	require.NoError(t, err)
	for _, file := range vendored {
		text, err := fs.ReadFile(page.Parts(), "parts/vendor/"+file.Name())
		require.NoError(t, err)
		digest := sha256.Sum256(text)
		found[file.Name()] = hex.EncodeToString(digest[:])
	}
	require.Equal(t, published, found)
}

func TestServe_SendsAFileOnceWhereItStaysTheSame(t *testing.T) {
	t.Parallel()
	handler := page.Serve(page.Parts())
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/parts/vendor/htm-preact-3.1.1.js", nil)
	first := httptest.NewRecorder()
	handler.ServeHTTP(first, request)
	require.Equal(t, http.StatusOK, first.Code)
	require.Equal(t, "text/javascript; charset=utf-8", first.Header().Get("Content-Type"))
	request.Header.Set("If-None-Match", first.Header().Get("ETag"))
	again := httptest.NewRecorder()
	handler.ServeHTTP(again, request)
	require.Equal(t, http.StatusNotModified, again.Code)
}
