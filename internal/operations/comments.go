package operations

import (
	"slices"
	"strings"
)

// Comments is what the comments of the Go code say, in JSON's terms: comments_gen.json, which
// internal/generate writes.
type Comments struct {
	// Operations are those of the methods, of their params and results, by the operations' names.
	Operations map[string]Comment `json:"operations"`
	// Kinds are those of the fields of records, by the names of the kind and of the field.
	Kinds map[string]map[string]string `json:"kinds"`
	// Limits are the limits of package send by the names of their constants, such as "2,000".
	// Sentences of operations.json name them, such as {limit:MaxText}.
	Limits map[string]string `json:"limits"`
}

// Comment is what is said of one operation.
type Comment struct {
	// Package is where the method is declared.
	Package string `json:"package"`
	// Summary is the first sentence of the description.
	Summary string `json:"summary"`
	// Description are the paragraphs that say what the operation does.
	Description []string `json:"description"`
	// Errors are the errors of this operation.
	Errors []Failure `json:"errors"`
	// Parameters and Result are the meanings of fields by their paths, such as "option.new".
	Parameters map[string]string `json:"parameters"`
	Result     map[string]string `json:"result"`
}

func (o Operation) with(said Comment) Operation {
	o.Package, o.Summary, o.Description, o.Errors = said.Package, said.Summary, said.Description, said.Errors
	o.Parameters = withMeanings(o.Parameters, said.Parameters, "")
	o.Responses = slices.Clone(o.Responses)
	for i := range o.Responses {
		o.Responses[i].Fields = withMeanings(o.Responses[i].Fields, said.Result, "")
	}
	return o
}

// withMeanings returns fields with the meanings that the comments give by path.
func withMeanings(fields []Field, meanings map[string]string, prefix string) []Field {
	told := slices.Clone(fields)
	for i, field := range told {
		path := prefix + field.Name
		if meaning, ok := meanings[path]; ok {
			told[i].Meaning = meaning
		}
		told[i].Fields = withMeanings(field.Fields, meanings, path+".")
	}
	return told
}

// withLimits returns fields with the numbers of the limits that their meanings name.
func withLimits(fields []Field, limits map[string]string) []Field {
	told := slices.Clone(fields)
	for i := range told {
		for name, most := range limits {
			told[i].Meaning = strings.ReplaceAll(told[i].Meaning, "{limit:"+name+"}", most)
		}
	}
	return told
}
