package otel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
)

func TestConfig_MissingPartsStayMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world, config *botctx.Config) {
		config.Mailer, config.ObjectStore = w.o.Mailer(nil), w.o.ObjectStore(nil)
	})
	bot := w.runtime.Operations(w.scope)
	text := botctx.EmailText{Data: "Hello"}
	_, err := bot.SendEmail(t.Context(), botctx.SendEmailParams{
		Destination: botctx.EmailDestination{ToAddresses: []string{"ada@orchard.example"}},
		Message:     botctx.EmailMessage{Subject: text, Body: botctx.EmailBody{Text: &text}},
	})
	require.ErrorIs(t, err, boterr.Unsupported)
	_, err = bot.UploadFileToObjectStore(t.Context(), botctx.UploadFileToObjectStoreParams{
		Filename: "a.txt", ContentType: "text/plain", URL: "https://orchard.example/a.txt",
	})
	require.ErrorIs(t, err, boterr.Unsupported)
}

func TestConfig_WithoutStore(t *testing.T) {
	t.Parallel()
	store := newWorld(t).o.Store(nil, "memstore")
	require.Nil(t, store)
	_, err := botctx.New(botctx.Config{Store: store})
	require.ErrorIs(t, err, boterr.InvalidArgument)
}
