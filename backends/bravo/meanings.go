package bravo

import (
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/graph"
)

const (
	sentenceRate      = "the platform limits the rate of the number's requests"
	sentenceTemporary = "the platform failed temporarily; try again later"
	sentenceParameter = "the platform does not accept the message: change the part that it names"
	sentenceTemplate  = "the values do not fit the template: give one value for each of its parameters, in the right format"
	sentenceMarketing = "the platform limits marketing messages to this member: wait a day, or send another kind of message"
)

// meanings maps the platform's error codes, in answers and in statuses of messages, to codes of package boterr.
var meanings = graph.Meanings{
	{Code: 80007}:  {Code: boterr.ResourceExhausted, Sentence: sentenceRate, Wait: time.Minute},
	{Code: 130429}: {Code: boterr.ResourceExhausted, Sentence: sentenceRate, Wait: time.Second},
	{Code: 133016}: {Code: boterr.ResourceExhausted, Sentence: sentenceRate, Wait: time.Hour},
	{Code: 131048}: {
		Code: boterr.ResourceExhausted, Sentence: "too many people reported or blocked the number: only write to members who want it",
		Wait: time.Hour,
	},
	{Code: 131056}: {
		Code: boterr.ResourceExhausted, Sentence: "the platform limits the rate of messages to this recipient",
		Wait: recipientPeriod, OfRecipient: true,
	},
	{Code: 131026}: {
		Code: boterr.NotFound, Sentence: "the message cannot be delivered: the recipient has no account, blocked the number, has an old " +
			"program, or has not accepted the terms",
	},
	{Code: 131030}: {Code: boterr.NotFound, Sentence: "a test number may only write to the recipients on its list: add this recipient to it"},
	{Code: 131021}: {Code: boterr.InvalidArgument, Sentence: "the recipient is the number itself"},
	{Code: 131047}: {
		Code:     boterr.FailedPrecondition,
		Sentence: "the member's last message is more than 24 hours old: wait for the next one, or send a template",
	},
	{Code: 131049}: {Code: boterr.FailedPrecondition, Sentence: sentenceMarketing},
	{Code: 131050}: {
		Code: boterr.FailedPrecondition, Sentence: "the member has turned off marketing messages: send none until the member allows them",
	},
	{Code: 130472}: {Code: boterr.FailedPrecondition, Sentence: sentenceMarketing},
	{Code: 130497}: {Code: boterr.FailedPrecondition, Sentence: "the number may not write to members in this country"},
	{Code: 131031}: {Code: boterr.FailedPrecondition, Sentence: "the platform has locked the account: see its quality page"},
	{Code: 131042}: {Code: boterr.FailedPrecondition, Sentence: "the account's payment does not work: correct it in the platform's settings"},
	{Code: 131008}: {Code: boterr.InvalidArgument, Sentence: sentenceParameter, RepeatsMessage: true},
	{Code: 131009}: {Code: boterr.InvalidArgument, Sentence: sentenceParameter, RepeatsMessage: true},
	{Code: 131051}: {Code: boterr.Unsupported, Field: "type", Sentence: "the platform does not have this type of message"},
	{Code: 131053}: {
		Code: boterr.InvalidArgument, Field: "url", Sentence: "the platform could not use the file: check its address, size and type",
		RepeatsMessage: true,
	},
	{Code: 132001}: {
		Code: boterr.InvalidArgument, Field: "elementName", Sentence: "there is no approved template of this name in this language: check both",
	},
	{Code: 132000}: {Code: boterr.InvalidArgument, Field: "components", Sentence: sentenceTemplate, RepeatsMessage: true},
	{Code: 132005}: {Code: boterr.InvalidArgument, Field: "components", Sentence: sentenceTemplate, RepeatsMessage: true},
	{Code: 132012}: {Code: boterr.InvalidArgument, Field: "components", Sentence: sentenceTemplate, RepeatsMessage: true},
	{Code: 132007}: {Code: boterr.FailedPrecondition, Sentence: "the template breaks the platform's rules: change it"},
	{Code: 132015}: {Code: boterr.FailedPrecondition, Sentence: "the platform has paused the template for its quality: change it, or wait"},
	{Code: 132016}: {Code: boterr.FailedPrecondition, Sentence: "the platform has disabled the template: make another one"},
	{Code: 131000}: {Sentence: sentenceTemporary},
	{Code: 131016}: {Sentence: sentenceTemporary},
	{Code: 131052}: {Sentence: "the platform could not fetch the member's file"},
	{Code: 131057}: {Sentence: "the account is under maintenance; try again later"},
	{Code: 133004}: {Sentence: sentenceTemporary},
}
