package desk

import (
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/send"
)

// The limits of canned answers.
const (
	maxAnswer  = send.MaxText
	maxShort   = 40
	maxAnswers = 200
)

// answer is a canned answer of an app.
type answer struct {
	ID string `json:"id"`
	// Short is the word by which agents find it, without spaces.
	Short string `json:"short"`
	// Text is the answer; {{path}} in it is filled from the member.
	Text string `json:"text"`
}

func (p *pages) answersOf(app string) *record.Collection {
	return record.OfApp(p.desk.env, answerSchema, app)
}

func (p *pages) answers(c *call, app string, _ nothing) (any, error) {
	found, err := p.answersOf(app).Find(c.Context(), record.Query{SortBy: document.O(fieldShort, 1), Limit: maxAnswers})
	if err != nil {
		return nil, err
	}
	all := make([]answer, len(found))
	for i, o := range found {
		all[i] = answer{document.Get(o, record.FieldID, ""), document.Get(o, fieldShort, ""), document.Get(o, fieldText, "")}
	}
	return map[string]any{"answers": all}, nil
}

// check refuses an incomplete answer.
func (a answer) check() error {
	if n := len(a.Short); n == 0 || n > maxShort || strings.ContainsAny(a.Short, " \t\r\n/") {
		return boterr.Invalid("short", "is %.60q; give a word of at most %d letters, without / and spaces", a.Short, maxShort)
	}
	return checkText(a.Text, maxAnswer)
}

// saveAnswer adds a canned answer, or changes an existing one if the request has an id.
func (p *pages) saveAnswer(c *call, app string, asked answer) (any, error) {
	if err := asked.check(); err != nil {
		return nil, err
	}
	answers, set := p.answersOf(app), document.O(fieldShort, asked.Short, fieldText, asked.Text)
	if asked.ID != "" {
		done, err := answers.Update(c.Context(), record.Patch{Filter: document.O(record.FieldID, document.O("$eq", asked.ID)), Patch: set})
		if err == nil && done.Matched == 0 {
			err = record.NotFound(answerSchema.Name, asked.ID)
		}
		return asked, err
	}
	count, err := answers.Count(c.Context(), document.O())
	if err == nil && count >= maxAnswers {
		err = boterr.New(boterr.FailedPrecondition, "", "the app has %d canned answers, as many as it may have; delete one first", count)
	}
	if err != nil {
		return nil, err
	}
	stored, err := answers.Insert(c.Context(), set)
	asked.ID = document.Get(stored, record.FieldID, "")
	return asked, err
}

func (p *pages) deleteAnswer(c *call, app string, asked struct {
	ID string `json:"id"`
},
) (any, error) {
	_, err := p.answersOf(app).Delete(c.Context(), document.O(record.FieldID, document.O("$eq", asked.ID)))
	return nothing{}, err
}
