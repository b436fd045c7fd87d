package golf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/stripe/stripe-go/v84"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// fields are the provider's parameters by the names of botctx.
var fields = map[string]string{
	"amount":         "amount",
	"currency":       "currency",
	"customer":       "paymentMethod",
	"payment_method": "paymentMethod",
	"description":    "description",
	"metadata":       "metadata",
	"payment_intent": "paymentId",
}

// chargeError gives an error of a charge its code.
func chargeError(ctx context.Context, err error) error {
	failed, err := refused(ctx, err)
	if err != nil {
		return err
	}
	if failed.Type == stripe.ErrorTypeCard {
		declined := &utility.DeclinedError{Code: cmp.Or(string(failed.DeclineCode), string(failed.Code))}
		if failed.PaymentIntent != nil {
			declined.PaymentID = failed.PaymentIntent.ID
		}
		return boterr.New(boterr.FailedPrecondition, "paymentMethod", "%w", declined)
	}
	return boterr.Invalid(fieldOf(failed), "the provider refused the charge: %s", reason(failed))
}

// refundError gives an error of a refund its code. What the provider finds wrong with one that
// is formed well is that the payment does not allow it.
func refundError(ctx context.Context, id string, err error) error {
	failed, err := refused(ctx, err)
	switch {
	case err != nil:
		return err
	case failed.Code == stripe.ErrorCodeResourceMissing:
		return noPayment(id)
	default:
		return boterr.New(boterr.FailedPrecondition, cmp.Or(fieldOf(failed), "paymentId"), "the provider refused the refund: %s", reason(failed))
	}
}

// paymentError gives an error of a payment that is read its code.
func paymentError(ctx context.Context, id string, err error) error {
	failed, err := refused(ctx, err)
	switch {
	case err != nil:
		return err
	case failed.Code == stripe.ErrorCodeResourceMissing:
		return noPayment(id)
	default:
		return boterr.Invalid("id", "the provider refused to show the payment: %s", reason(failed))
	}
}

// noPayment is the error for an id of no payment.
func noPayment(id string) error {
	return boterr.New(boterr.NotFound, "paymentId", "there is no payment %.100q in this account", id)
}

// refused returns why the provider refused a request, or the error where that has the same
// meaning for every request. Errors of the provider are not wrapped: their text is all that it
// said, secrets of the payment included.
func refused(ctx context.Context, err error) (*stripe.Error, error) {
	if ended := ctx.Err(); ended != nil {
		return nil, ended
	}
	if _, isRedirect := errors.AsType[*bounded.RedirectError](err); isRedirect {
		return nil, boterr.New(boterr.FailedPrecondition, "",
			"the address of the payment provider sends requests elsewhere, and nothing was asked there: check golf.Config.URL")
	}
	failed, ok := errors.AsType[*stripe.Error](err)
	if !ok {
		// Not %w: a time-out of the client's own would pass for one of the caller's.
		return nil, comeAgain(err, fmt.Errorf("the payment provider did not answer: %v", err)) //nolint:errorlint // See above.
	}
	switch status := failed.HTTPStatusCode; {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return nil, boterr.New(boterr.FailedPrecondition, "",
			"the provider refuses the API key of the account (status %d): check golf.Config.Key and what it may do", status)
	case failed.Code == stripe.ErrorCodeIdempotencyKeyInUse:
		return nil, boterr.New(boterr.Unavailable, "idempotencyKey", "a request of this key is under way; try again later with the same key")
	case failed.Type == stripe.ErrorTypeIdempotency:
		return nil, boterr.New(boterr.Conflict, "idempotencyKey", "the key was used for another request; give each payment a key of its own")
	case status == http.StatusTooManyRequests:
		return nil, comeAgain(err,
			boterr.New(boterr.ResourceExhausted, "", "the provider takes no more requests for now; try again later"))
	case failed.Type == stripe.ErrorTypeCard, failed.Type == stripe.ErrorTypeInvalidRequest:
		return failed, nil
	default:
		return nil, comeAgain(err, fmt.Errorf("the payment provider failed with status %d (request %s)", status, failed.RequestID))
	}
}

// comeAgain returns an error, with the wait that the provider asked for in another one, if it did.
func comeAgain(from, failure error) error {
	if after := boterr.RetryAfter(from); after > 0 {
		return fmt.Errorf("%w: %w", failure, &send.RetryAfterError{After: after})
	}
	return failure
}

// fieldOf returns the parameter at fault by its name in botctx, "" where botctx does not have it.
func fieldOf(failed *stripe.Error) string {
	name, _, _ := strings.Cut(failed.Param, "[")
	return fields[name]
}

// reason returns what the provider says, and by which id it knows the request.
func reason(failed *stripe.Error) string {
	return fmt.Sprintf("%s (%s, request %s)", failed.Msg, cmp.Or(string(failed.Code), string(failed.Type)), failed.RequestID)
}
