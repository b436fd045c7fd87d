package main

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/operations"
)

// The headings of the parts of an operation's comment.
const (
	errorsHeading = "Errors:"
	sourceHeading = "Specification: "
)

// commentOf reads the comment of an operation: paragraphs that say what it does, the first of
// which begins with the method's name, then "Errors:" and a list of "- Code: when.", and where
// the specification has it.
func commentOf(m method, w words) (operations.Comment, error) {
	read := operations.Comment{Package: m.domain.pkg, Errors: []operations.Failure{}}
	paragraphs := strings.Split(strings.TrimSpace(m.doc), "\n\n")
	first, named := strings.CutPrefix(paragraphs[0], m.operation.Method+" ")
	if !named {
		return read, fmt.Errorf("the comment must begin with %s", m.operation.Method)
	}
	paragraphs[0] = capital(first)
	for _, paragraph := range paragraphs {
		list, isErrors := strings.CutPrefix(paragraph, errorsHeading)
		switch {
		case isErrors:
			failures, err := failuresOf(list, w)
			if err != nil {
				return read, err
			}
			read.Errors = failures
		case !strings.HasPrefix(paragraph, sourceHeading):
			read.Description = append(read.Description, w.translate(oneLine(paragraph)))
		}
	}
	read.Summary = firstSentence(read.Description[0])
	return read, nil
}

// failuresOf reads the list of errors.
func failuresOf(list string, w words) ([]operations.Failure, error) {
	var failures []operations.Failure
	for item := range strings.SplitSeq(strings.TrimPrefix(oneLine(list), "- "), " - ") {
		code, when, _ := strings.Cut(item, ": ")
		if when == "" || !slices.Contains(boterr.Codes(), boterr.Code(code)) {
			return nil, fmt.Errorf("the comment has the error %q: it must be a code of boterr, a colon, and when it comes", item)
		}
		if !strings.HasSuffix(when, ".") {
			return nil, fmt.Errorf("the comment's error %q must end with a full stop", item)
		}
		failures = append(failures, operations.Failure{Code: boterr.Code(code), When: capital(w.translate(when))})
	}
	return failures, nil
}

// oneLine returns text with its lines joined.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// capital returns text with a capital first letter.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// firstSentence returns text up to its first full stop.
func firstSentence(text string) string {
	sentence, _, more := strings.Cut(text, ". ")
	if more {
		return sentence + "."
	}
	return sentence
}
