package botctxtest_test

import (
	"context"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
)

// Short for the table below.
type (
	mailParams   = botctx.SendEmailParams
	uploadParams = botctx.UploadFileToObjectStoreParams
)

// brokenUtilities are the defects of operations that mail, charge and upload.
var brokenUtilities = map[string]breakage{
	"sendEmail forgets copies": {
		breaking: given(func(p *mailParams) {
			if len(p.Destination.ToAddresses) > 0 {
				p.Destination.CcAddresses = nil
			}
		}),
		breaks: []string{"SendEmailSendsTheMail", "SendEmailSendsOneMailToEach", "SendEmailTakesBothSpellings", "SendEmailRefusesBadInput"},
	},
	"sendEmail is plain": {
		breaking: given(func(p *mailParams) {
			if p.Message.Body.Text != nil {
				p.Message.Body.HTML = nil
			}
		}),
		breaks: []string{"SendEmailSendsTheMail", "SendEmailTakesBothSpellings"},
	},
	"sendEmail sorts": {
		breaking: given(func(p *mailParams) {
			p.Destination.ToAddresses = slices.Sorted(slices.Values(p.Destination.ToAddresses))
		}),
		breaks: []string{"SendEmailSendsTheMail"},
	},
	"sendEmail has a subject in ASCII by default": {
		breaking: given(func(p *mailParams) { inASCII(&p.Message.Subject) }), breaks: []string{"SendEmailIsUnicodeByDefault"},
	},
	"sendEmail has a text in ASCII by default": {
		breaking: given(func(p *mailParams) { inASCII(p.Message.Body.Text) }), breaks: []string{"SendEmailIsUnicodeByDefault"},
	},
	"sendEmail has HTML in ASCII by default": {
		breaking: given(func(p *mailParams) { inASCII(p.Message.Body.HTML) }), breaks: []string{"SendEmailIsUnicodeByDefault"},
	},
	"sendEmail writes to each name": {
		altering: twiceNamed, breaks: []string{"SendEmailSendsOneMailToEach"},
	},
	"sendEmail keeps what it was given": {
		altering: sharedMails, breaks: []string{"SendEmailTakesACopy"},
	},
	"sendEmail takes capitals alone": {
		altering: narrow(`"toAddresses"`), breaks: []string{"SendEmailTakesBothSpellings"},
	},
	"sendEmail takes small letters alone": {
		altering: narrow(`"ToAddresses"`), breaks: []string{"SendEmailTakesBothSpellings"},
	},
	"sendEmail cuts lines": {
		breaking: given(func(p *mailParams) {
			p.Message.Subject.Data, _, _ = strings.Cut(p.Message.Subject.Data, "\n")
		}),
		breaks: []string{"SendEmailRefusesHeaderInjection"},
	},
	"golf knows no accounts": {
		breaking: instead(func(_ context.Context, _ *botctx.Context, p botctx.GolfParams, _ botctx.Next) (any, error) {
			return nil, boterr.New(boterr.NotFound, "golfName", "there is no account %q", p.GolfName)
		}),
		breaks: []string{"GolfAnswersAsDocumented", "GolfRefusesBadInput"},
	},
	"golf gives all accounts": {
		breaking: answers(func(*botctx.Call, botctx.GolfParams) botctx.GolfResult { return botctx.GolfResult{} }),
		breaks:   []string{"GolfFindsNoOthers", "GolfRefusesBadInput"},
	},
	"uploadFileToObjectStore is constant": {
		breaking: answers(func(*botctx.Call, uploadParams) botctx.UploadFileToObjectStoreResult {
			return botctx.UploadFileToObjectStoreResult{}
		}),
		breaks: []string{
			"UploadFileToObjectStoreStoresTheFile", "UploadFileToObjectStoreReplacesTheFile",
			"UploadFileToObjectStoreTakesAnotherChannel", "UploadFileToObjectStoreAsksByItsOptions",
		},
	},
	"uploadFileToObjectStore keeps the last part of the name": {
		breaking: given(func(p *uploadParams) {
			if p.Filename == "bills/7.pdf" {
				p.Filename = "7.pdf"
			}
		}),
		breaks: []string{"UploadFileToObjectStoreStoresTheFile"},
	},
	"uploadFileToObjectStore guesses the type": {
		breaking: given(func(p *uploadParams) {
			if p.ContentType == "application/pdf" {
				p.ContentType = "application/octet-stream"
			}
		}),
		breaks: []string{"UploadFileToObjectStoreStoresTheFile"},
	},
	"uploadFileToObjectStore ignores the channel": {
		breaking: given(func(p *uploadParams) { p.Channel = "" }),
		breaks:   []string{"UploadFileToObjectStoreTakesAnotherChannel", "UploadFileToObjectStoreFindsNoOthers"},
	},
	"uploadFileToObjectStore asks before it looks": {
		breaking: instead(func(ctx context.Context, bot *botctx.Context, p uploadParams, next botctx.Next) (any, error) {
			if p.Channel != "" {
				asking := p
				asking.Channel = ""
				if _, err := bot.UploadFileToObjectStore(ctx, asking); err != nil {
					return nil, err
				}
			}
			return next(ctx)
		}),
		breaks: []string{"UploadFileToObjectStoreAsksForNothingInVain"},
	},
	"uploadFileToObjectStore takes ids alone": {
		altering: narrow(`"channel":{`), breaks: []string{"UploadFileToObjectStoreTakesAnotherChannel"},
	},
	"uploadFileToObjectStore ignores options": {
		breaking: given(func(p *uploadParams) { p.Options = document.Object{} }),
		breaks: []string{
			"UploadFileToObjectStoreAsksByItsOptions", "UploadFileToObjectStoreRefusesBadInput",
			"UploadFileToObjectStoreRefusesHeaderInjection",
		},
	},
	"uploadFileToObjectStore posts by default": {
		breaking: given(func(p *uploadParams) {
			if p.Options.Len() == 0 {
				p.Options = document.O("method", "POST")
			}
		}),
		breaks: []string{"UploadFileToObjectStoreAsksByItsOptions"},
	},
	"uploadFileToObjectStore mixes files": {
		altering: func(h *botctxtest.Harness) {
			stored := h.Files
			h.Files = func() []botctxtest.File {
				files := stored()
				for i := range files {
					files[i].Content = append(files[i].Content, files[0].Content[0])
				}
				return files
			}
		},
		breaks: []string{"UploadFileToObjectStoreIsOneStep", "UploadFileToObjectStoreStoresTheFile"},
	},
	"uploadFileToObjectStore adds a file each time": {
		altering: addingFiles, breaks: []string{"UploadFileToObjectStoreReplacesTheFile"},
	},
}

// inASCII gives a text the charset US-ASCII where it has none.
func inASCII(text *botctx.EmailText) {
	if text != nil && text.Charset == "" {
		text.Charset = "US-ASCII"
	}
}

// twiceNamed shows mails with the first of their recipients once more.
func twiceNamed(h *botctxtest.Harness) {
	taken := h.Mails
	h.Mails = func() []botctx.Mail {
		mails := taken()
		for i := range mails {
			mails[i].To = append(mails[i].To, mails[i].To[:min(1, len(mails[i].To))]...)
		}
		return mails
	}
}

// addingFiles shows a file that was replaced as well.
func addingFiles(h *botctxtest.Harness) {
	stored, seen := h.Files, []botctxtest.File{}
	h.Files = func() []botctxtest.File { return append(slices.Clone(seen), stored()...) }
	serve := h.Serve
	h.Serve = func(contentType, content string) *botctxtest.Served {
		seen = append(seen, stored()...)
		seen = append(seen, botctxtest.File{Content: []byte(content)})
		return serve(contentType, content)
	}
}

// sharedMails shows mails with the texts that callers gave, as they are by now.
func sharedMails(h *botctxtest.Harness) {
	var given []*botctx.EmailText
	whole, taken := h.Operations, h.Mails
	h.Operations = func(scope record.Scope) botctx.Operations { return sharing{whole(scope), &given} }
	h.Mails = func() []botctx.Mail {
		mails := taken()
		for i := range mails {
			mails[i].Text = &botctx.EmailText{Charset: "UTF-8", Data: given[i].Data}
		}
		return mails
	}
}

// sharing keeps the texts of mails as they were given.
type sharing struct {
	botctx.Operations

	given *[]*botctx.EmailText
}

// SendEmail implements botctx.UtilityOperations.
func (s sharing) SendEmail(ctx context.Context, p mailParams) (botctx.SendEmailResult, error) {
	*s.given = append(*s.given, p.Message.Body.Text)
	return s.Operations.SendEmail(ctx, p)
}
