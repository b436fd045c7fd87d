package botctx_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
)

const uploadSecret = "hunter2"

// uploadsWithSecrets are params that hold a secret, some of them refused.
func uploadsWithSecrets(t *testing.T) map[string]botctx.UploadFileToObjectStoreParams {
	t.Helper()
	uploads := map[string]botctx.UploadFileToObjectStoreParams{}
	for _, options := range []string{
		`{"headers": {"Authorization": "hunter2"}}`, `{"headers": {"authorization": "Digest hunter2"}}`,
		`{"headers": {"Cookie": "session=hunter2"}}`, `{"headers": {"X-Shop": "a\"hunter2"}}`,
		`{"headers": {"Authorization: hunter2": ""}}`, `{"headers": "Cookie: hunter2"}`, `{"headers": {"Accept": ["hunter2"]}}`,
		`{"body": "user=ada&pin=hunter2"}`, `{"body": {"pin": ["hunter2"]}}`, `{"body": ["hunter2"]}`,
		`{"method": "GET / hunter2"}`, `{"encoding": "hunter2"}`, `{"auth": {"user": "hunter2"}}`,
	} {
		var read document.Object
		require.NoError(t, read.UnmarshalJSON([]byte(options)))
		uploads[options] = newUpload(func(p *botctx.UploadFileToObjectStoreParams) { p.Options = read })
	}
	for _, url := range []string{
		"https://shop.example/a?sig=hunter2", "https://shop.example/a?sig=it's-hunter2", "https://ada:hunter2@shop.example/a",
		"https://shop.example/a#hunter2", "mailto:hunter2", "https://shop.example:hunter2/",
	} {
		uploads[url] = newUpload(func(p *botctx.UploadFileToObjectStoreParams) { p.URL = url })
	}
	return uploads
}

func TestUpload_LogsNoSecret(t *testing.T) {
	t.Parallel()
	for name, params := range uploadsWithSecrets(t) {
		var log strings.Builder
		slog.New(slog.NewJSONHandler(&log, nil)).Info("a call", "params", params)
		slog.New(slog.NewTextHandler(&log, nil)).Info("a call", "params", params)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
			_, _ = fmt.Fprintf(&log, verb, params)
		}
		require.NotContains(t, log.String(), uploadSecret, name)
	}
}

func TestUpload_RecordsNoSecret(t *testing.T) {
	t.Parallel()
	for name, params := range uploadsWithSecrets(t) {
		utilities := fakes.NewUtilities(fakes.For(t))
		_, err := utilities.UploadFileToObjectStore(t.Context(), params)
		require.Error(t, err, name)
		require.NotContains(t, err.Error(), uploadSecret, name)
		call := utilities.Platform.Calls(botctx.OpUploadFileToObjectStore)[0]
		require.NotContains(t, call.String(), uploadSecret, name)
		require.NotContains(t, utilities.Platform.Transcript(), uploadSecret, name)
		require.Equal(t, params, call.Params, "a test sees all of it")
	}
}

func TestUpload_Logged(t *testing.T) {
	t.Parallel()
	params := botctx.UploadFileToObjectStoreParams{
		URL: "https://ada:pin@shop.example/bills/7%2F8?sig=1#top", Filename: "bills/7.pdf", ContentType: "application/pdf",
		Options: document.O("method", "post", "encoding", nil, "body", document.O("a", 1),
			"headers", document.O("accept", "application/pdf", "X-Shop", 7)),
	}
	require.JSONEq(t, `{
		"url": "https://[redacted]@shop.example/bills/7%2F8?[redacted]#[redacted]",
		"options": {
			"method": "post", "encoding": null, "body": "7 bytes",
			"headers": {"accept": "application/pdf", "X-Shop": "[redacted]"}
		},
		"filename": "bills/7.pdf", "contentType": "application/pdf"
	}`, fmt.Sprint(params))
}

func TestUpload_JSON(t *testing.T) {
	t.Parallel()
	for name, params := range uploadsWithSecrets(t) {
		text, err := document.EncodeJSON(params)
		require.NoError(t, err)
		require.Contains(t, string(text), uploadSecret, name)
	}
}
