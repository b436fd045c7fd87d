package golf

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stripe/stripe-go/v84"
	"github.com/stripe/stripe-go/v84/webhook"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// Handler accepts the provider's events at the endpoint of WebhookSecrets, and passes them to receive:
//
//	payment_intent.succeeded       EventPaymentSucceeded
//	payment_intent.payment_failed  EventPaymentFailed
//	charge.refunded                EventPaymentRefunded
//	payment_intent.*               under the provider's own name
//
// Events with other names have no payment. They are acknowledged and counted in Config.Drops, but not passed
// on. The provider repeats an event until the answer is 200. Even then it may send an event twice, so receive
// must recognise repetitions by PaymentEvent.ID. Events may arrive out of order.
//
// Handler answers 200 after receive has returned nil. It answers 401 to a request without a valid, recent
// signature, and 400, 405, 408 or 413 to a request that is not an event or arrives too slowly. If receive
// returned ResourceExhausted, the answer is 429; for Conflict, Unavailable or Canceled it is 503; for any other
// error it is 500. Without WebhookSecrets the answer is 500, too. The answer never contains the error of
// receive, which Config.OnError gets. receive continues if the provider closes the connection.
func (c *Client) Handler(receive func(ctx context.Context, event utility.PaymentEvent) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, told := c.serve(w, r, receive)
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.WriteHeader(status)
		// Ignore the error: the provider may have closed the connection.
		_, _ = io.WriteString(w, told+"\n")
	})
}

func (c *Client) serve(
	w http.ResponseWriter, r *http.Request, receive func(context.Context, utility.PaymentEvent) error,
) (status int, told string) {
	header := r.Header.Get("Stripe-Signature")
	if status, told = c.checkHeaders(w, r.Method, header); told != "" {
		inbound.LeaveUnread(w)
		return status, told
	}
	body, refused := inbound.ReadBody(w, r, inbound.Limits{MaxBytes: inbound.DefaultMaxBytes, Time: c.config.BodyTime})
	if refused != nil {
		return refused.Status, refused.Reason
	}
	if !c.isSigned(body, header) {
		return http.StatusUnauthorized, unsigned
	}
	ctx := context.WithoutCancel(r.Context())
	event, isPayment, err := c.read(body)
	if err != nil {
		c.config.OnError(ctx, event, err)
		return http.StatusBadRequest, "the event cannot be read"
	}
	if !isPayment {
		c.config.Drops.Add(ctx, send.Drop{Platform: "golf", Kind: event.Type, Reason: send.DropUnsupported})
		return http.StatusOK, "ignored"
	}
	if err := inbound.Accept(ctx, event, receive); err != nil {
		c.config.OnError(ctx, event, err)
		return statusOfError(err), "the event was not accepted; try again later"
	}
	return http.StatusOK, "done"
}

// checkHeaders returns an answer if the request can be refused without reading its body. Otherwise status is 0.
func (c *Client) checkHeaders(w http.ResponseWriter, method, signature string) (status int, told string) {
	switch {
	case method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		return http.StatusMethodNotAllowed, "the method must be POST"
	case len(c.config.WebhookSecrets) == 0:
		return http.StatusInternalServerError, "the receiver is not set up: it needs golf.Config.WebhookSecrets"
	case !c.isPresent(signature):
		return http.StatusUnauthorized, unsigned
	default:
		return 0, ""
	}
}

// unsigned is the answer to a request without a valid signature.
const unsigned = "the request needs a recent signature with a secret of this endpoint"

// isPresent reports whether the signature's time is within the tolerance. The library's check uses the
// machine's clock and accepts any time in the future.
func (c *Client) isPresent(header string) bool {
	at, ok := signedAt(header)
	return ok && c.config.Now().Sub(time.Unix(at, 0)).Abs() <= c.config.Tolerance
}

func (c *Client) isSigned(body []byte, header string) bool {
	for _, secret := range c.config.WebhookSecrets {
		if webhook.ValidatePayloadIgnoringTolerance(body, header, secret.Reveal()) == nil {
			return true
		}
	}
	return false
}

// signedAt returns the time in a signature, in seconds. If there are several, the last one counts, as in the
// library.
func signedAt(header string) (seconds int64, ok bool) {
	for pair := range strings.SplitSeq(header, ",") {
		if text, isTime := strings.CutPrefix(pair, "t="); isTime {
			parsed, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return 0, false
			}
			seconds, ok = parsed, true
		}
	}
	return seconds, ok
}

// read decodes an event, and reports whether it has a payment. For any other event it returns the provider's
// type. The library's decoder refuses events of other versions of the API, or panics, although the fields used
// here are the same in all versions.
func (c *Client) read(body []byte) (event utility.PaymentEvent, isPayment bool, err error) {
	var reported struct {
		ID   string `json:"id"`
		Type string `json:"type"`
		Data struct {
			Object json.RawMessage `json:"object"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &reported); err != nil {
		return event, false, err
	}
	if reported.ID == "" || reported.Type == "" {
		return event, false, boterr.Invalid("id", "is missing, or type is; an event needs both")
	}
	if !bytes.HasPrefix(reported.Data.Object, []byte("{")) {
		return event, false, boterr.Invalid("data.object", "must be an object")
	}
	event = utility.PaymentEvent{ID: reported.ID, Type: nameOf(reported.Type), Account: c.config.Account}
	switch {
	case reported.Type == string(stripe.EventTypeChargeRefunded):
		var charge stripe.Charge
		if err := json.Unmarshal(reported.Data.Object, &charge); err != nil {
			return event, false, err
		}
		// Client.Charge always creates a PaymentIntent, so a charge without one was made in another way.
		if charge.PaymentIntent == nil {
			return utility.PaymentEvent{Type: reported.Type}, false, nil
		}
		event.Payment = refundedPayment(&charge)
	case strings.HasPrefix(reported.Type, "payment_intent."):
		var intent stripe.PaymentIntent
		if err := json.Unmarshal(reported.Data.Object, &intent); err != nil {
			return event, false, err
		}
		event.Payment = *paymentOf(&intent)
	default:
		return utility.PaymentEvent{Type: reported.Type}, false, nil
	}
	if event.Payment.ID == "" {
		return event, false, boterr.Invalid("data.object.id", "is missing")
	}
	return event, true, nil
}

// nameOf returns botctx's name for the type of an event, or the provider's name if botctx has none.
func nameOf(kind string) string {
	switch stripe.EventType(kind) {
	case stripe.EventTypePaymentIntentSucceeded:
		return utility.EventPaymentSucceeded
	case stripe.EventTypePaymentIntentPaymentFailed:
		return utility.EventPaymentFailed
	case stripe.EventTypeChargeRefunded:
		return utility.EventPaymentRefunded
	default:
		return kind
	}
}

// refundedPayment returns the payment to which a charge belongs. The charge has its own copies of the
// description and the metadata, and was created slightly later.
func refundedPayment(charge *stripe.Charge) utility.Payment {
	return utility.Payment{
		ID:          charge.PaymentIntent.ID,
		Amount:      charge.Amount,
		Currency:    string(charge.Currency),
		Refunded:    charge.AmountRefunded,
		Status:      utility.PaymentSucceeded,
		Description: charge.Description,
		Metadata:    metadataOf(charge.Metadata),
		CreatedAt:   milliseconds(charge.Created),
	}
}

// statusOfError returns the status for an error of receive. The provider tries again after any of them.
func statusOfError(err error) int {
	switch boterr.CodeOf(err) {
	case boterr.ResourceExhausted:
		return http.StatusTooManyRequests
	case boterr.Conflict, boterr.Unavailable, boterr.Canceled:
		return http.StatusServiceUnavailable
	default:
		return http.StatusInternalServerError
	}
}
