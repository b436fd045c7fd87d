package operations

import (
	"slices"
	"strings"
)

// Comments is the content of comments_gen.json: the comments of the Go code, with Go names replaced
// by JSON names. internal/generate writes the file.
type Comments struct {
	// Operations holds the comments of methods, params and results by operation name.
	Operations map[string]Comment `json:"operations"`
	// Kinds holds the comments of record fields by the names of kind and field.
	Kinds map[string]map[string]string `json:"kinds"`
	// Limits holds the limits of package send by the names of their constants, such as "2,000".
	// operations.json refers to them as {limit:MaxText}.
	Limits map[string]string `json:"limits"`
}

// Comment is the comment of one operation.
type Comment struct {
	// Package is the package that declares the method.
	Package string `json:"package"`
	// Summary is the first sentence of the description.
	Summary string `json:"summary"`
	// Description holds the paragraphs of the comment.
	Description []string `json:"description"`
	// Errors are the errors of this operation.
	Errors []Failure `json:"errors"`
	// Parameters and Result are the meanings of fields by path, such as "option.new".
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

// withMeanings returns fields with the meanings from comments. meanings has paths as keys; prefix is
// the path of the object that has the fields.
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

// withLimits returns fields with names of limits, such as {limit:MaxText}, replaced by numbers in
// their meanings.
func withLimits(fields []Field, limits map[string]string) []Field {
	told := slices.Clone(fields)
	for i := range told {
		for name, most := range limits {
			told[i].Meaning = strings.ReplaceAll(told[i].Meaning, "{limit:"+name+"}", most)
		}
	}
	return told
}
