package simulator

import (
	"net/mail"

	"github.com/botctx/go-sdk/fakes"
)

// tellServices tells what left the bot otherwise than by messages, and what was given up.
func (b *branch) tellServices(w *world, settings Simulator) {
	w.Mails, w.Files, w.Payments, w.DeadLetters = []shownMail{}, []shownFile{}, []shownPayment{}, []shownDeadLetter{}
	for _, one := range newest(b.platform.Mails()) {
		w.Mails = append(w.Mails, toldMail(one))
	}
	for _, one := range newest(b.platform.Files()) {
		w.Files = append(w.Files, shownFile{At: one.StoredAt.UTC(), Key: one.Key, Type: one.ContentType, Size: len(one.Content)})
	}
	for _, account := range settings.Accounts {
		for _, one := range newest(account.In(b.platform).Payments()) {
			w.Payments = append(w.Payments, shownPayment{one})
		}
	}
	for _, one := range newest(b.platform.DeadLetters()) {
		w.DeadLetters = append(w.DeadLetters, shownDeadLetter{
			ID: one.ID, From: one.Event.From, At: one.DiedAt.UTC(), Failures: one.Failures, Code: one.Code, Error: one.Error,
		})
	}
}

// toldMail tells a mail by its text, and where it has none by its HTML.
func toldMail(sent fakes.Mail) shownMail {
	told := shownMail{At: sent.SentAt.UTC(), To: addresses(sent.To), CC: addresses(sent.CC), Subject: sent.Subject.Data}
	switch {
	case sent.Text != nil:
		told.Text = sent.Text.Data
	case sent.HTML != nil:
		told.Text, told.IsHTML = sent.HTML.Data, true
	}
	return told
}

func addresses(all []mail.Address) []string {
	told := []string{}
	for _, one := range all {
		told = append(told, one.String())
	}
	return told
}
