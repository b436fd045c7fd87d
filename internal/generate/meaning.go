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

// reading reads the comments of the fields of one struct, and of those within them.
type reading struct {
	source *goPackage
	// meanings are what the comments say, by the paths of the fields in JSON.
	meanings map[string]string
	// names are the paths in JSON, as the reference shows them, by those in Go.
	names map[string]string
	// check compares a field with what the table says of it.
	check    func(source *goPackage, given operations.Field, f field) error
	problems []error
}

// place is where an object stands: what comes before the names of its fields.
type place struct{ inGo, inJSON string }

func newReading(source *goPackage, check func(source *goPackage, given operations.Field, f field) error) *reading {
	return &reading{source: source, meanings: map[string]string{}, names: map[string]string{}, check: check}
}

// read reads the comments of the fields that the table lists. What Go has no field for, as where
// a platform gives the result, has its meaning in the table, and nothing has it in both.
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
			r.problem(at.inJSON+given.Name, errors.New("there is no field for it, and the table has no meaning"))
		}
		r.read(given.Fields, nil, w, place{inJSON: at.inJSON + given.Name + "."})
	}
}

// readField reads the comment of a field, and those of the fields within it that the table lists.
func (r *reading) readField(given operations.Field, f field, w words, at place) {
	path := at.inJSON + given.Name
	if f.comment == "" {
		r.problem(path, fmt.Errorf("the field %s has no comment, and none names it", f.name))
	}
	if given.Meaning != "" {
		r.problem(path, fmt.Errorf("the table has a meaning, and the field %s a comment: leave it to the comment", f.name))
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

// problem notes what is wrong at a path, if anything is.
func (r *reading) problem(path string, err error) {
	if err != nil {
		r.problems = append(r.problems, fmt.Errorf("%s: %w", path, err))
	}
}

// said are the sentences of a comment that the reference shows in the column of the need.
var said = regexp.MustCompile(` ?\b(?:Required(?: without \w+| with \w+)?|One of (?:them|both) is required)\.`)

// meaningOf returns what the comment of a field says, but for what the reference shows as the
// default and the need.
func meaningOf(comment string, given operations.Field, w words) string {
	text := w.translate(said.ReplaceAllString(oneLine(strings.ReplaceAll(comment, "\n  - ", "<br>")), ""))
	bare := strings.Trim(string(given.Default), `"`)
	for _, form := range []string{bare, string(given.Default), code(bare)} {
		text = strings.ReplaceAll(text, " The default is "+form+".", "")
	}
	return capital(text)
}

// commentsOf reads what the comments of all operations and records say.
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

// in says of which operation or record the problems are.
func in(name string, problems []error) []error {
	named := make([]error, 0, len(problems))
	for _, problem := range problems {
		named = append(named, fmt.Errorf("%s: %w", name, problem))
	}
	return named
}

// contractOf reads the comments of an operation, of its params and of its result.
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

// recordOf reads the comments of the struct that has the fields of a kind of values, if there is
// one.
func recordOf(packages map[string]*goPackage, kind operations.Kind) *reading {
	pkg, typeName := structOf(kind.Name)
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
		r.problem("", fmt.Errorf("the table has open %t, the struct %s says %t", kind.Open, typeName, open))
	}
	r.read(kind.Fields, fields, wordsOf(source), place{})
	return r
}

// structOf returns the package and the name of the struct of a kind of values, "" where it has
// none.
func structOf(kind string) (pkg, typeName string) {
	switch kind {
	case "messageEvent":
		return "send", "MessageEvent"
	case "channel":
		return "channel", "Channel"
	case "member":
		return "member", "Member"
	case "agenda":
		return "agenda", "Agenda"
	case "broadcastGroup":
		return "channel", "BroadcastGroupMember"
	case "target":
		return "livechat", "Target"
	case "newTarget":
		return "livechat", "NewTarget"
	case "assignment":
		return "livechat", "Assignment"
	case "group":
		return "livechat", "Group"
	case "admin":
		return "livechat", "Admin"
	case "channelReference":
		return "channel", "Reference"
	case "nodeSendResult":
		return contextPackage, "NodeSendResult"
	default:
		return "", ""
	}
}
