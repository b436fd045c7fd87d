package otel_test

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// What is planted where it could get into spans and metrics.
const (
	plantedText      = "plum-pudding"
	plantedParameter = "quince-jelly"
	plantedError     = "rhubarb-pie"
	plantedPerson    = "e-ada"
	plantedName      = "Augusta"
	plantedMail      = "ada@orchard.example"
)

// spill calls operations with everything that is planted, and fails in the end.
func spill(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.UpsertDataToDataSource(ctx, datasource.UpsertDataToDataSourceParams{
		DataSourceID: "diary", Data: document.OneOrMany[document.Object]{document.O("text", plantedText)},
	})
	if err != nil {
		return err
	}
	_, err = bot.CountDataSource(ctx, datasource.CountDataSourceParams{
		DataSourceID: "diary", Filter: document.O("text", document.O("$"+plantedParameter, plantedParameter)),
	})
	if boterr.CodeOf(err) != boterr.InvalidArgument {
		return fmt.Errorf("the filter is refused: %w", err)
	}
	_, err = bot.PatchMembers(ctx, member.PatchMembersParams{
		MemberID: "ada", Patch: document.Set("meta.answer", plantedParameter), WithModifier: true,
	})
	if err != nil {
		return err
	}
	_, err = bot.NewAgenda(ctx, agenda.NewAgendaParams{
		MemberID: "ada", NodeCompositeID: "spill", Tag: plantedParameter, Meta: document.O("note", plantedText),
		NextRunAt: document.TimestampOf(bot.Now()),
	})
	if err != nil {
		return err
	}
	_, err = bot.SendEmail(ctx, utility.SendEmailParams{
		Destination: utility.EmailDestination{ToAddresses: []string{plantedMail}},
		Message: utility.EmailMessage{
			Subject: utility.EmailText{Data: plantedText}, Body: utility.EmailBody{Text: &utility.EmailText{Data: plantedText}},
		},
	})
	if boterr.CodeOf(err) != boterr.Unavailable {
		return fmt.Errorf("the mail is not sent: %w", err)
	}
	if err := bot.Reply(ctx, send.Template("Dear {{firstName}}: "+plantedText)); err == nil {
		return errors.New("the reply is sent")
	}
	panic(plantedError + plantedText)
}

// mute is a mail service that does not answer.
type mute struct{}

func (mute) SendMail(_ context.Context, mail utility.Mail) error {
	return fmt.Errorf("no answer for %s of %v with %s", plantedError, addresses(mail.To), credential)
}

func addresses(of []mail.Address) []string {
	texts := make([]string, len(of))
	for i, address := range of {
		texts[i] = address.String()
	}
	return texts
}

func TestSecrets_InNoSpanOrMetric(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world, config *botctx.Config) { config.Mailer = w.o.Mailer(mute{}) })
	require.NoError(t, w.runtime.Handle(&botctx.Node{
		ID: "spill", Global: botctx.GlobalInChannel, Trigger: botctx.TextIs(plantedText), Pre: []botctx.Action{spill},
	}))
	w.platform.answers(boterr.New(boterr.NotFound, plantedParameter, "%s of %s: %s", plantedError, plantedPerson, credential))
	err := w.says(t.Context(), plantedText)
	require.ErrorIs(t, err, boterr.Internal)
	require.ErrorContains(t, err, plantedError, "the run comes to its end")
	w.advance(time.Hour)
	result, err := w.runtime.Scheduler().RunNext(t.Context())
	require.NoError(t, err)
	require.ErrorContains(t, result.Err, plantedError)
	_, err = w.runtime.Operations(record.Scope{App: "shop"}).GetMember(t.Context(), member.GetMemberParams{MemberID: plantedParameter})
	require.ErrorIs(t, err, boterr.NotFound)

	var all strings.Builder
	for _, span := range w.spans.GetSpans() {
		fmt.Fprintf(&all, "%+v %s\n", span, listed(span.Attributes))
	}
	fmt.Fprintf(&all, "%+v\n%v", w.collect(), w.points())
	told := all.String()
	for _, known := range []string{"process webchat", "agenda spill", "sendEmail", "send email", "send webchat", "Unavailable", "sent.messages"} {
		require.Contains(t, told, known, "the search finds what is there")
	}
	for _, planted := range []string{
		credential, plantedText, plantedParameter, plantedError, plantedPerson, plantedName, plantedMail, "orchard",
	} {
		require.NotContains(t, told, planted)
	}
}
