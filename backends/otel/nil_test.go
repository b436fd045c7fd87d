package otel_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/utility"
)

func TestConfig_MissingPartsStayMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world, config *botctx.Config) {
		config.Mailer, config.ObjectStore = w.o.Mailer(nil), w.o.ObjectStore(nil)
	})
	bot := w.runtime.Operations(w.scope)
	text := utility.EmailText{Data: "Hello"}
	_, err := bot.SendEmail(t.Context(), utility.SendEmailParams{
		Destination: utility.EmailDestination{ToAddresses: []string{"ada@orchard.example"}},
		Message:     utility.EmailMessage{Subject: text, Body: utility.EmailBody{Text: &text}},
	})
	require.ErrorIs(t, err, boterr.Unsupported)
	_, err = bot.UploadFileToObjectStore(t.Context(), utility.UploadFileToObjectStoreParams{
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

// What is not there is not wrapped, so that botctx.New refuses it.
func TestConfig_NilPointersStayNil(t *testing.T) {
	t.Parallel()
	o := newWorld(t).o
	store := memstore.New()
	for field, config := range map[string]botctx.Config{
		"Store":             {Store: o.Store((*memstore.Store)(nil), "memstore")},
		"Mailer":            {Store: store, Mailer: o.Mailer((*mails)(nil))},
		"ObjectStore":       {Store: store, ObjectStore: o.ObjectStore((*mails)(nil))},
		"Connectors[alpha]": {Store: store, Connectors: o.Connectors(send.Connectors{channel.Alpha: (*platform)(nil)})},
	} {
		_, err := botctx.New(config)
		require.ErrorIs(t, err, boterr.InvalidArgument, field)
		e, _ := boterr.AsError(err)
		require.Equal(t, field, e.Field)
	}
}

// mails takes mails and files.
type mails struct{}

func (*mails) SendMail(context.Context, utility.Mail) error { return nil }

func (*mails) Put(context.Context, utility.StoredFile) error { return nil }
