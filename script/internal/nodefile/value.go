package nodefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Place is where something stands in a file.
type Place struct {
	// File is the path in the folder. Line and Column begin with 1; they are 0 where the file as a whole is meant.
	File         string
	Line, Column int
}

// String returns the place as editors read it, such as "nodes.json:4:7".
func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// value is a value of a JSON file.
type value struct {
	place Place
	// raw is its text.
	raw []byte
	// scalar is what a string, a number, a boolean or null is. members are there for an object, items for an
	// array.
	scalar   any
	members  []member
	items    []value
	isObject bool
	isArray  bool
}

// member is a field of an object.
type member struct {
	name  string
	place Place
	value value
}

// kind names what a value is.
func (v value) kind() string {
	switch v.scalar.(type) {
	case string:
		return "a text"
	case bool:
		return "a boolean"
	case json.Number:
		return "a number"
	}
	switch {
	case v.isObject:
		return "an object"
	case v.isArray:
		return "an array"
	default:
		return "null"
	}
}

// deepest is how many objects and arrays may stand in each other.
const deepest = 100

// parser reads a JSON file token by token, so that it knows where each one stands.
type parser struct {
	file    string
	text    []byte
	decoder *json.Decoder
	depth   int
}

// parse returns the value of a file.
func parse(file string, text []byte) (value, *Problem) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	p := &parser{file: file, text: text, decoder: json.NewDecoder(bytes.NewReader(text))}
	p.decoder.UseNumber()
	read, err := p.value()
	if err == nil {
		if _, err = p.decoder.Token(); err == nil {
			err = errors.New("there is more behind the end of the object: a file holds one")
		} else if errors.Is(err, io.EOF) {
			return read, nil
		}
	}
	return value{}, p.problem(err)
}

// problem tells what is no JSON.
func (p *parser) problem(err error) *Problem {
	at := p.place(p.decoder.InputOffset())
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = p.place(min(syntax.Offset, int64(len(p.text))) - 1)
	}
	what := strings.TrimPrefix(err.Error(), "json: ")
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		at, what = p.place(int64(len(p.text))), "the file ends too early: a bracket or a quote is open"
	}
	return &Problem{Place: at, Text: "is no JSON: " + what}
}

// next returns the next token and where it begins.
func (p *parser) next() (json.Token, int64, error) {
	begin := p.decoder.InputOffset()
	token, err := p.decoder.Token()
	for begin < int64(len(p.text)) && strings.IndexByte(" \t\r\n,:", p.text[begin]) >= 0 {
		begin++
	}
	return token, begin, err
}

// value reads one value.
func (p *parser) value() (value, error) {
	token, begin, err := p.next()
	if err != nil {
		return value{}, err
	}
	read := value{place: p.place(begin)}
	switch token {
	case json.Delim('{'):
		read.isObject = true
		err = p.nested(func() error { return p.member(&read) })
	case json.Delim('['):
		read.isArray = true
		err = p.nested(func() error { return p.item(&read) })
	default:
		read.scalar = token
	}
	read.raw = p.text[begin:p.decoder.InputOffset()]
	return read, err
}

// nested reads what is in an object or an array, one by one, and its end.
func (p *parser) nested(one func() error) error {
	p.depth++
	if p.depth > deepest {
		return fmt.Errorf("more than %d objects and arrays stand in each other", deepest)
	}
	defer func() { p.depth-- }()
	for p.decoder.More() {
		if err := one(); err != nil {
			return err
		}
	}
	_, err := p.decoder.Token()
	return err
}

// member reads a field of an object.
func (p *parser) member(into *value) error {
	name, begin, err := p.next()
	if err != nil {
		return err
	}
	read, err := p.value()
	key, _ := name.(string) // The decoder sees to it.
	into.members = append(into.members, member{name: key, place: p.place(begin), value: read})
	return err
}

// item reads an element of an array.
func (p *parser) item(into *value) error {
	read, err := p.value()
	into.items = append(into.items, read)
	return err
}

// place returns the place of an offset. Columns count bytes, as compilers do.
func (p *parser) place(offset int64) Place {
	before := p.text[:max(0, min(offset, int64(len(p.text))))]
	line := bytes.Count(before, []byte("\n")) + 1
	return Place{File: p.file, Line: line, Column: len(before) - bytes.LastIndexByte(before, '\n')}
}
