package main

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/internal/operations"
)

// reading collects the comments of a struct's fields, including fields of nested structs.
type reading struct {
	source *goPackage
	// meanings holds the comments by JSON path.
	meanings map[string]string
	// names maps Go paths to JSON paths in the reference.
	names map[string]string
	// check compares a field with its row in the table.
	check    func(source *goPackage, given operations.Field, f field) error
	problems []error
}

// place is the prefix of an object's field names.
type place struct{ inGo, inJSON string }

func newReading(source *goPackage, check func(source *goPackage, given operations.Field, f field) error) *reading {
	return &reading{source: source, meanings: map[string]string{}, names: map[string]string{}, check: check}
}

// read reads the comments of the fields in the table. A row without a Go field, for example in a platform's
// result, has its meaning in the table. A meaning in both places is an error.
func (r *reading) read(listed []operations.Field, fields []field, w words, at place) {
	for _, f := range fields {
		r.names[at.inGo+f.name] = code(at.inJSON + f.json)
		if !slices.ContainsFunc(listed, func(given operations.Field) bool { return given.Name == f.json }) {
			r.problem(at.inJSON+f.json, errors.New("the table lacks the field "+f.name))
		}
	}
	for _, given := range listed {
		f, isField := named(fields, given.Name)
		if isField {
			r.readField(given, f, w.with(fields), at)
			continue
		}
		if given.Meaning == "" {
			r.problem(at.inJSON+given.Name, errors.New("there is no Go field, and the table gives no meaning: add a meaning to the table"))
		}
		r.read(given.Fields, nil, w, place{inJSON: at.inJSON + given.Name + "."})
	}
}

// readField reads the comments of a field and of its nested fields in the table.
func (r *reading) readField(given operations.Field, f field, w words, at place) {
	path := at.inJSON + given.Name
	if f.comment == "" {
		r.problem(path, fmt.Errorf("the field %s has no comment, and none names it", f.name))
	}
	if given.Meaning != "" {
		r.problem(path, fmt.Errorf("the table has a meaning, and the field %s a comment: remove the meaning", f.name))
	}
	r.problem(path, r.check(r.source, given, f))
	r.meanings[path] = meaningOf(f.comment, given, w)
	if len(given.Fields) == 0 {
		return
	}
	within, err := r.source.fieldsOf(elementOf(f.declared))
	r.problem(path, err)
	r.read(given.Fields, within, w, place{inGo: at.inGo + f.name + ".", inJSON: path + "."})
}

// problem records err, if not nil, with its path.
func (r *reading) problem(path string, err error) {
	if err != nil {
		r.problems = append(r.problems, fmt.Errorf("%s: %w", path, err))
	}
}

// said matches sentences about the need of a parameter, which the reference shows in a separate column.
var said = regexp.MustCompile(` ?\b(?:Required(?: without \w+| with \w+)?|One of (?:them|both) is required)\.`)

// meaningOf returns a field's comment without the default or the need, which the reference shows separately.
func meaningOf(comment string, given operations.Field, w words) string {
	text := w.translate(said.ReplaceAllString(oneLine(strings.ReplaceAll(comment, "\n  - ", "<br>")), ""))
	bare := strings.Trim(string(given.Default), `"`)
	for _, form := range []string{bare, string(given.Default), code(bare)} {
		text = strings.ReplaceAll(text, " The default is "+form+".", "")
	}
	return capital(text)
}

// commentsOf returns the comments of all operations and records.
func commentsOf(packages map[string]*goPackage, methods []method) (operations.Comments, error) {
	comments := operations.Comments{
		Operations: map[string]operations.Comment{}, Kinds: map[string]map[string]string{}, Limits: limitsOf(packages["send"]),
	}
	var problems []error
	for _, m := range methods {
		read, found := contractOf(m)
		problems = append(problems, in(m.operation.Name, found)...)
		comments.Operations[m.operation.Name] = read
	}
	for _, kind := range operations.WrittenKinds() {
		record := recordOf(packages, kind)
		problems = append(problems, in(kind.Name, record.problems)...)
		if len(record.meanings) > 0 {
			comments.Kinds[kind.Name] = record.meanings
		}
	}
	return comments, errors.Join(problems...)
}

func limitsOf(send *goPackage) map[string]string {
	limits := map[string]string{}
	for name, value := range send.constants {
		if strings.HasPrefix(name, "Max") {
			limits[name] = literal(value)
		}
	}
	return limits
}

// in prefixes each problem with the name of an operation or record.
func in(name string, problems []error) []error {
	named := make([]error, 0, len(problems))
	for _, problem := range problems {
		named = append(named, fmt.Errorf("%s: %w", name, problem))
	}
	return named
}

// contractOf returns the comments of an operation, of its params and of its result.
func contractOf(m method) (operations.Comment, []error) {
	w := wordsOf(m.source)
	params, result := newReading(m.source, checkParameter), newReading(m.source, checkType)
	params.read(m.operation.Parameters, m.fields, w, place{})
	for _, response := range m.operation.Responses {
		if len(response.Fields) > 0 {
			result.read(response.Fields, m.results, w.with(m.fields), place{})
		}
	}
	maps.Copy(w.names, result.names)
	maps.Copy(w.names, params.names)
	read, problem := commentOf(m, w)
	read.Parameters, read.Result = params.meanings, result.meanings
	problems := slices.Concat(params.problems, in("result", result.problems))
	if problem != nil {
		problems = append(problems, problem)
	}
	return read, problems
}

// recordOf reads the comments of a kind's struct. If there is no struct, it only checks the table.
func recordOf(packages map[string]*goPackage, kind operations.Kind) *reading {
	pkg, typeName, _ := strings.Cut(structs[kind.Name], ".")
	source := packages[pkg]
	if source == nil {
		r := newReading(nil, checkType)
		r.read(kind.Fields, nil, words{}, place{})
		return r
	}
	r := newReading(source, checkType)
	fields, err := source.fieldsOf(typeName)
	r.problem("", err)
	if open := source.keepsUnknown(typeName); open != kind.Open {
		r.problem("", fmt.Errorf("open is %t in the table, but the struct %s keeps unknown fields: %t; make them agree",
			kind.Open, typeName, open))
	}
	r.read(kind.Fields, fields, wordsOf(source), place{})
	return r
}

// structs maps kinds to their structs.
var structs = map[string]string{
	"messageEvent":     "send.MessageEvent",
	"channel":          "channel.Channel",
	"member":           "member.Member",
	"agenda":           "agenda.Agenda",
	"broadcastGroup":   "channel.BroadcastGroupMember",
	"target":           "livechat.Target",
	"newTarget":        "livechat.NewTarget",
	"assignment":       "livechat.Assignment",
	"group":            "livechat.Group",
	"admin":            "livechat.Admin",
	"channelReference": "channel.Reference",
	"nodeSendResult":   contextPackage + ".NodeSendResult",
}
