package botctxtest

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/botctx"
)

// utilityRules are the rules of the operations that mail, charge and upload.
func utilityRules() []Rule { return slices.Concat(mailRules, golfRules, uploadRules) }

// utilityCalls are one call of each operation that mails, charges or uploads.
var utilityCalls = []call{
	{domain: Utilities, op: botctx.OpSendEmail, needs: Mails, make: func(ctx context.Context, p *place) error {
		return errorOf(p.SendEmail(ctx, mailTo("ada@example.com")))
	}},
	{domain: Utilities, op: botctx.OpGolf, mayFail: true, make: func(ctx context.Context, p *place) error {
		return errorOf(p.Golf(ctx, botctx.GolfParams{GolfName: "shop"}))
	}},
	{domain: Utilities, op: botctx.OpUploadFileToObjectStore, needs: Uploads, mayFail: true, make: func(ctx context.Context, p *place) error {
		return errorOf(p.UploadFileToObjectStore(ctx, upload("https://example.com/a.pdf")))
	}},
}
